"""Traces of real work, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._errors import UsageError


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The records of a trace, in the order of issue; codes of kinds as in `ssdlab.KINDS`."""

    issue_ns: NDArray[np.uint64]
    kind: NDArray[np.uint8]
    offset_bytes: NDArray[np.uint64]
    length_bytes: NDArray[np.uint32]
    stream: NDArray[np.uint32]
    queue_depth: NDArray[np.uint16] | None = None
    """Commands outstanding at the issue, this one included; 0 if unknown. Without it, none is known."""

    def __len__(self) -> int:
        return len(self.issue_ns)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the trace as a new file, by convention `*.trace.parquet` (docs/reference/formats/trace.md)."""
        columns = {name: getattr(self, name) for name in self.__slots__}
        if columns["queue_depth"] is None:
            columns["queue_depth"] = np.zeros(len(self), np.uint16)
        _native.write_trace(fspath(path), **{name: _column(name, value) for name, value in columns.items()})


_TYPES = {"kind": np.uint8, "length_bytes": np.uint32, "stream": np.uint32, "queue_depth": np.uint16}


def _column(name: str, values: ArrayLike) -> NDArray[np.generic]:
    """The values in the type of their column, each unchanged."""
    wanted = np.dtype(_TYPES.get(name, np.uint64))
    array = np.asarray(values)
    column = array.astype(wanted)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not np.array_equal(column, array):
        raise UsageError(f"`{name}` of a trace: expected one array of whole numbers that fit {wanted}", "usage")
    return column


def from_arrays(
    issue_ns: ArrayLike,
    kind: ArrayLike,
    offset_bytes: ArrayLike,
    length_bytes: ArrayLike,
    *,
    stream: ArrayLike | None = None,
    queue_depth: ArrayLike | None = None,
) -> Trace:
    """A trace of one's own, for `simulate(model, "replay", trace=...)`. Times rise; one value is that of all.

    >>> import numpy as np
    >>> from ssdlab import Drive, simulate
    >>> trace = from_arrays(np.arange(4) * 1_000_000, 1, np.arange(4) * 4096, 4096)
    >>> run = simulate(Drive("samsung-840-pro-256gb", scale="1/256"), "replay", trace=trace, fill=False)
    >>> run["address_folded_share"]
    0.0
    """
    issue = np.asarray(issue_ns)
    given = {
        "kind": kind,
        "offset_bytes": offset_bytes,
        "length_bytes": length_bytes,
        "stream": 0 if stream is None else stream,
        "queue_depth": 0 if queue_depth is None else queue_depth,
    }
    columns: dict[str, Any] = {"issue_ns": _column("issue_ns", issue)}
    for name, values in given.items():
        array = np.asarray(values)
        columns[name] = _column(name, np.full(issue.shape, array) if array.ndim == 0 else array)
        if len(columns[name]) != len(issue):
            raise UsageError(f"`{name}` has {len(columns[name])} values for {len(issue)} commands", "usage")
    return Trace(**columns)


def read(name: str | PathLike[str], *, limit: int = 1 << 24) -> Trace:
    """The first records of a trace: a file of any known format, or `synth:SCENARIO?scale=1/10&seed=1`.

    `simulate(model, "replay", trace=name)` replays a trace of any length; a `Trace` may stand for the name.

    >>> trace = read("synth:light-2011?scale=1/1000", limit=100)
    >>> len(trace), bool((trace.issue_ns[1:] >= trace.issue_ns[:-1]).all())
    (100, True)
    """
    return Trace(**_native.read_trace(fspath(name), limit))
