"""Is a sweep the same table on threads and in processes, also after a worker's death?"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssdlab
from ssdlab import _native, _progress
from ssdlab._sweep import _work

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


def test_values_of_numpy_and_of_time_stand_in_a_sweep() -> None:
    plain = {"points": 3, "fixed": {"set.duration": "90s", "scale": "1/512"}, "vary": {"seed": [1, 2, 3]}}
    fixed = {"set.duration": timedelta(minutes=1.5), "scale": Fraction(1, 512)}
    for seeds in (np.linspace(1, 3, 3).astype(int), np.arange(1, 4, dtype=np.uint8), range(1, 4)):
        given = {"points": np.int64(3), "fixed": fixed, "vary": {"seed": seeds}}
        assert ssdlab._sweep.spec_text(given) == ssdlab._sweep.spec_text(plain)
    times = {"vary": {"nand.program_ns": [1_000_000, 2_000_000], "set.duration": ["1s", "2s"]}}
    milliseconds, seconds = np.arange(1, 3).astype("timedelta64[ms]"), [timedelta(seconds=1), timedelta(seconds=2)]
    given = {"vary": {"nand.program_ns": milliseconds, "set.duration": seconds}}
    assert ssdlab._sweep.spec_text(given) == ssdlab._sweep.spec_text(times)


def test_a_row_is_the_run_of_its_request(tmp_path: Path) -> None:
    row = ssdlab.sweep(SPEC, tmp_path).frame("polars").row(5, named=True)
    values = {
        "gc.policy": row["vary.gc.policy"],
        "nand.program_ns": row["vary.nand.program_ns"],
    }
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", **values)
    run = ssdlab.simulate(drive, duration="4s", steady_from="2s", seed=row["seed"])
    assert run["waf_steady"] == row["waf_steady"]


GRID = {
    "repeat": 2,
    "metrics": ["waf_steady"],
    "fixed": SPEC["fixed"],
    "vary": {"spare": ["40%", "7%", "10%"], "nand.program_ns": [3_000_000, 1_000_000]},
}


def test_a_grid_has_its_values_as_dimensions_of_xarray(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    swept = ssdlab.sweep(GRID, tmp_path)
    grid, rows = swept.to_xarray(), swept.frame("polars")
    assert dict(grid.sizes) == {"nand.program_ns": 2, "spare": 3, "repeat": 2}
    assert grid["spare"].values.tolist() == ["40%", "7%", "10%"], "the order is that of the sweep"
    assert grid["nand.program_ns"].values.tolist() == [3_000_000, 1_000_000]
    for row in rows.iter_rows(named=True):
        runs = grid.sel({"spare": row["vary.spare"], "nand.program_ns": int(row["vary.nand.program_ns"])})
        assert runs["waf_steady"].values[row["seed"] - 1] == row["waf_steady"]
    assert grid["waf_steady"].attrs == {"units": "ratio", "long_name": "Write amplification, steady state"}


def test_points_of_another_design_lie_in_a_row(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    points, rows = (swept := ssdlab.sweep({**SPEC, "points": 4}, tmp_path)).to_xarray(), swept.frame("polars")
    assert dict(points.sizes) == {"point": 4}
    for name in ("seed", "gc.policy"):
        assert [str(it) for it in points[name].values] == rows[f"vary.{name}"].to_list()
    assert points["waf_steady"].values.tolist() == rows["waf_steady"].to_list()


def test_a_run_without_figures_is_a_gap_with_its_error(tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    spec = {**GRID, "repeat": 1, "vary": {"gc.free_low": [3, 5]}}
    grid = ssdlab.sweep(spec, tmp_path).to_xarray()
    assert np.isnan(grid["waf_steady"]).values.tolist() == [False, True]
    assert grid["error"].values[0] == "" and "free_high" in grid["error"].values[1]


def test_a_dataset_names_the_package_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ssdlab.UnsupportedError, match=r"pip install 'ssdlab\[xarray\]'"):
        ssdlab.Sweep(tmp_path / "sweep.parquet").to_xarray()


def test_a_line_tells_how_far_a_sweep_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress.Line, "due", True)
    ssdlab.sweep({**SPEC, "points": 3}, tmp_path, jobs=1, progress=True)
    begin, *lines, cleared, end = capsys.readouterr().err.split("\r")
    assert begin == end == "" and cleared.isspace()
    shown = [re.sub(r"\d:\d\d:\d\d left *", "T left", line) for line in lines]
    assert shown == ["sweep: 0 of 3 runs", *(f"sweep: {done} of 3 runs, T left" for done in (1, 2, 3))]
    ssdlab.sweep({**SPEC, "points": 3}, tmp_path, progress=True)
    assert capsys.readouterr().err.startswith("\rsweep: 3 of 3 runs\r")


class _Slots:
    """Workers of which the oldest batch ends first; their memory holds two tasks, or less than one."""

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self.most_at_a_time = 0

    def count(self) -> int:
        return 4

    def memory_bytes(self) -> float:
        return self._memory_bytes

    def submit(self, batch: _work.Batch) -> str:
        assert batch.memory_bytes == TASK_BYTES
        (task,) = batch.tasks
        return task

    def wait(self, running: list[str]) -> tuple[list[_work.Done], list[str]]:
        self.most_at_a_time = max(self.most_at_a_time, len(running))
        number = json.loads(running[0])["number"]
        outcome = json.dumps({"number": number, "error": None, "metrics": {}})
        return [_work.Done([outcome], [], 0.1)], running[1:]


TASK_BYTES = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512").description["memory_bytes"]


@pytest.mark.parametrize(("memory_bytes", "at_a_time"), [(2 * TASK_BYTES, 2), (1, 1), (1 << 50, 8)])
def test_no_more_drives_side_by_side_than_fit_into_the_memory(
    memory_bytes: int, at_a_time: int, tmp_path: Path
) -> None:
    book = _native.Book(tmp_path, ssdlab._sweep.spec_text(SPEC))
    workers = _Slots(memory_bytes)
    _work.carry_out_all(book, workers, 1, lambda _: None)
    assert not book.pending() and workers.most_at_a_time == at_a_time


def test_a_drive_that_does_not_exist_hides_no_other_of_its_size(tmp_path: Path) -> None:
    vary = {"gc.policy": ["none-such", "greedy"]}
    spec = {"design": "grid", "fixed": SPEC["fixed"], "vary": vary}
    book = _native.Book(tmp_path, ssdlab._sweep.spec_text(spec))
    assert [book.memory_bytes([number]) for number in (0, 1)] == [0, TASK_BYTES]
    assert book.memory_bytes([0, 1]) == TASK_BYTES


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


def test_a_metric_that_no_run_has_is_refused_with_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match="no metric `iops_stedy_mean`; close to it: .*iops_steady_mean"):
        ssdlab.sweep({**SPEC, "metrics": ["iops_stedy_mean"]}, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_faulty_task_or_outcome_is_refused(tmp_path: Path) -> None:
    for text in ("", "{}", "[" * 5000):
        with pytest.raises(ssdlab.UsageError):
            _native.carry_out_task(text, None)
    book = _native.Book(tmp_path, ssdlab._sweep.spec_text(SPEC))
    for text in ("", "{}", '{"number": 99, "error": null, "metrics": {}}'):
        with pytest.raises(ssdlab.UsageError):
            book.note(text)


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    """A file system of a local server of the protocol, with the bucket `lab`."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    fs = pytest.importorskip("pyarrow.fs")
    server.start()
    host, port = server.get_host_and_port()
    made = fs.S3FileSystem(
        access_key="any",
        secret_key="any",
        region="eu-west-1",
        scheme="http",
        endpoint_override=f"{host}:{port}",
        allow_bucket_creation=True,
        # The server of the tests does not complete multipart uploads as this client expects.
        allow_delayed_open=True,
    )
    made.create_dir("lab")
    yield made
    server.stop()


def test_a_sweep_on_s3_goes_on_where_it_was_cut_off(table: bytes, s3: Any) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, of: int) -> None:
        if done == 4:
            raise Enough

    with pytest.raises(Enough):
        ssdlab.sweep(SPEC, "lab/one", filesystem=s3, jobs=1, progress=stop)
    told: list[int] = []
    swept = ssdlab.sweep(
        SPEC, "lab/one", filesystem=s3, progress=lambda done, _: told.append(done)
    )
    assert told[0] >= 5, "the outcomes of the first call are known"
    with s3.open_input_file("lab/one/sweep.parquet") as file:
        assert file.read() == table
    assert len(swept.frame("polars")) == len(swept.frame("arrow")) == 12
    with pytest.raises(ssdlab.UsageError, match="another sweep"):
        ssdlab.sweep({**SPEC, "seed": 2}, "lab/one", filesystem=s3)


def test_kept_runs_go_to_s3_too(s3: Any, tmp_path: Path) -> None:
    from pyarrow.fs import LocalFileSystem, copy_files

    spec = {**SPEC, "points": 2, "keep_runs": True}
    ssdlab.sweep(spec, "lab/runs", filesystem=s3)
    copy_files("lab/runs/runs", str(tmp_path), s3, LocalFileSystem())
    runs = ssdlab.read_library(tmp_path)
    assert len(runs) == 2 and {run.status for run in runs} == {"complete"}


def test_a_uri_names_its_file_system(table: bytes, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    swept = ssdlab.sweep(SPEC, f"file://{tmp_path}/out", executor="processes", jobs=2)
    assert (tmp_path / "out" / "sweep.parquet").read_bytes() == table
    assert swept.frame("pandas")["task"].to_list() == list(range(12))
    for output in ("nowhere://lab/one", "s3://"):
        with pytest.raises(ssdlab.UsageError, match="output"):
            ssdlab.sweep(SPEC, output)
    (tmp_path / "foreign" / "outcomes").mkdir(parents=True)
    (tmp_path / "foreign" / "outcomes" / "of-the-user.jsonl").write_text("{}")
    with pytest.raises(ssdlab.UsageError, match="belongs to no sweep"):
        ssdlab.sweep(SPEC, f"file://{tmp_path}/foreign")


def test_a_bucket_that_does_not_exist_is_named(s3: Any) -> None:
    host = s3.__reduce__()[1][0]["endpoint_override"]
    uri = f"s3://any:any@lab/of-uri?scheme=http&endpoint_override={host}&allow_delayed_open=true"
    spec = {**SPEC, "points": 1}
    assert len(ssdlab.sweep(spec, uri).frame()) == 1
    with pytest.raises(ssdlab.DeviceError, match="no-such-bucket"):
        ssdlab.sweep(spec, uri.replace("@lab", "@no-such-bucket"))
