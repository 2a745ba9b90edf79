"""Sweeps: many simulated runs as one table, on threads, processes or Ray."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .. import _native
from .._errors import UsageError
from .._progress import SweepLine
from .._results import needed
from ._dataset import variables
from ._on_ray import on_ray
from ._processes import processes
from ._spec import spec_text
from ._store import Store, located

if TYPE_CHECKING:
    import xarray
    from pyarrow.fs import FileSystem

__all__ = ["Sweep", "spec_text", "sweep"]

Executor = Literal["threads", "processes", "ray"]
Progress = Callable[[int, int], None]
"""Gets the number of runs that have an outcome, and the number of all runs."""


class Sweep:
    """The outcome of a sweep: one row for each run."""

    def __init__(
        self, dataset: str | PathLike[str], filesystem: FileSystem | None = None
    ) -> None:
        self.dataset: Path = Path(dataset)
        """The Parquet file; its path in `filesystem`, if that is not `None`."""
        self.filesystem = filesystem

    def frame(self, kind: str = "polars") -> Any:
        """The table: `task`, a column `vary.NAME` for each value that differs, the request, `error` and
        the figures; as a data frame of polars or pandas, or an Arrow table."""
        if kind not in ("polars", "pandas", "arrow"):
            known = "known are polars, pandas, arrow"
            raise UsageError(f"there is no frame `{kind}`; {known}", "usage")
        if kind == "arrow" or self.filesystem is not None:
            parquet = needed("pyarrow.parquet", "arrow")
            remote = {"filesystem": self.filesystem} if self.filesystem else {"memory_map": True}
            table = parquet.read_table(str(self.dataset), **remote)
            if kind == "polars":
                return needed("polars", "polars").from_arrow(table)
            return table.to_pandas() if kind == "pandas" else table
        return needed(kind, kind).read_parquet(self.dataset)

    def to_xarray(self) -> xarray.Dataset:
        """The figures over the values that differ, each of which is a dimension by its dotted name.

        The points of a sweep that is no grid lie along the dimension `point` instead, and repeated runs along
        `repeat`. A figure has its unit and label as attributes and NaN where it is unknown; `error` and
        `marks` of the runs are coordinates.
        """
        xr = needed("xarray", "xarray")
        made: xarray.Dataset = xr.Dataset(*variables(self.frame("pandas")))
        return made

    def __repr__(self) -> str:
        return f"<ssdlab.Sweep {self.dataset}>"


def sweep(
    spec: str | PathLike[str] | Mapping[str, Any],
    output: str | PathLike[str] = "sweep",
    *,
    filesystem: FileSystem | None = None,
    executor: Executor = "threads",
    jobs: int | None = None,
    batch: int | None = None,
    progress: bool | Progress = False,
) -> Sweep:
    """Carries out a sweep (docs/reference/sweep.md), or the rest of it, and writes one table.

    `spec` is the path of a TOML file, its text, or the same as a mapping. `output` is a directory, a URI such
    as `s3://bucket/path`, or a path in `filesystem`, a file system of pyarrow. `executor` chooses the place of
    the work: threads of this process (without Python in the workers), processes, or the nodes of a Ray
    cluster, a local one unless `ray.init` was called before or `RAY_ADDRESS` names one. `jobs` limits the runs
    at a time; `batch` is the number of runs in a task of a process or of Ray, by default as many as last a
    second. The table is the same for all of them. `progress` shows a line on stderr, or calls a function
    after each run.

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
    if (batch is not None and batch < 1) or (jobs is not None and jobs < 1):
        raise UsageError("`batch` and `jobs` are at least 1", "usage")
    if executor not in ("threads", "processes", "ray"):
        known = "known are threads, processes, ray"
        raise UsageError(f"there is no executor `{executor}`; {known}", "usage")
    text = spec_text(spec)
    place = located(output, filesystem)
    if place is None:
        book = _native.Book(output, text)
        _carry_out(book, executor, jobs, batch, progress, lambda: None)
        return Sweep(book.write())
    with tempfile.TemporaryDirectory(prefix="ssdlab-sweep-") as local:
        store = Store(*place, Path(local))
        store.fetch()
        book = _native.Book(local, text)
        store.begin()
        try:
            _carry_out(book, executor, jobs, batch, progress, store.flush)
        finally:
            store.flush(now=True)
        return Sweep(store.finish(Path(book.write())), place[0])


def _carry_out(
    book: _native.Book,
    executor: Executor,
    jobs: int | None,
    batch: int | None,
    progress: bool | Progress,
    noted: Callable[[], None],
) -> None:
    done = book.noted()
    line = SweepLine(done, len(book)) if progress is True else None
    observer = line or (progress if callable(progress) else None)

    def told(count: int) -> None:
        nonlocal done
        done += count
        noted()
        if observer is not None:
            observer(done, len(book))

    try:
        if executor == "threads":
            book.carry_out(jobs, lambda _: told(1))
        elif executor == "processes":
            processes(book, jobs or len(os.sched_getaffinity(0)), batch, told)
        else:
            on_ray(book, jobs, batch, told)
    finally:
        if line is not None:
            line.close()
