"""Does a drive in a file go on as if it had never stopped, and is every other file refused?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ssdlab
from ssdlab import Blocks

MODELS = [
    ("samsung-840-pro-256gb", 256),  # a plain drive
    ("samsung-840-evo-120gb", 128),  # pSLC
    ("ocz-vertex-2-25nm-120gb", 128),  # compression
    ("micron-7450-pro-960gb", 1024),
]


def oldest(blocks: Blocks) -> int:
    return int(blocks.age.argmax())


def work(drive: ssdlab.Drive, seed: int) -> tuple[object, ...]:
    pages = drive.capacity_bytes // 16384
    offsets = np.random.default_rng(seed).integers(0, pages, size=pages) * 16384
    ended = drive.submit("write", offsets, 16384)
    last = drive.drain()
    return ended.number.tobytes(), ended.done_ns.tobytes(), last.done_ns.tobytes(), drive.telemetry(), drive.valid_pages().tobytes()


@pytest.mark.parametrize(("model", "parts"), MODELS)
def test_a_saved_drive_goes_on_where_it_stopped(model: str, parts: int, tmp_path: Path) -> None:
    drive = ssdlab.Drive(model, scale=f"1/{parts}", seed=3)
    work(drive, 1)
    drive.save(tmp_path / "worn.state")
    again = ssdlab.load(tmp_path / "worn.state")
    assert again.target == drive.target and again.now_ns == drive.now_ns
    assert work(again, 2) == work(drive, 2)


def test_functions_are_given_again(tmp_path: Path) -> None:
    def drive() -> ssdlab.Drive:
        return ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", policy=oldest)

    worn = drive()
    work(worn, 1)
    worn.save(tmp_path / "worn.state")
    with pytest.raises(ssdlab.UsageError, match="policy=oldest"):
        ssdlab.load(tmp_path / "worn.state")
    again = ssdlab.load(tmp_path / "worn.state", policy=oldest)
    assert work(again, 2) == work(worn, 2)


def test_a_busy_drive_a_taken_name_and_strange_files_are_refused(tmp_path: Path) -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512")
    drive.submit("write", [0])
    with pytest.raises(ssdlab.UsageError, match="drain"):
        drive.save(tmp_path / "busy.state")
    drive.drain()
    state = tmp_path / "a.state"
    drive.save(state)
    whole = state.read_bytes()
    with pytest.raises(ssdlab.UsageError, match="exists"):
        drive.save(state)
    assert state.read_bytes() == whole and sorted(tmp_path.iterdir()) == [state]
    broken = tmp_path / "broken.state"
    for bytes_, words in (
        (b"nothing like it", "no saved state"),
        (whole[:-100], "cut off"),
        (whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:], "checksum"),
    ):
        broken.write_bytes(bytes_)
        with pytest.raises(ssdlab.UsageError, match=words):
            ssdlab.load(broken)
    with pytest.raises(ssdlab.DeviceError, match="nowhere"):
        ssdlab.load(tmp_path / "nowhere")
    with pytest.raises(ssdlab.UsageError, match="another drive"):
        ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", seed=4).device.load(state)
