"""Is a sweep on a Ray cluster of two nodes the same table, also after a worker's death?

`pytest tests/test_ray.py -m ray` runs the 200 points and the growing cluster, which CI leaves out.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab import _native, lab
from ssdlab._sweep import _work

ray = pytest.importorskip("ray")

SPEC: dict[str, Any] = {
    "design": "lhs",
    "points": 8,
    "fixed": {
        "drive": "samsung-840-pro-256gb",
        "scale": "1/1024",
        "set.duration": "1s",
        "set.steady_from": "0s",
    },
    "vary": {
        "gc.policy": ["greedy", "fifo"],
        "nand.program_ns": {"from": 1_000_000, "to": 3_000_000},
        "seed": {"from": 1, "to": 90_000},
    },
}


LAB_RUN = {"duration": "1s", "steady_from": "0s"}


def _table(spec: dict[str, Any], output: Path, **how: Any) -> bytes:
    swept = ssdlab.sweep(spec, output, **how)
    assert swept.frame("arrow")["error"].null_count == spec["points"]
    return swept.dataset.read_bytes()


def _busy_workers() -> list[int]:
    """The worker processes of Ray that carry out a task."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if (entry / "cmdline").read_bytes().startswith(b"ray::carry_out_apart"):
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return found


class _Killer(threading.Thread):
    """Kills a busy worker of Ray once so many outcomes are noted."""

    def __init__(self, output: Path, after: int) -> None:
        super().__init__()
        self._log, self._after = output / "outcomes.jsonl", after
        self.at: int | None = None
        """Outcomes that were noted at the kill, or `None` if nothing was killed."""

    def run(self) -> None:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline and self.at is None:
            noted = self._log.read_text().count("\n") if self._log.exists() else 0
            if noted >= self._after:
                for worker in _busy_workers()[:1]:
                    os.kill(worker, signal.SIGKILL)
                    self.at = noted
            time.sleep(0.01)


@pytest.mark.ray
def test_a_node_that_joins_a_sweep_shortens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work sleeps: two nodes of one CPU each on one machine show the dispatch, not its cores."""
    from ray.cluster_utils import Cluster

    assert not ray.is_initialized(), "this test comes first: its cluster is its own"
    monkeypatch.setenv("RAY_worker_niceness", "0")
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    ray.init(address=nodes.address, log_to_driver=False)
    try:
        _warm()
        alone = _slept(tmp_path / "alone")
        nodes.add_node(num_cpus=1)
        nodes.wait_for_nodes()
        _warm()
        together = _slept(tmp_path / "together")
    finally:
        ray.shutdown()
        nodes.shutdown()
    assert together < 0.75 * alone, (alone, together)


def test_a_drive_that_no_node_can_hold_is_refused(cluster: Any) -> None:
    from ssdlab._sweep import _on_ray

    nodes = _on_ray.Nodes(ray, None, False)
    with pytest.raises(ssdlab.UnsupportedError, match="largest node of the cluster") as refused:
        nodes.submit(_work.Batch([], 1 << 60))
    assert refused.value.reason == "memory"


def test_ray_makes_the_same_table_and_kept_runs_travel_to_the_output(
    cluster: Any, tmp_path: Path
) -> None:
    spec = {**SPEC, "keep_runs": True}
    table = _table(spec, tmp_path / "threads")
    assert _table(spec, tmp_path / "ray", executor="ray") == table
    runs = ssdlab.read_library(tmp_path / "ray" / "runs")
    assert len(runs) == 8 and not runs.unreadable
    assert {run.status for run in runs} == {"complete"}


def test_an_adaptive_sweep_is_the_same_on_ray_and_goes_on_where_it_stopped(
    cluster: Any, tmp_path: Path
) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, of: int) -> None:
        assert of == 10
        if done >= 5:
            raise Enough

    spec = {**SPEC, "design": "adaptive", "goal": "iops_mean", "points": 10, "round": 4}
    table = _table(spec, tmp_path / "threads")
    with pytest.raises(Enough):
        ssdlab.sweep(spec, tmp_path / "ray", executor="ray", batch=1, progress=stop)
    assert _table(spec, tmp_path / "ray", executor="ray") == table


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(ssdlab.UsageError, match="install one version"):
        _work.carry_out([], None, "ssdlab 0.0.1")


@pytest.mark.ray
def test_200_points_are_the_same_on_threads_processes_and_ray_also_after_a_death(
    cluster: Any, tmp_path: Path
) -> None:
    spec = {**SPEC, "points": 200}
    table = _table(spec, tmp_path / "threads")
    assert _table(spec, tmp_path / "processes", executor="processes", jobs=2) == table
    assert _table(spec, tmp_path / "ray", executor="ray") == table
    killer = _Killer(tmp_path / "killed", 100)
    killer.start()
    assert _table(spec, tmp_path / "killed", executor="ray") == table
    killer.join()
    assert killer.at is not None and 100 <= killer.at < 200


def _warm() -> None:
    """Begins a worker on every node, which takes seconds."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    for node in ray.nodes():
        place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ray.get(ray.remote(num_cpus=1, scheduling_strategy=place)(lambda: None).remote())


def _slept(output: Path) -> float:
    """The time of a sweep of 40 tasks that sleep for half a second each."""

    # A function of this function: workers have not this file.
    def sleep(tasks: list[str], keep_runs: bool, version: str) -> _work.Done:
        time.sleep(0.5)
        numbers = [json.loads(task)["number"] for task in tasks]
        outcomes = [{"number": it, "error": None, "metrics": {}} for it in numbers]
        return _work.Done([json.dumps(outcome) for outcome in outcomes], [], 0.5)

    from ssdlab._cluster import connected
    from ssdlab._sweep import _on_ray

    book = _native.Book(output, ssdlab._sweep.spec_text({**SPEC, "points": 40}))
    workers = _on_ray.Nodes(connected(None), None, False, work=sleep)
    started = time.monotonic()
    _work.carry_out_all(book, workers, 1, lambda _: None)
    assert not book.pending()
    return time.monotonic() - started


def test_two_runs_on_one_drive_of_a_lab_never_overlap_and_go_to_its_owner(
    cluster: Path, tmp_path: Path
) -> None:
    def begin(drive: str) -> lab.Pending:
        erase = [str(cluster / drive)]
        return lab.submit("consistency", drive, erase=erase, library=tmp_path, settings=LAB_RUN)

    # The left host could do both of its runs at a time.
    pending = {"left": [begin("left"), begin("left")], "right": [begin("right")]}
    done = {drive: [it.result() for it in runs] for drive, runs in pending.items()}
    nodes = {drive: {it.node for it in runs} for drive, runs in pending.items()}
    assert all(len(it) == 1 for it in nodes.values()) and nodes["left"] != nodes["right"]
    for drive, runs in done.items():
        assert {run.record["target"]["name"] for run in runs} == {str(cluster / drive)}
    first, second = sorted(_period(run) for run in done["left"])
    assert first[1] <= second[0], "the second run began after the end of the first"
    assert len(ssdlab.read_library(tmp_path)) == 3


def _period(run: ssdlab.Run) -> tuple[int, int]:
    return run.record["started_unix_ns"], run.record["finished_unix_ns"]


def test_a_run_of_a_lab_tells_how_far_it_is_and_can_be_cancelled(cluster: Path, tmp_path: Path) -> None:
    long = {"duration": "100s", "steady_from": "50s"}
    first, second = (
        lab.submit("consistency", "right", erase=[str(cluster / "right")], library=tmp_path, settings=long) for _ in range(2)
    )
    deadline = time.monotonic() + 60
    while (now := first.progress()).second is None or now.phase != "load":
        assert time.monotonic() < deadline, now
        time.sleep(0.1)
    assert now.status == "running" and now.second >= 1 and now.iops is not None and now.iops > 0
    assert second.status == "waiting" and second.progress().phase is None
    before = (cluster / "right").read_bytes()
    second.cancel(), first.cancel()
    with pytest.raises(ssdlab.InterruptedRun, match="cancelled") as stopped:
        first.result()
    assert time.monotonic() < deadline and first.status == "ended"
    kept = stopped.value.run
    assert kept is not None and kept.status != "complete" and kept.path.parent == tmp_path
    after = (cluster / "right").read_bytes()
    with pytest.raises(ssdlab.InterruptedRun) as stopped:
        second.result()
    assert stopped.value.run is None and second.status == "ended"
    assert len(before) == len(after) and (cluster / "right").read_bytes() == after


def test_a_confirmation_for_another_drive_changes_nothing_on_any_host(
    cluster: Path, tmp_path: Path
) -> None:
    before = (cluster / "left").read_bytes()
    for erase in ([], [str(cluster / "right")], ["left"]):
        with pytest.raises(ssdlab.RefusedError) as refused:
            lab.run("consistency", "left", erase=erase, library=tmp_path, settings=LAB_RUN)
        assert refused.value.exit_code == 3
    assert (cluster / "left").read_bytes() == before
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ssdlab.UsageError, match="known: .*left, right"):
        lab.run("consistency", "middle", library=tmp_path)


def test_a_block_device_of_a_lab_takes_only_its_own_confirmation(cluster: Path, tmp_path: Path) -> None:
    if "ssdlab:block" not in ray.cluster_resources():
        pytest.skip("needs root and losetup")
    image = cluster / "block"
    with pytest.raises(ssdlab.RefusedError):
        lab.run("consistency", "block", erase=[str(cluster / "right")], library=tmp_path, settings=LAB_RUN)
    assert not any(image.read_bytes())
    run = lab.run("consistency", "block", erase=[str(image)], library=tmp_path, settings=LAB_RUN)
    assert run.record["target"]["kind"] == "block"
    assert run.record["target"]["spec"].startswith("/dev/loop")
    assert any(image.read_bytes())


def test_a_host_registers_its_free_drives_by_serial(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [
        {"target": "/dev/nvme0n1", "serial": "A1", "in_use": ["mounted"]},
        {"target": "/dev/nvme1n1", "serial": "B2", "in_use": []},
        {"target": "/dev/sda", "serial": None, "in_use": []},
        {"target": "/dev/nvme2n1", "serial": "C3", "in_use": ["mounted"]},
        {"target": "/dev/nvme2n2", "serial": "C3", "in_use": []},
    ]
    assert isinstance(json.loads(_native.devices()), list)
    monkeypatch.setattr(_native, "devices", lambda: json.dumps(found))
    monkeypatch.setenv("SSDLAB_LAB", "{}")
    assert lab.main(["show", "--head", "--drive", "bench=file:/srv/bench"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["drives"] == {"B2": "/dev/nvme1n1", "bench": "file:/srv/bench"}
    assert said["command"] == [
        "ray", "start", "--head", '--resources={"ssdlab:B2": 1, "ssdlab:bench": 1}'
    ]  # fmt: skip
    for words in (["show", "--drive", "bench"], ["start"], []):
        with pytest.raises(SystemExit):
            lab.main(words)
