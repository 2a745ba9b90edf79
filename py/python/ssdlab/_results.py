"""Runs and libraries: figures as Python values, rows as arrays, Arrow tables or data frames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._errors import UnsupportedError, UsageError
from ._html import table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Frame = Literal["numpy", "arrow", "polars", "pandas"]
Table = Literal["series", "latency"]
Columns = Mapping[str, NDArray[Any]]


class Run:
    """One run of a test: a run directory, read on demand."""

    def __init__(self, path: str | PathLike[str], *, keep: object = None) -> None:
        self.path: Path = Path(path)
        """The run directory, or its `run.json`."""
        self.record: dict[str, Any] = json.loads(_native.run_json(self.path))
        """The whole content of `run.json` (docs/reference/formats/run-directory.md)."""
        # A temporary library lives as long as one of its runs.
        self._keep = keep

    @property
    def id(self) -> str:
        """Name of the run."""
        return cast(str, self.record["run_id"])

    @property
    def test(self) -> str:
        """Name of the test."""
        return cast(str, self.record["test"])

    @property
    def status(self) -> str:
        """`complete`, `interrupted`, `failed` or `running`."""
        return cast(str, self.record["status"])

    @property
    def target(self) -> str:
        """Name of the target; simulated ones say so."""
        simulated = " (simulated)" if self.simulated else ""
        return f"{self.record['target']['name']}{simulated}"

    @property
    def simulated(self) -> bool:
        """Whether the target was a drive model in virtual time."""
        return cast(bool, self.record["target"]["kind"] == "simulated")

    @property
    def metrics(self) -> dict[str, float | None]:
        """Every figure by its stable name (docs/reference/metrics.md), `None` where it is unknown."""
        return cast("dict[str, float | None]", self.record["metrics"])

    @property
    def marks(self) -> list[dict[str, Any]]:
        """Reservations about single figures: `metric`, `kind` and `text` (docs/reference/marks.md)."""
        return cast("list[dict[str, Any]]", self.record.get("marks", []))

    def reservations(self, metric: str) -> list[str]:
        """The texts of the marks of a figure; empty if it is what its name says."""
        return [mark["text"] for mark in self.marks if mark["metric"] == metric]

    @property
    def warnings(self) -> list[str]:
        """Reasons to trust the figures less."""
        return cast("list[str]", self.record["warnings"])

    @property
    def command(self) -> str:
        """The command of the program that repeats the run."""
        return cast(str, self.record["command"])

    def __getitem__(self, metric: str) -> float:
        """A figure that the run has; the error of a missing one gives the reason."""
        value = self.metrics.get(metric)
        if value is None:
            why = "".join(f": {text}" for text in self.reservations(metric))
            raise KeyError(f"{metric} is not known in {self.id}{why}")
        return value

    def __repr__(self) -> str:
        return f"<ssdlab.Run {self.id}: {self.test} on {self.target}, {self.status}>"

    def _repr_html_(self) -> str:
        known = [(name, value, "; ".join(self.reservations(name))) for name, value in self.metrics.items()]
        rows = [row for row in known if row[1] is not None]
        return table(f"{self.test} on {self.target}, {self.status}", rows, ("figure", "value", "reservations"))

    @overload
    def series(self, frame: Literal["numpy"] = ..., phase: str | None = ...) -> Columns: ...
    @overload
    def series(self, frame: Literal["arrow"], phase: str | None = ...) -> pyarrow.Table: ...
    @overload
    def series(self, frame: Literal["polars"], phase: str | None = ...) -> polars.DataFrame: ...
    @overload
    def series(self, frame: Literal["pandas"], phase: str | None = ...) -> pandas.DataFrame: ...
    def series(self, frame: Frame = "numpy", phase: str | None = None) -> Any:
        """One row for each second (or zone) of each phase, or of one phase.

        NumPy columns with gaps are floats with NaN in the gaps; the others keep gaps as nulls. Arrow
        and polars map the file into memory without a copy where its encoding permits.
        """
        return self._table("series", frame, phase)

    @overload
    def latency(self, frame: Literal["numpy"] = ..., phase: str | None = ...) -> Columns: ...
    @overload
    def latency(self, frame: Literal["arrow"], phase: str | None = ...) -> pyarrow.Table: ...
    @overload
    def latency(self, frame: Literal["polars"], phase: str | None = ...) -> polars.DataFrame: ...
    @overload
    def latency(self, frame: Literal["pandas"], phase: str | None = ...) -> pandas.DataFrame: ...
    def latency(self, frame: Frame = "numpy", phase: str | None = None) -> Any:
        """The latency histogram of each second: lower edge of a bin in ns, and its commands."""
        return self._table("latency", frame, phase)

    def _table(self, table: Table, frame: Frame, phase: str | None) -> Any:
        names = [entry["name"] for entry in self.record["phases"]]
        if phase is not None and phase not in names:
            raise UsageError(f"{self.id} has no phase `{phase}`; it has {', '.join(names)}")
        folder = self.path.parent if self.path.name == "run.json" else self.path
        return _READERS[_known(frame)](folder, table, phase)


def _known(frame: str) -> str:
    if frame not in _READERS:
        raise UsageError(f"there is no frame `{frame}`; known are {', '.join(_READERS)}")
    return frame


def _numpy(folder: Path, table: Table, phase: str | None) -> Columns:
    read = _native.series if table == "series" else _native.latency
    columns = read(folder)
    names = np.array(columns.pop("phases"), dtype=str)
    columns = {"phase": names[columns["phase_index"].astype(np.intp)], **columns}
    if "op" in columns:
        words = np.array(["read", "write", "flush", "deallocate"])
        columns["op"] = words[columns["op"]]
    if phase is None:
        return columns
    of_phase = columns["phase"] == phase
    return {name: values[of_phase] for name, values in columns.items()}


def _arrow(folder: Path, table: Table, phase: str | None) -> Any:
    parquet = needed("pyarrow.parquet", "arrow")
    read = parquet.read_table(folder / f"{table}.parquet", memory_map=True)
    if phase is None:
        return read
    compute = needed("pyarrow.compute", "arrow")
    return read.filter(compute.equal(read["phase"], phase))


def _polars(folder: Path, table: Table, phase: str | None) -> Any:
    polars = needed("polars", "polars")
    read = polars.read_parquet(folder / f"{table}.parquet")
    return read if phase is None else read.filter(polars.col("phase") == phase)


def _pandas(folder: Path, table: Table, phase: str | None) -> Any:
    pandas = needed("pandas", "pandas")
    read = pandas.read_parquet(folder / f"{table}.parquet", dtype_backend="pyarrow")
    return read if phase is None else read[read["phase"] == phase]


_READERS = {"numpy": _numpy, "arrow": _arrow, "polars": _polars, "pandas": _pandas}


def needed(module: str, extra: str) -> Any:
    """A module of an optional package."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        hint = f"pip install 'ssdlab[{extra}]'"
        raise UnsupportedError(f"this needs {module}: {hint}", "missing-package") from error


class Library(Sequence[Run]):
    """The readable runs of a directory, the oldest first."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path: Path = Path(path)
        """The directory."""
        self.runs: list[Run] = []
        """Every readable run."""
        self.unreadable: dict[str, str] = {}
        """The directories that cannot be read, each with the reason."""
        if not self.path.is_dir():
            raise UsageError(f"there is no directory {self.path}", "usage")
        for name, where, text, error in _native.list_runs(self.path):
            if text is None:
                self.unreadable[name] = error or ""
            else:
                self.runs.append(Run(where))
        # The names of runs of one second say nothing about their order.
        self.runs.sort(key=lambda run: cast(int, run.record["started_unix_ns"]))

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"<ssdlab.Library {self.path}: {len(self)} runs>"

    def find(self, name: str) -> Run:
        """The run of a name: an id, its beginning, or `latest`."""
        return Run(_native.resolve_run(self.path, name))

    def where(
        self, *, test: str | None = None, label: str | None = None, target: str | None = None
    ) -> list[Run]:
        """The runs of a test, with a label, on targets whose name contains a text."""

        def fits(run: Run) -> bool:
            return (
                (test is None or run.test == test)
                and (label is None or run.record.get("about", {}).get("label") == label)
                and (target is None or target in run.target)
            )

        return [run for run in self.runs if fits(run)]

    def table(self, *metrics: str) -> dict[str, NDArray[Any]]:
        """One row for each run: id, test, target, status, and these figures (NaN where unknown)."""
        columns: dict[str, NDArray[Any]] = {
            "id": np.array([run.id for run in self.runs]),
            "test": np.array([run.test for run in self.runs]),
            "target": np.array([run.target for run in self.runs]),
            "status": np.array([run.status for run in self.runs]),
        }
        for metric in metrics:
            values = [run.metrics.get(metric) for run in self.runs]
            numbers = [np.nan if value is None else value for value in values]
            columns[metric] = np.array(numbers, dtype=float)
        return columns


def read_library(path: str | PathLike[str]) -> Library:
    """The runs of a library, the directory of `ssdlab run --library`."""
    return Library(path)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure on both sides of a comparison."""

    metric: str
    a: float
    b: float
    change: float | None
    interval: tuple[float, float] | None
    outcome: Literal["worse", "better", "same", "different", "unknown"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer to "is B worse than A?" for the runs of one test."""

    test: str
    variant: str
    figures: list[Figure]
    conditions: list[dict[str, Any]] = field(repr=False)
    """Conditions that are not the same on both sides."""

    @property
    def regression(self) -> bool:
        """Whether any figure of B is worse, beyond noise and threshold."""
        return any(figure.outcome == "worse" for figure in self.figures)

    def __iter__(self) -> Iterator[Figure]:
        return iter(self.figures)

    def _repr_html_(self) -> str:
        rows = [(it.metric, it.a, it.b, it.change, it.outcome) for it in self.figures]
        return table(f"{self.test} {self.variant}", rows, ("figure", "A", "B", "change", "outcome"))

    def __getitem__(self, metric: str) -> Figure:
        for figure in self.figures:
            if figure.metric == metric:
                return figure
        raise KeyError(metric)


def compare(
    a: Run | Iterable[Run],
    b: Run | Iterable[Run],
    *,
    threshold: float | None = None,
    metrics: Sequence[str] = (),
    seed: int = 0,
    across: Literal["spare", "span", "drive", "firmware", "host"] | None = None,
) -> list[Comparison]:
    """Is B worse than A? Each side is one run or several repetitions (docs/reference/compare.md).

    `threshold` is the smallest relative change that counts, e.g. 0.05; without one 3% between
    single runs, and 1% between repeated ones. `across` is the one condition in which A and B
    differ.
    """
    text = _native.compare(_paths(a), _paths(b), threshold, list(metrics), seed, across)
    return [_comparison(document) for document in json.loads(text)]


def _paths(side: Run | Iterable[Run]) -> list[Path]:
    return [side.path] if isinstance(side, Run) else [run.path for run in side]


def _comparison(document: dict[str, Any]) -> Comparison:
    return Comparison(
        document["test"],
        document["variant"],
        [_figure(figure) for figure in document["figures"]],
        document["conditions"],
    )


def _figure(document: dict[str, Any]) -> Figure:
    interval = document["interval"]
    return Figure(
        document["metric"],
        document["a"]["mean"],
        document["b"]["mean"],
        document["change"],
        None if interval is None else (interval["low"], interval["high"]),
        document["outcome"],
    )
