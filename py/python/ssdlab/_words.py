"""Values of Python as the words of target strings and settings."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from os import PathLike, fspath
from typing import SupportsIndex

import numpy as np

from ._errors import UsageError

Value = str | int | float | bool | Fraction | timedelta | PathLike[str] | np.generic
"""A value of a drive model or a setting of a test; scalars of NumPy are numbers, words, truths or times."""

_IN_TARGETS = frozenset("&=?#")


def word(name: str, value: object) -> str:
    """The word for a value, e.g. `1/64`, `60s`, `true`.

    >>> word("duration", timedelta(minutes=1)), word("program_ns", timedelta(milliseconds=1)), word("scale", np.float64(0.5))
    ('60s', '1000000', '0.5')
    """
    if isinstance(value, (timedelta, np.timedelta64)):
        # A name with the unit takes a number, any other a time with its unit.
        time_ns = nanoseconds(name, value)
        if name.endswith("_ns"):
            return str(time_ns)
        return f"{time_ns}ns" if time_ns % 1_000_000_000 else f"{time_ns // 1_000_000_000}s"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, PathLike):
        return str(fspath(value))
    if isinstance(value, (str, int, float)):
        return str(value)
    try:
        return str(value.__index__())  # type: ignore[attr-defined]
    except AttributeError:
        kind = type(value).__name__
        raise UsageError(f"`{name}` is a {kind}; expected text or a number", "usage") from None


def nanoseconds(name: str, value: timedelta | np.timedelta64 | SupportsIndex) -> int:
    """A time in ns, which a plain number is already.

    >>> nanoseconds("until_ns", timedelta(seconds=1)), nanoseconds("until_ns", np.timedelta64(2, "ms"))
    (1000000000, 2000000)
    """
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1) * 1000
    if isinstance(value, np.timedelta64):
        if np.isnat(value) or np.datetime_data(value.dtype)[0] == "generic":
            raise UsageError(f"`{name}` is {value!r}; expected a time with a unit", "usage")
        return int(value.astype("timedelta64[ns]").astype(np.int64))
    try:
        return value.__index__()
    except AttributeError:
        raise UsageError(f"`{name}` is {value!r}; expected a whole number of ns or a time", "usage") from None


def dotted(name: str) -> str:
    """The dotted name of a value: `gc__policy` stands for `gc.policy`."""
    return name.replace("__", ".")


def target_key(name: str, value: object) -> str:
    """One `key=value` of a target string."""
    text = word(name, value)
    if _IN_TARGETS & set(name + text):
        raise UsageError(f"`{name}={text}` cannot stand in a target string", "usage")
    return f"{dotted(name)}={text}"
