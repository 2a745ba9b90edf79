"""The price of a sweep on Ray: per task, per node, and of the book of a large sweep.

    python bench/python/cluster.py [--tasks 1000] [--book 1000000] [--runs 200]

Prints one JSON document. Two nodes of one CPU each share this machine. Times are of the wall; processor
times add up this process and all processes of Ray, and change little with other work on the machine. Workers
run with the priority of this process; Ray would give them niceness 15, with which they starve beside other work.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import ssdlab
from ssdlab import _native
from ssdlab._sweep import _on_ray, _work, spec_text

SPEC: dict[str, Any] = {
    "design": "random",
    "metrics": ["iops_mean", "waf_steady"],
    "fixed": {
        "drive": "samsung-840-pro-256gb",
        "scale": "1/1024",
        "set.duration": "1s",
        "set.steady_from": "0s",
    },
    "vary": {
        "gc.policy": ["greedy", "fifo"],
        "nand.program_ns": {"from": 1_000_000, "to": 3_000_000},
        "seed": {"from": 1, "to": 1_000_000_000},
    },
}
SMALL: dict[str, Any] = {
    **SPEC,
    "metrics": ["qd-sweep.write_qd1.iops"],
    "fixed": {
        "drive": "crucial-m4-128gb",
        "scale": "1/1024",
        "test": "qd-sweep",
        "set.time": "1s",
        "set.write_bytes": "1MiB",
        "set.queue_depths": "1",
    },
}
"""About the smallest simulation with a figure: a second of reads, a MiB of writes, a drive of 128 MB."""
TICKS = os.sysconf("SC_CLK_TCK")


def processor_s() -> float:
    """Processor time of this process and its descendants, which the nodes and workers of Ray are."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        parents[int(entry.name)] = int(fields[1])
        spent[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS

    def is_mine(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return sum(of for process, of in spent.items() if is_mine(process))


class Timed:
    """Time and processor time of a block, for each of `count` things."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> Timed:
        self._wall, self._processor = time.monotonic(), processor_s()
        self._driver = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.monotonic() - self._wall
        self.processor_s = processor_s() - self._processor
        self.driver_s = time.process_time() - self._driver

    def each(self) -> dict[str, float]:
        return {
            "wall_ms": round(self.wall_s / self.count * 1e3, 3),
            "processor_ms": round(self.processor_s / self.count * 1e3, 3),
            "of_them_driver_ms": round(self.driver_s / self.count * 1e3, 3),
        }


def empty_tasks(count: int, size: int | None) -> dict[str, float]:
    """The overhead of a task that does nothing, in batches of `size`."""
    outcome = {"error": None, "metrics": {"iops_mean": "12345.678", "waf_steady": "3.25"}}

    def work(tasks: list[str], keep_runs: bool, version: str) -> _work.Done:
        numbers = [json.loads(task)["number"] for task in tasks]
        outcomes = [json.dumps({"number": number, **outcome}) for number in numbers]
        return _work.Done(outcomes, [], 1e-6 * len(tasks))

    with tempfile.TemporaryDirectory() as output:
        book = _native.Book(output, spec_text({**SPEC, "points": count}))
        nodes = _on_ray.Nodes(ray, None, False, work=work)
        with Timed(count) as timed:
            _work.carry_out_all(book, nodes, size, lambda _: None)
    return timed.each()


def real_tasks(spec: dict[str, Any], count: int, executor: Any, **how: Any) -> dict[str, float]:
    """Simulations by an executor."""
    with tempfile.TemporaryDirectory() as output, Timed(count) as timed:
        ssdlab.sweep({**spec, "points": count}, output, executor=executor, **how)
    return timed.each()


def sizes() -> dict[str, int]:
    """Bytes of a task and of its outcome, and of a kept run."""
    with tempfile.TemporaryDirectory() as output:
        book = _native.Book(output, spec_text({**SPEC, "points": 10}))
        task = book.task(9)
        brief = _work.carry_out_apart([task], False, _native.version())
        kept = _work.carry_out_apart([task], True, _native.version())
        book.note(brief.outcomes[0])
        return {
            "task": len(task),
            "outcome": len(brief.outcomes[0]),
            "line_of_log": (Path(output) / "outcomes.jsonl").stat().st_size,
            "kept_run": len(kept.runs[0]),
        }


def big_book(count: int, answer: Any) -> None:
    """A sweep of many tasks without its simulations, in a process of its own."""
    steps: dict[str, float] = {}

    def step(name: str, started: float) -> None:
        steps[name] = round(time.monotonic() - started, 2)

    with tempfile.TemporaryDirectory() as output:
        text = spec_text({**SPEC, "points": count})
        started = time.monotonic()
        book = _native.Book(output, text)
        step("open_s", started)
        started = time.monotonic()
        for number in book.pending():
            book.task(number)
        step("tasks_s", started)
        started = time.monotonic()
        figures = {"iops_mean": "12345.678", "waf_steady": "3.25"}
        for number in range(count):
            book.note(json.dumps({"number": number, "error": None, "metrics": figures}))
        step("note_s", started)
        started = time.monotonic()
        table = book.write()
        step("write_s", started)
        started = time.monotonic()
        assert not _native.Book(output, text).pending()
        step("open_again_s", started)
        steps["log_bytes"] = (Path(output) / "outcomes.jsonl").stat().st_size
        steps["table_bytes"] = Path(table).stat().st_size
    steps["memory_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer.put(steps)


def book_of(count: int) -> dict[str, float]:
    """`big_book`, measured."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=big_book, args=(count, answer))
    process.start()
    steps: dict[str, float] = answer.get()
    process.join()
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--book", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    asked = parser.parse_args()
    measured: dict[str, Any] = {"bytes": sizes(), "book": book_of(asked.book)}
    os.environ["RAY_worker_niceness"] = "0"
    with Timed(1) as started:
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        nodes.add_node(num_cpus=1)
        ray.init(address=nodes.address, log_to_driver=False)
    with Timed(1) as first:
        empty_tasks(4, 1)
    measured |= {"cluster_start": started.each(), "first_four_tasks": first.each()}
    for size in (1, 10, 100, None):
        measured[f"empty_task_in_batches_of_{size}"] = empty_tasks(asked.tasks, size)
    for name, spec in (("run", SPEC), ("small_run", SMALL)):
        measured[f"{name}_by_threads"] = real_tasks(spec, asked.runs, "threads")
        measured[f"{name}_by_ray_one_by_one"] = real_tasks(spec, asked.runs, "ray", batch=1)
        measured[f"{name}_by_ray"] = real_tasks(spec, asked.runs, "ray")
    ray.shutdown()
    nodes.shutdown()
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
