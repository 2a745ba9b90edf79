"""Do functions as policies decide, at a small price, and are their slips errors that name the value?"""

from __future__ import annotations

import copy
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import SupportsIndex

import numpy as np
import pytest

import ssdlab
from ssdlab import Blocks, Level, Writes

MODELS = {
    "generic-client-hmb-tlc-1tb": 1024,
    "intel-ssd-730-480gb": 512,
    "kioxia-cm7-r-3840gb": 4096,
    "micron-7450-pro-960gb": 1024,
    "ocz-vertex-2-25nm-120gb": 128,
    "plextor-m5-pro-256gb": 256,
    "samsung-840-evo-120gb": 128,
    "samsung-840-pro-256gb": 256,
    "samsung-pm9a3-960gb": 1024,
    "sandisk-extreme-ii-480gb": 512,
}
"""Ten models of all kinds, and the scale at which each has about a gigabyte."""


def greedy(blocks: Blocks) -> SupportsIndex:
    return int(blocks.valid.argmin())


def fifo(blocks: Blocks) -> SupportsIndex:
    return np.argmax(blocks.age)


def small(policy: Callable[[Blocks], SupportsIndex] | None = None, **values: str) -> ssdlab.Drive:
    return ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", policy=policy, **values)


def random_pages(drive: ssdlab.Drive, count: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, drive.capacity_bytes // 4096, size=count) * 4096


def wear_in(drive: ssdlab.Drive, rounds: float = 1.0) -> tuple[object, ...]:
    """Fills a drive and overwrites it at random, 16 KiB at a time; returns all that is known of its state."""
    pieces = drive.capacity_bytes // 16384
    drive.submit("write", np.arange(pieces) * 16384, 16384)
    offsets = np.random.default_rng(7).integers(0, pieces, size=int(rounds * pieces)) * 16384
    ended = drive.submit("write", offsets, 16384)
    last = drive.drain()
    return (
        drive.telemetry(),
        drive.valid_pages().tobytes(),
        ended.done_ns.tobytes(),
        last.done_ns.tobytes(),
    )


@pytest.mark.parametrize(("model", "parts"), MODELS.items())
def test_greedy_in_python_gives_the_state_of_the_built_in_one(model: str, parts: int) -> None:
    def state(policy: ssdlab.Policy | None, built_in: str) -> tuple[object, ...]:
        return wear_in(ssdlab.Drive(model, scale=f"1/{parts}", policy=policy, gc__policy=built_in))

    expected = state(None, "greedy")
    assert state(greedy, "fifo") == expected
    assert expected[0]["gc_moved_pages"] > 0  # type: ignore[index]


def test_fifo_in_python_gives_the_state_of_the_built_in_one() -> None:
    assert wear_in(small(fifo)) == wear_in(small(gc__policy="fifo"))


def test_a_policy_of_ones_own_decides() -> None:
    def worst(blocks: Blocks) -> int:
        gains = np.flatnonzero(blocks.valid < blocks.pages)
        return int(gains[blocks.valid[gains].argmax()])

    good, bad = small(greedy), small(worst)
    wear_in(good, 0.5), wear_in(bad, 0.5)
    assert bad.waf() > 2 * good.waf() > 2


def test_a_run_follows_the_policy_and_says_so() -> None:
    test = {"duration": "6s", "steady_from": "3s"}
    plain = ssdlab.simulate(small(), **test)
    same = ssdlab.simulate(small(), policy=greedy, **test)
    assert same.series()["programmed_pages"].tolist() == plain.series()["programmed_pages"].tolist()
    assert "policy=greedy" in same.record["target"]["name"] and "policy" not in plain.record["target"]["name"]
    assert any("policy=greedy" in text for text in same.warnings)
    other = ssdlab.simulate(small(fifo), **test)
    assert other["waf_steady"] > plain["waf_steady"]


def raising(blocks: Blocks) -> int:
    raise LookupError("no idea")


SLIPS: list[tuple[Callable[[Blocks], object], type[Exception], str]] = [
    (raising, LookupError, "no idea"),
    (lambda blocks: len(blocks), ssdlab.UsageError, "expected an index from 0 to"),
    (lambda blocks: -1, ssdlab.UsageError, "returned -1; expected an index from 0"),
    (lambda blocks: None, ssdlab.UsageError, "returned None; expected"),
    (lambda blocks: 0.5, ssdlab.UsageError, "returned 0.5; expected"),
    (lambda blocks: blocks.valid.argmax(), ssdlab.UsageError, "in succession whose"),
]


@pytest.mark.parametrize(("policy", "kind", "words"), SLIPS, ids=range(len(SLIPS)))
def test_a_slip_of_a_policy_is_raised_by_the_call_that_runs_the_drive(
    policy: Callable[[Blocks], SupportsIndex], kind: type[Exception], words: str
) -> None:
    # A part of the drive stays free, so that there are superblocks that hold valid data only.
    drive = small(policy)
    with pytest.raises(kind, match=words):
        for seed in range(20):
            drive.submit("write", np.arange(0, drive.capacity_bytes // 2, 4096))
            drive.submit("write", random_pages(drive, 20_000, seed) // 8192 * 4096)
    # The drive is well: commands that were outstanding end, and others too.
    drive.drain()
    assert drive.outstanding == 0 and len(drive.submit("read", [0] * 100)) == 100 - drive.outstanding
    with pytest.raises(kind, match=words):
        ssdlab.simulate(small(policy), duration="20s", steady_from="3s")


def test_a_run_whose_policy_fails_is_kept_as_incomplete(tmp_path: object) -> None:
    with pytest.raises(LookupError) as slip:
        ssdlab.simulate(small(raising), library=str(tmp_path), duration="20s", steady_from="3s")
    assert any("what was measured is kept" in note for note in slip.value.__notes__)
    (kept,) = ssdlab.read_library(str(tmp_path))
    assert kept.status != "complete"


def test_a_policy_cannot_use_the_drive_that_asks_it() -> None:
    asked = []

    def curious(blocks: Blocks) -> int:
        asked.append(len(blocks))
        return int(drive.telemetry()["host_pages"])

    drive = small(curious)
    with pytest.raises(ssdlab.UsageError, match="cannot use the drive that asks it"):
        wear_in(drive)
    # Another drive, one with the same function too, is free.
    other = small()

    def consulting(blocks: Blocks) -> int:
        other.submit("write", [0])
        return int(blocks.valid.argmin())

    wear_in(small(consulting), 0.1)
    assert other.now_ns > 0


def test_copies_share_the_function_and_nothing_else() -> None:
    drive = small(greedy)
    wear_in(drive, 1.0)
    copies = [drive.clone(), copy.deepcopy(drive)]
    steady = drive.snapshot()
    work = random_pages(drive, 20_000, 3)
    states = set()
    for one in (drive, *copies):
        one.submit("write", work), one.drain()
        states.add((one.now_ns, one.valid_pages().tobytes()))
    drive.restore(steady)
    drive.submit("write", work), drive.drain()
    states.add((drive.now_ns, drive.valid_pages().tobytes()))
    assert len(states) == 1


def test_a_copy_has_the_history_that_its_functions_see() -> None:
    def by_interval(writes: Writes) -> np.ndarray:
        return (writes.interval > 0) & (writes.interval < 100_000)

    def pace(level: Level) -> float:
        return 8 - level.writable / level.pages if level.writable < 8 * level.pages else 0.25

    drive = with_handles(stream=by_interval, pace=pace)
    skewed_waf(drive)
    copies = [drive, drive.clone(), drive.clone()]
    drive.restore(copies[2].snapshot())
    assert len({skewed_waf(it) for it in copies}) == 1
    assert len({it.valid_pages().tobytes() for it in copies}) == 1


def test_an_error_of_one_copy_is_not_raised_by_another() -> None:
    fails = False

    def moody(blocks: Blocks) -> int:
        if fails:
            raise LookupError("moody")
        return int(blocks.valid.argmin())

    drive = small(moody)
    wear_in(drive, 1.0)
    other = drive.clone()
    fails = True
    with pytest.raises(LookupError):
        wear_in(drive, 1.0)
    fails = False
    wear_in(other, 1.0)


def test_a_secure_erase_keeps_the_policy() -> None:
    drive = small(fifo)
    wear_in(drive)
    drive.reset()
    again = small(gc__policy="fifo")
    wear_in(again)
    again.reset()
    assert wear_in(drive)[:2] == wear_in(again)[:2]


def test_drives_with_policies_work_side_by_side() -> None:
    states: list[object] = []
    drives = [small(greedy) for _ in range(3)]
    threads = [threading.Thread(target=lambda it=it: states.append(wear_in(it, 1.0))) for it in drives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(states) == 3 and all(state == states[0] for state in states)


def test_a_hundred_thousand_calls_of_functions_leave_no_references() -> None:
    calls = 0

    def choose(blocks: Blocks) -> int:
        nonlocal calls
        calls += 1
        return int(blocks.valid.argmin())

    def pace(level: Level) -> float:
        nonlocal calls
        calls += 1
        return 8 - level.writable / level.pages if level.writable < 8 * level.pages else 0.25

    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/1024", policy=choose, pace=pace)
    offsets = random_pages(drive, 50_000)

    def held(until: int) -> int:
        while calls < until:
            drive.submit("write", offsets)
        gc.collect()
        return sys.getallocatedblocks()

    before = held(10_000)
    assert held(110_000) - before < 500


def test_a_thousand_threads_leave_no_memory() -> None:
    drive = small(greedy)

    def held(threads: int) -> int:
        for _ in range(threads):
            thread = threading.Thread(target=lambda: drive.submit("write", [0, 4096]))
            thread.start()
            thread.join()
        gc.collect()
        return sys.getallocatedblocks()

    before = held(100)
    assert held(1000) - before < 500


def test_check_policy_names_what_breaks() -> None:
    assert ssdlab.check_policy(greedy) == []
    calls = 0

    def moody(blocks: Blocks) -> int:
        nonlocal calls
        calls += 1
        return calls % len(blocks) if calls % 7 == 0 else int(blocks.valid.argmin())

    (first, *_) = ssdlab.check_policy(moody)
    assert "not deterministic" in first
    (first, *_) = ssdlab.check_policy(raising)
    assert first == "a small drive: no idea"

    class Moody:
        calls = 0

        def __call__(self, blocks: Blocks) -> int:
            self.calls += 1
            return self.calls % len(blocks) if self.calls % 7 == 0 else int(blocks.valid.argmin())

    assert ssdlab.check_policy(Moody()) == []


def test_the_second_account_finds_lost_and_invented_pages() -> None:
    drive = small()
    pages = drive.capacity_bytes // 4096
    drive.submit("write", [0, 8192]), drive.drain()
    held = np.zeros(pages, dtype=np.uint8)
    held[[0, 2]] = 1
    assert drive.device.broken(held) is None
    held[5] = 1
    assert drive.device.broken(held) == "page 5 has lost its data"
    held[[5, 2]] = 0
    assert drive.device.broken(held) == "page 2 holds data that nobody wrote"


ENDLESS = """
import sys, numpy as np, ssdlab
def policy(blocks):
    print("asked", flush=True)
    while True:
        pass
drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", policy=policy)
if sys.argv[1] == "simulate":
    ssdlab.simulate(drive, duration="20s", steady_from="3s")
else:
    pages = drive.capacity_bytes // 4096
    drive.submit("write", np.random.default_rng(1).integers(0, pages, size=3 * pages) * 4096)
"""


def processor_s(pid: int) -> float:
    """Seconds of processor time that a living process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def children_s() -> float:
    """Seconds of processor time of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("way", ["submit", "simulate"])
def test_ctrl_c_ends_an_endless_policy_within_a_second(way: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, way], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None and child.stdout.readline() == "asked\n"
        before = children_s() + processor_s(child.pid)
        os.kill(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    # Processor time: an endless policy takes all that it gets, and other work of the machine changes nothing.
    assert children_s() - before < 1.0, "from Ctrl-C to the end of the process"
    assert "KeyboardInterrupt" in errors and child.returncode != 0


def with_handles(**functions: object) -> ssdlab.Drive:
    handles = {"interface__kind": "nvme", "interface__placement_handles": 2}
    return ssdlab.Drive(
        "samsung-840-pro-256gb",
        scale="1/256",
        gc__handle_isolation="persistent",
        **handles,
        **functions,  # type: ignore[arg-type]
    )


def skewed_waf(drive: ssdlab.Drive) -> float:
    """Write amplification when a tenth of the data gets nine tenths of the writes."""
    rng = np.random.default_rng(3)
    pieces = drive.capacity_bytes // 16384 * 9 // 10
    drive.submit("write", np.arange(pieces) * 16384, 16384)
    offsets = np.where(
        rng.random(3 * pieces) < 0.9,
        rng.integers(0, pieces // 10, size=3 * pieces),
        rng.integers(pieces // 10, pieces, size=3 * pieces),
    )
    drive.submit("write", offsets * 16384, 16384)
    return drive.waf()


def test_streams_by_history_keep_hot_data_apart() -> None:
    batches: list[int] = []

    def by_interval(writes: Writes) -> np.ndarray:
        batches.append(len(writes))
        assert writes.streams == 2 and len(writes.page) == len(writes.interval) == len(writes.stream)
        return (writes.interval > 0) & (writes.interval < 100_000)

    apart = with_handles(stream=by_interval)
    assert skewed_waf(apart) < 0.95 * skewed_waf(with_handles())
    assert set(batches) == {4096}


def test_slips_of_a_choice_of_streams_name_the_value() -> None:
    for answer, words in (
        (np.full(4096, 2), "chose stream 2; expected 0 to 1"),
        (np.full(4096, -1), "chose stream -1"),
        ([0, 1], "gave 2 streams; expected 4096"),
        (0.5, "array of float64"),
    ):
        with pytest.raises(ssdlab.UsageError, match=words):
            skewed_waf(with_handles(stream=lambda writes, answer=answer: answer))
    with pytest.raises(ssdlab.UsageError, match="placement_handles"):
        ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", stream=lambda writes: writes.stream).drain()
    with pytest.raises(ssdlab.UsageError, match="expected a function"):
        ssdlab.Drive("samsung-840-pro-256gb", policy="greedy")  # type: ignore[arg-type]


def test_a_pace_decides_when_data_moves() -> None:
    levels: list[Level] = []

    def eager(level: Level) -> float:
        levels.append(level)
        return 6.0

    drive = small()
    own = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", pace=eager)
    wear_in(drive), wear_in(own)
    assert own.telemetry()["gc_moved_pages"] > drive.telemetry()["gc_moved_pages"]
    assert all(level.victim_valid <= level.pages and level.writable > 0 for level in levels)
    for answer in (-1.0, float("nan"), 1e9, None, "much"):
        with pytest.raises(ssdlab.UsageError, match="the pace returned"):
            wear_in(ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", pace=lambda level, it=answer: it))
