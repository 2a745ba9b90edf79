"""Sweeps: many simulated runs as one table, on threads, processes or Ray."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from . import _native
from ._errors import DeviceError, UsageError
from ._results import needed

Executor = Literal["threads", "processes", "ray"]
Progress = Callable[[int, int], None]
"""Gets the number of runs that have an outcome, and the number of all runs."""

_DEATHS_MAX = 3
"""Pools that may die without a single outcome between."""


class Sweep:
    """The outcome of a sweep: one row for each run."""

    def __init__(self, dataset: str | PathLike[str]) -> None:
        self.dataset: Path = Path(dataset)
        """The Parquet file."""

    def frame(self, kind: str = "polars") -> Any:
        """The table: `task`, a column `vary.NAME` for each value that differs, the request, `error` and
        the figures; as a data frame of polars or pandas, or an Arrow table."""
        if kind == "polars":
            return needed("polars", "polars").read_parquet(self.dataset)
        if kind == "pandas":
            return needed("pandas", "pandas").read_parquet(self.dataset)
        if kind == "arrow":
            return needed("pyarrow.parquet", "arrow").read_table(self.dataset, memory_map=True)
        raise UsageError(f"there is no frame `{kind}`; known are polars, pandas, arrow", "usage")

    def __repr__(self) -> str:
        return f"<ssdlab.Sweep {self.dataset}>"


def sweep(
    spec: str | PathLike[str] | Mapping[str, Any],
    output: str | PathLike[str] = "sweep",
    *,
    executor: Executor = "threads",
    jobs: int | None = None,
    batch: int = 1,
    progress: Progress | None = None,
) -> Sweep:
    """Carries out a sweep (docs/runs/sweep.md), or the rest of it, and writes one table.

    `spec` is the path of a TOML file, its text, or the same as a mapping. `executor` chooses the place of
    the work: threads of this process (without Python in the workers), processes, or the nodes of a Ray
    cluster, a local one unless `ray.init` was called before. `jobs` limits the runs at a time; `batch` is
    the number of runs in a task of a process or of Ray. The table is the same for all of them.

    >>> import tempfile
    >>> spec = {
    ...     "metrics": ["waf_steady"],
    ...     "fixed": {"drive": "samsung-840-pro-256gb", "scale": "1/512",
    ...               "set.duration": "4s", "set.steady_from": "2s"},
    ...     "vary": {"spare": ["10%", "40%"]},
    ... }
    >>> with tempfile.TemporaryDirectory() as output:
    ...     table = sweep(spec, output).frame("polars")
    >>> little, much = table["waf_steady"]
    >>> bool(little > much >= 1)
    True
    """
    if batch < 1 or (jobs is not None and jobs < 1):
        raise UsageError("`batch` and `jobs` are at least 1", "usage")
    book = _native.Book(output, spec_text(spec))
    done = len(book) - len(book.pending())

    def told(count: int) -> None:
        if progress is not None:
            progress(done + count, len(book))

    if executor == "threads":
        book.carry_out(jobs, told)
    elif executor in ("processes", "ray"):
        carry_out = _processes if executor == "processes" else _ray
        carry_out(book, jobs or os.cpu_count() or 1, batch, told)
    else:
        raise UsageError(f"there is no executor `{executor}`; known are threads, processes, ray")
    return Sweep(book.write())


def spec_text(spec: str | PathLike[str] | Mapping[str, Any]) -> str:
    """The TOML text of a sweep."""
    if isinstance(spec, Mapping):
        tables = [name for name, value in spec.items() if isinstance(value, Mapping)]
        top = [f"{name} = {_toml(value)}" for name, value in spec.items() if name not in tables]
        for table in tables:
            rows = spec[table].items()
            top += [f"[{table}]", *(f"{json.dumps(name)} = {_toml(it)}" for name, it in rows)]
        return "\n".join(top) + "\n"
    if isinstance(spec, str) and "\n" in spec:
        return spec
    try:
        return Path(spec).read_text()
    except (OSError, ValueError) as error:
        raise UsageError(f"sweep `{spec}` cannot be read: {error}", "usage") from error


def _toml(value: object) -> str:
    """A value in TOML."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(str(name))} = {_toml(it)}" for name, it in value.items())
        return "{ " + pairs + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(it) for it in value) + "]"
    if isinstance(value, (str, bool, int)):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value)
    raise UsageError(f"{value!r} cannot stand in a sweep; expected texts, numbers, lists", "usage")


def carry_out_tasks(tasks: list[str], runs: str | None) -> list[str]:
    """Carries out tasks, one after the other; this is all that a worker does."""
    return [_native.carry_out_task(task, runs) for task in tasks]


def _batches(tasks: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(tasks), size):
        yield tasks[start : start + size]


def _note(book: _native.Book, outcomes: Iterable[str]) -> int:
    noted = 0
    for outcome in outcomes:
        book.note(outcome)
        noted += 1
    return noted


def _processes(
    book: _native.Book, jobs: int, batch: int, told: Callable[[int], None]
) -> None:
    """A pool of processes; the death of one breaks the pool, and another one does the rest."""
    count = deaths = 0
    while pending := book.pending():
        before = count
        try:
            for noted in _one_pool(book, pending, jobs, batch):
                count += noted
                told(count)
        except BrokenProcessPool as error:
            deaths = deaths + 1 if count == before else 0
            if deaths >= _DEATHS_MAX:
                message = f"the workers died {deaths} times without an outcome: {error}"
                raise DeviceError(message, "worker") from error


def _one_pool(
    book: _native.Book, pending: list[str], jobs: int, batch: int
) -> Iterator[int]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context)
    try:
        batches = _batches(pending, batch)
        running: set[Future[list[str]]] = set()
        while True:
            # Two batches for each worker: enough to keep it busy, little to lose.
            while len(running) < 2 * jobs and (tasks := next(batches, None)):
                running.add(pool.submit(carry_out_tasks, tasks, book.runs_dir()))
            if not running:
                return
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                yield _note(book, future.result())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ray(book: _native.Book, jobs: int, batch: int, told: Callable[[int], None]) -> None:
    """Tasks of Ray, which repeats those whose worker died."""
    ray = needed("ray", "ray")
    if not ray.is_initialized():
        ray.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False)
    window = 2 * max(int(ray.cluster_resources().get("CPU", jobs)), 1)
    remote = ray.remote(num_cpus=1, max_retries=_DEATHS_MAX)(carry_out_tasks)
    batches = _batches(book.pending(), batch)
    running: list[Any] = []
    count = 0
    while True:
        while len(running) < window and (tasks := next(batches, None)):
            running.append(remote.remote(tasks, book.runs_dir()))
        if not running:
            return
        ended, running = ray.wait(running)
        for outcomes in ray.get(ended):
            count += _note(book, outcomes)
            told(count)
