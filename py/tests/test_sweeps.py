"""Is a sweep the same table on threads, in processes and on Ray, also after a worker's death?"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab import _native

SPEC: dict[str, Any] = {
    "design": "lhs",
    "points": 12,
    "metrics": ["iops_steady_mean", "waf_steady"],
    "fixed": {
        "drive": "samsung-840-pro-256gb",
        "scale": "1/512",
        "set.duration": "4s",
        "set.steady_from": "2s",
    },
    "vary": {
        "gc.policy": ["greedy", "fifo"],
        "nand.program_ns": {"from": 1_000_000, "to": 3_000_000},
        "seed": {"from": 1, "to": 9},
    },
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table that threads make."""
    return ssdlab.sweep(SPEC, tmp_path_factory.mktemp("threads")).dataset.read_bytes()


def test_a_table_has_a_row_for_each_run(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    swept = ssdlab.sweep(SPEC, tmp_path, progress=lambda done, of: told.append((done, of)))
    rows = swept.frame("polars")
    assert rows["task"].to_list() == list(range(12)) and told[-1] == (12, 12)
    assert rows["error"].is_null().all() and (rows["waf_steady"] >= 1).all()
    assert sorted(rows["vary.gc.policy"].to_list()) == ["fifo"] * 6 + ["greedy"] * 6
    slow, quick = rows.sort("vary.nand.program_ns")["iops_steady_mean"][[11, 0]]
    assert slow < quick
    assert swept.frame("arrow").num_rows == len(swept.frame("pandas")) == 12


def test_a_row_is_the_run_of_its_request(tmp_path: Path) -> None:
    row = ssdlab.sweep(SPEC, tmp_path).frame("polars").row(5, named=True)
    values = {
        "gc.policy": row["vary.gc.policy"],
        "nand.program_ns": row["vary.nand.program_ns"],
    }
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", **values)
    run = ssdlab.simulate(drive, duration="4s", steady_from="2s", seed=row["seed"])
    assert run["waf_steady"] == row["waf_steady"]


def test_processes_make_the_same_table_although_one_is_killed(table: bytes, tmp_path: Path) -> None:
    def kill_one() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            log = tmp_path / "outcomes.jsonl"
            if log.exists() and log.read_text().count("\n") >= 2:
                workers = _children()
                if workers:
                    os.kill(workers[0], signal.SIGKILL)
                    killed.append(workers[0])
                    return
            time.sleep(0.01)

    killed: list[int] = []
    killer = threading.Thread(target=kill_one)
    killer.start()
    swept = ssdlab.sweep(SPEC, tmp_path, executor="processes", jobs=2)
    killer.join()
    assert killed and swept.dataset.read_bytes() == table


def _children() -> list[int]:
    """The worker processes of this one."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (entry / "cmdline").read_bytes()
        except (OSError, IndexError, ValueError):
            continue
        if parent == os.getpid() and b"spawn_main" in words:
            found.append(int(entry.name))
    return found


def test_a_sweep_goes_on_where_it_was_cut_off(table: bytes, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, of: int) -> None:
        if done == 3:
            raise Enough

    with pytest.raises(Enough):
        ssdlab.sweep(SPEC, tmp_path, jobs=1, progress=stop)
    noted = (tmp_path / "outcomes.jsonl").read_text().count("\n")
    assert 3 <= noted < 12
    assert ssdlab.sweep(SPEC, tmp_path).dataset.read_bytes() == table


def test_kept_runs_are_a_library(tmp_path: Path) -> None:
    spec = {**SPEC, "points": 2, "keep_runs": True}
    ssdlab.sweep(spec, tmp_path)
    assert len(ssdlab.read_library(tmp_path / "runs")) == 2


@pytest.mark.parametrize(
    "spec",
    [
        "no-such-file.toml",
        "\n",
        "[vary]\n",
        {},
        {"vary": {"spare": [object()]}},
        {"vary": {"spare": ["10%"]}},
        {"fixed": {"drive": "/dev/sda"}, "vary": {"spare": ["10%"]}},
        {"fixed": {"drive": "a&b"}, "vary": {"spare": ["10%"]}},
        {"fixed": {"drive": "no-such-drive"}, "vary": {"spare": ["10%"]}},
    ],
)
def test_a_faulty_sweep_is_refused_before_a_run(spec: Any, tmp_path: Path) -> None:
    with pytest.raises(ssdlab.UsageError):
        ssdlab.sweep(spec, tmp_path / "out")


def test_a_faulty_task_or_outcome_is_refused(tmp_path: Path) -> None:
    for text in ("", "{}", "[" * 5000):
        with pytest.raises(ssdlab.UsageError):
            _native.carry_out_task(text, None)
    book = _native.Book(tmp_path, ssdlab._sweep.spec_text(SPEC))
    for text in ("", "{}", '{"number": 99, "error": null, "metrics": {}}'):
        with pytest.raises(ssdlab.UsageError):
            book.note(text)


@pytest.mark.ray
def test_ray_makes_the_same_table(table: bytes, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    swept = ssdlab.sweep(SPEC, tmp_path, executor="ray", jobs=2, batch=3)
    assert swept.dataset.read_bytes() == table
