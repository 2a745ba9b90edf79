"""Traces of real work, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from . import _native


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The records of a trace, in the order of issue; codes of kinds as in `ssdlab.KINDS`."""

    issue_ns: NDArray[np.uint64]
    kind: NDArray[np.uint8]
    offset_bytes: NDArray[np.uint64]
    length_bytes: NDArray[np.uint32]
    stream: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.issue_ns)


def read(name: str | PathLike[str], *, limit: int = 1 << 24) -> Trace:
    """The first records of a trace: a file of any known format, or `synth:SCENARIO?scale=1/10&seed=1`.

    `simulate(model, "replay", trace=name)` replays a trace of any length.

    >>> trace = read("synth:light-2011?scale=1/1000", limit=100)
    >>> len(trace), bool((trace.issue_ns[1:] >= trace.issue_ns[:-1]).all())
    (100, True)
    """
    return Trace(**_native.read_trace(fspath(name), limit))
