"""Tests on simulated and real targets."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

from . import _native
from ._drive import Drive
from ._errors import Error, UsageError
from ._policy import Pace, Policy, Stream, functions
from ._progress import Observer, RunLine
from ._results import Run
from ._words import Value, word
from .traces import Trace


@dataclass(frozen=True, slots=True)
class Test:
    """A test of the suite."""

    name: str
    question: str
    writes: bool
    parameters: dict[str, tuple[str, str]]
    """Default and meaning of each parameter."""


def drives() -> list[str]:
    """The names of the built-in drive models.

    >>> "samsung-840-pro-256gb" in drives()
    True
    """
    return _native.drives()


def tests() -> dict[str, Test]:
    """The tests of the suite by name.

    >>> tests()["consistency"].parameters["duration"][0]
    '2000s'
    """
    listed = {}
    for test in json.loads(_native.tests()):
        parameters = {p["name"]: (p["default"], p["help"]) for p in test["parameters"]}
        listed[test["name"]] = Test(test["name"], test["question"], test["writes"], parameters)
    return listed


def metric_catalogue() -> list[dict[str, Any]]:
    """Every metric with its label, unit, meaning and better direction.

    >>> next(row["unit"] for row in metric_catalogue() if row["name"] == "iops_steady_mean")
    'iops'
    """
    return cast("list[dict[str, Any]]", json.loads(_native.metrics()))


def simulate(
    model: Drive | str | PathLike[str],
    test: str = "consistency",
    *,
    library: str | PathLike[str] | None = None,
    spare: Value | None = None,
    span_bytes: int | None = None,
    seed: int = 1,
    label: str | None = None,
    note: str | None = None,
    tags: Sequence[str] = (),
    progress: bool | Observer = False,
    policy: Policy | None = None,
    stream: Stream | None = None,
    pace: Pace | None = None,
    settings: Mapping[str, Value | Trace] | None = None,
    **more_settings: Value | Trace,
) -> Run:
    """Runs a test on a simulated drive.

    Parameters of the test are keywords (`duration="60s"`) or in `settings`. `spare` is the share of raw NAND
    that is left to the drive, e.g. `"25%"`. The run goes into `library`, or into a temporary one that is
    removed with the last reference to the run. `progress` shows a line on stderr, or calls a function with
    each event. `policy`, `stream` and `pace` are as for `Drive`, and come before those of the drive. A `trace`
    is a name or a `traces.Trace`.

    >>> drive = Drive("samsung-840-pro-256gb", scale="1/256")
    >>> run = simulate(drive, "consistency", duration="4s", steady_from="2s")
    >>> run.simulated, run.status
    (True, 'complete')
    >>> run["iops_steady_mean"] > 1000
    True
    """
    drive = model if isinstance(model, Drive) else Drive(model)
    own = drive._functions
    if policy or stream or pace:
        own = functions(policy or own["policy"], stream or own["stream"], pace or own["pace"])
    temporary = None
    if library is None:
        temporary = tempfile.TemporaryDirectory(prefix="ssdlab-")
        library = temporary.name
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as directory:
        return _perform(
            test,
            drive.target,
            progress,
            temporary,
            own,
            library=fspath(library),
            settings=_settings(_on_disk(settings or {}, directory), _on_disk(more_settings, directory)),
            spare=None if spare is None else word("spare", spare),
            span_bytes=span_bytes,
            seed=seed,
            label=label,
            note=note,
            tags=list(tags),
        )


def run(
    test: str,
    target: str | PathLike[str],
    *,
    erase: Sequence[str | PathLike[str]] = (),
    erase_signatures: bool = False,
    library: str | PathLike[str] = "ssdlab-runs",
    spare: Value | None = None,
    span_bytes: int | None = None,
    seed: int = 1,
    purge: str | None = None,
    workers: int = 1,
    engine: str | None = None,
    read_only: bool = False,
    facts: Sequence[str | PathLike[str]] = (),
    label: str | None = None,
    note: str | None = None,
    tags: Sequence[str] = (),
    progress: bool | Observer = True,
    settings: Mapping[str, Value] | None = None,
    **more_settings: Value,
) -> Run:
    """Runs a test on any target, with every guard of the program (docs/reference/safety.md).

    `erase` names the targets whose content may be lost: the serial of a device, the path of a file. A
    refusal is a `RefusedError`, and nothing has changed then.

    >>> run("consistency", "null:", progress=False, read_only=True)
    Traceback (most recent call last):
    ...
    ssdlab._errors.RefusedError: ...
    """
    return _perform(
        test,
        fspath(target),
        progress,
        None,
        functions(None, None, None),
        library=fspath(library),
        settings=_settings(settings, more_settings),
        spare=None if spare is None else word("spare", spare),
        span_bytes=span_bytes,
        seed=seed,
        purge=purge,
        workers=workers,
        engine=engine,
        erase=confirmations(erase),
        erase_signatures=erase_signatures,
        read_only=read_only,
        facts=[fspath(file) for file in facts],
        label=label,
        note=note,
        tags=list(tags),
    )


def confirmations(erase: Sequence[str | PathLike[str]]) -> list[str]:
    """The names of the targets whose content may be lost; a single text would be a list of letters."""
    if isinstance(erase, (str, PathLike)):
        raise UsageError(f"`erase` is the text {str(erase)!r}; expected a list of them", "usage")
    return [fspath(name) for name in erase]


_DEFAULTS: dict[str, Any] = {
    "purge": None,
    "workers": 1,
    "engine": None,
    "erase": [],
    "erase_signatures": False,
    "read_only": False,
    "facts": [],
}


def _perform(
    test: str,
    target: str,
    progress: bool | Observer,
    keep: object,
    own: Mapping[str, Any],
    **call: Any,
) -> Run:
    line = RunLine(f"{test} on {target}") if progress is True else None
    observer = line or (progress if callable(progress) else None)
    try:
        path, failure = _native.perform(
            {**_DEFAULTS, "test": test, "target": target, **call}, observer, own
        )
    except (TypeError, OverflowError) as error:
        # A value of the wrong type, named by the conversion; the work itself raises neither.
        if isinstance(error, Error) or error.__traceback__ is None or observer is not None or own["words"]:
            raise
        raise UsageError(str(error), "usage") from error
    finally:
        if line is not None:
            line.close()
    done = Run(path, keep=keep)
    if failure is not None:
        if isinstance(failure, Error):
            failure.run = done
        raise failure
    return done


def _on_disk(settings: Mapping[str, Value | Trace], directory: str) -> dict[str, Value]:
    """The settings with the path of a new file in place of a trace."""
    named: dict[str, Value] = {}
    for name, value in settings.items():
        if isinstance(value, Trace):
            path = Path(directory, "arrays.trace.parquet")
            value.save(path)
            named[name] = path
        else:
            named[name] = value
    return named


def _settings(*parts: Mapping[str, Value] | None) -> list[tuple[str, str]]:
    return [(name, word(name, value)) for part in parts for name, value in (part or {}).items()]
