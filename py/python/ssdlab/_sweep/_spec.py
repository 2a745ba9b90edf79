"""The description of a sweep as TOML text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import UsageError
from .._words import word


def spec_text(spec: str | PathLike[str] | Mapping[str, Any]) -> str:
    """The TOML text of a sweep."""
    if isinstance(spec, Mapping):
        tables = [name for name, value in spec.items() if isinstance(value, Mapping)]
        top = [f"{name} = {_toml(name, value)}" for name, value in spec.items() if name not in tables]
        for table in tables:
            rows = spec[table].items()
            top += [f"[{table}]", *(f"{json.dumps(name)} = {_toml(name, it)}" for name, it in rows)]
        return "\n".join(top) + "\n"
    if isinstance(spec, str) and "\n" in spec:
        return spec
    try:
        return Path(spec).read_text()
    except (OSError, ValueError) as error:
        raise UsageError(f"sweep `{spec}` cannot be read: {error}", "usage") from error


def _toml(name: str, value: object) -> str:
    """A value of this name in TOML."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(str(key))} = {_toml(name, it)}" for key, it in value.items())
        return "{ " + pairs + " }"
    if isinstance(value, (timedelta, np.timedelta64)):
        text = word(name, value)
        return text if text.isdigit() else json.dumps(text)
    if isinstance(value, (list, tuple, range)) or isinstance(value, np.ndarray) and value.ndim:
        return "[" + ", ".join(_toml(name, it) for it in value) + "]"
    if isinstance(value, (np.ndarray, np.generic)):
        return _toml(name, value.item())
    if isinstance(value, (str, bool, int)):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (Fraction, PathLike)):
        return json.dumps(word(name, value))
    raise UsageError(f"{value!r} cannot stand in a sweep; expected texts, numbers, lists", "usage")
