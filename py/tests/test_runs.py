"""Does a run from Python give what the program gives, with every guard?"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import ssdlab
from ssdlab import _progress


def test_a_run_says_that_it_is_simulated_and_how_to_repeat_it(run: ssdlab.Run) -> None:
    assert run.status == "complete"
    assert "(simulated)" in run.target
    assert run.command.startswith("ssdlab run consistency 'sim:samsung-840-pro-256gb?scale=1/256'")
    assert "--set duration=6s" in run.command


def test_the_version_is_a_number_and_that_of_the_run(run: ssdlab.Run) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", ssdlab.__version__)
    assert run.record["tool_version"] == f"ssdlab {ssdlab.__version__}"


def test_the_same_seed_gives_the_same_figures(run: ssdlab.Run) -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")
    again = ssdlab.simulate(drive, "consistency", duration="6s", steady_from="3s")
    assert again.metrics == run.metrics
    other = ssdlab.simulate(drive, "consistency", duration="6s", steady_from="3s", seed=2)
    assert other.metrics != run.metrics


def test_values_of_numpy_and_of_time_make_the_same_run(run: ssdlab.Run) -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale=np.float32(1 / 256))
    times = {"duration": timedelta(seconds=6), "steady_from": np.timedelta64(3, "s")}
    again = ssdlab.simulate(drive, seed=np.uint8(1), settings=times)
    assert again.metrics == run.metrics


@pytest.mark.parametrize("frame", ["arrow", "polars", "pandas"])
def test_every_frame_holds_the_same_rows(run: ssdlab.Run, frame: str) -> None:
    for table in ("series", "latency"):
        mine = getattr(run, table)("numpy", phase="load")
        other = getattr(run, table)(frame, phase="load")
        for name in ("second", "duration_ns", "programmed_pages", "lower_ns", "count", "op"):
            if name not in mine:
                continue
            values = np.asarray(other[name].to_numpy())
            assert list(values) == list(mine[name]), name


def test_a_temporary_library_lives_as_long_as_its_run() -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")
    made = ssdlab.simulate(drive, duration="2s", steady_from="1s")
    path = made.path
    assert len(made.series(phase="load")["second"]) == 2
    del made
    assert not path.exists()


def test_a_library_lists_finds_and_compares_its_runs(library: Path) -> None:
    runs = ssdlab.read_library(library)
    assert len(runs) == 2 and not runs.unreadable
    assert runs.find("latest").id in {run.id for run in runs}
    assert runs.find(runs[0].id).metrics == runs[0].metrics
    assert [run.id for run in runs.where(label="two")] == [run.id for run in runs]
    table = runs.table("iops_steady_mean")
    assert table["iops_steady_mean"][1] > table["iops_steady_mean"][0]
    (comparison,) = ssdlab.compare(runs[1], [ssdlab.Run(runs[1].path)], threshold=0.05)
    assert not comparison.regression
    with pytest.raises(ssdlab.UsageError, match="different parts of the drive"):
        ssdlab.compare(runs[0], runs[1], threshold=0.05)
    with pytest.raises(ssdlab.UsageError, match="do not differ in it"):
        ssdlab.compare(runs[0], runs[0], across="spare")
    (comparison,) = ssdlab.compare(runs[0], runs[1], across="spare")
    assert [condition["label"] for condition in comparison.conditions] == ["span"]


def test_a_damaged_run_is_listed_with_its_fault(tmp_path: Path) -> None:
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")
    runs = ssdlab.read_library(tmp_path)
    assert len(runs) == 0 and "run.json" in runs.unreadable["damaged"]
    with pytest.raises(ssdlab.DeviceError):
        ssdlab.Run(tmp_path / "damaged")


def test_a_slower_drive_is_a_regression() -> None:
    def measured(time_ns: int) -> ssdlab.Run:
        drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", nand__program_ns=time_ns)
        return ssdlab.simulate(drive, duration="300s", steady_from="200s")

    (comparison,) = ssdlab.compare(measured(1_300_000), measured(2_600_000), threshold=0.05)
    assert comparison.regression
    assert comparison["iops_steady_mean"].outcome == "worse"


def test_nothing_is_erased_without_a_word_for_it(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious" * 1024 * 1024)
    before = precious.read_bytes()
    for erase in ([], [str(tmp_path / "other")], ["precious"]):
        with pytest.raises(ssdlab.RefusedError) as refused:
            ssdlab.run(
                "consistency", f"file:{precious}", erase=erase, library=tmp_path, progress=False
            )
        assert refused.value.exit_code == 3
        assert precious.read_bytes() == before
    assert list(tmp_path.iterdir()) == [precious]


def test_a_confirmed_file_is_tested(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(bytes(8 << 20))
    settings = {"duration": "1s", "steady_from": "0s"}
    done = ssdlab.run(
        "consistency",
        f"file:{target}",
        erase=[target],
        library=tmp_path / "library",
        progress=False,
        settings=settings,
    )
    assert done.status == "complete" and not done.simulated
    assert done.record["target"]["kind"] == "file"


def test_a_line_tells_how_far_a_run_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress.Line, "due", True)
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")
    ssdlab.simulate(drive, duration="4s", steady_from="2s", progress=True)
    begin, *lines, cleared, end = capsys.readouterr().err.split("\r")
    assert begin == end == "" and cleared.isspace()
    shown = [line.strip().removeprefix(f"consistency on {drive.target}: ") for line in lines]
    assert "load" in shown and re.fullmatch(r"load 4 s, [\d,]+ IOPS", shown[-1])


def test_events_reach_an_observer_and_its_exception_ends_the_run() -> None:
    seen: list[str] = []

    class Enough(Exception):
        pass

    def observe(event: str, members: dict[str, object]) -> None:
        seen.append(event)
        if event == "second" and seen.count("second") == 3:
            raise Enough

    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/64")
    with pytest.raises(Enough) as stopped:
        ssdlab.simulate(drive, duration="2000s", progress=observe)
    assert seen[:2] == ["started", "phase"]
    assert "what was measured is kept in" in stopped.value.__notes__[0]


def test_ctrl_c_ends_a_run_and_keeps_it(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import ssdlab
        print("ready", flush=True)
        drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/4")
        ssdlab.simulate(drive, duration="100000s", library={str(tmp_path)!r})
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    while not list(tmp_path.iterdir()):
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and "what was measured is kept in" in said
    (kept,) = ssdlab.read_library(tmp_path)
    assert kept.status == "interrupted"


def test_threads_simulate_side_by_side() -> None:
    outcomes: list[dict[str, float | None]] = []

    def work() -> None:
        drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")
        made = ssdlab.simulate(drive, duration="4s", steady_from="2s")
        outcomes.append(made.metrics)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 3 and outcomes[0] == outcomes[1] == outcomes[2]


def test_runs_and_comparisons_show_themselves_in_a_notebook(run: ssdlab.Run) -> None:
    html = run._repr_html_()
    assert f"{run['iops_steady_mean']:,.5g}" in html and "(simulated)" in html
    (comparison,) = ssdlab.compare(run, run, threshold=0.05)
    html = comparison._repr_html_()
    assert html.count("<tr>") == 1 + len(comparison.figures) and "<td>same</td>" in html
