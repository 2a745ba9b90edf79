"""Values of Python as the words of target strings and settings."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from os import PathLike, fspath

import numpy as np

from ._errors import UsageError

Value = str | int | float | bool | Fraction | timedelta | PathLike[str] | np.generic
"""A value of a drive model or a setting of a test; scalars of NumPy are numbers, words or truths."""

_IN_TARGETS = frozenset("&=?#")


def word(name: str, value: object) -> str:
    """The word for a value, e.g. `1/64`, `60s`, `true`.

    >>> word("duration", timedelta(minutes=1)), word("scale", np.float64(0.5))
    ('60s', '0.5')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, timedelta):
        microseconds = value // timedelta(microseconds=1)
        return f"{microseconds}us" if microseconds % 1_000_000 else f"{microseconds // 1_000_000}s"
    if isinstance(value, PathLike):
        return str(fspath(value))
    if isinstance(value, (str, int, float)):
        return str(value)
    try:
        return str(value.__index__())  # type: ignore[attr-defined]
    except AttributeError:
        kind = type(value).__name__
        raise UsageError(f"`{name}` is a {kind}; expected text or a number", "usage") from None


def dotted(name: str) -> str:
    """The dotted name of a value: `gc__policy` stands for `gc.policy`."""
    return name.replace("__", ".")


def target_key(name: str, value: object) -> str:
    """One `key=value` of a target string."""
    text = word(name, value)
    if _IN_TARGETS & set(name + text):
        raise UsageError(f"`{name}={text}` cannot stand in a target string", "usage")
    return f"{dotted(name)}={text}"
