"""Functions of Python as policies of a simulated drive."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import UsageError
from ._native import Blocks, Level, Writes

Policy = Callable[[Blocks], SupportsIndex]
"""A choice of victims: it gets the candidates and returns the index of one in their arrays."""

Stream = Callable[[Writes], ArrayLike]
"""A choice of streams: it gets the pages written since the last call and returns the stream of the next write of each."""

Pace = Callable[[Level], SupportsFloat]
"""A pace: it gets the fill level and returns the valid pages to move for each page that the host writes."""


def functions(policy: Policy | None, stream: Stream | None, pace: Pace | None) -> dict[str, Any]:
    """The functions for the compiled part, with their names."""
    given = {"policy": policy, "stream": stream, "pace": pace}
    for name, function in given.items():
        if function is not None and not callable(function):
            raise UsageError(f"`{name}` is {function!r}; expected a function", "usage")
    words = [f"{name}={_name(it)}" for name, it in given.items() if it is not None]
    return {"words": ", ".join(words), **given}


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def streams(answer: ArrayLike) -> NDArray[np.uint8]:
    """The answer of a choice of streams as bytes; the compiled part calls this."""
    given = np.asarray(answer)
    if given.ndim != 1 or given.dtype.kind not in "uib":
        words = f"an array of {given.dtype} with {given.ndim} dimensions"
        raise UsageError(f"the policy returned {words}; expected the number of a stream for each page")
    if given.size and not 0 <= int(given.min()) <= int(given.max()) <= 255:
        worst = given.min() if given.min() < 0 else given.max()
        raise UsageError(f"the policy chose stream {worst}; expected 0 or more", "usage")
    return given.astype(np.uint8)


def interrupt(thread: int) -> None:
    """Ends a function in another thread; the compiled part calls this after Ctrl-C."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
