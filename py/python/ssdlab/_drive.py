"""Simulated drives: as models with overrides, and step by step."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from os import PathLike
from typing import Any, Literal, SupportsIndex, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._errors import UsageError
from ._html import table
from ._policy import Pace, Policy, Stream, functions
from ._words import Value, nanoseconds, target_key

KINDS = ("read", "write", "flush", "deallocate")
"""Kinds of commands, in the order of their codes."""

Time = SupportsIndex | timedelta | np.timedelta64
"""A time: a whole number of ns, or a value with a unit of its own."""

@dataclass(frozen=True, slots=True, eq=False)
class Completions:
    """Commands that have ended, in the order of their ends.

    `number` counts the commands of a drive from 0 on, in the order of their submission; times are ns on
    the drive's clock; `due_ns` is the time of `at_ns`, or that of the submission in a closed loop; `errno`
    is 0 for success.
    """

    number: NDArray[np.uint64]
    due_ns: NDArray[np.uint64]
    submitted_ns: NDArray[np.uint64]
    done_ns: NDArray[np.uint64]
    errno: NDArray[np.int32]

    @property
    def latency_ns(self) -> NDArray[np.uint64]:
        """Times from the due time to the end, in ns: with `at_ns` the wait for room in the queue counts."""
        return self.done_ns - self.due_ns

    @property
    def device_latency_ns(self) -> NDArray[np.uint64]:
        """Times from submission to end, in ns."""
        return self.done_ns - self.submitted_ns

    def __len__(self) -> int:
        return len(self.number)

    def __add__(self, later: Completions) -> Completions:
        """These commands and those of a later call: `drive.submit(...) + drive.drain()`."""
        columns = ((getattr(it, name) for it in (self, later)) for name in self.__slots__)
        return Completions(*(np.concatenate(list(column)) for column in columns))


@dataclass(frozen=True, slots=True, eq=False)
class Superblocks:
    """The superblocks of a drive over time: a row for each moment, a column for each superblock."""

    at_ns: NDArray[np.uint64]
    """The moments on the drive's clock."""
    valid_pages: NDArray[np.uint32]
    erases: NDArray[np.uint32]
    """Erases since the drive was new."""
    pages: int
    """Pages of a superblock."""

    def __len__(self) -> int:
        return len(self.at_ns)

    def distribution(self) -> NDArray[np.float64]:
        """The share of superblocks with 0, 1, ... valid pages at each moment."""
        counts = [np.bincount(row, minlength=self.pages + 1) for row in self.valid_pages]
        shares: NDArray[np.float64] = np.reshape(counts, (len(self), self.pages + 1)) / self.valid_pages.shape[1]
        return shares


class Snapshot:
    """The whole state of a drive at one moment, commands that have not ended included.

    It takes as much memory as the drive; `Drive.restore` and `Drive.clone` copy it.
    """

    __slots__ = ("_device", "target")

    def __init__(self, target: str, device: _native.Device) -> None:
        self.target = target
        """The target string of its drive."""
        self._device = device

    def __repr__(self) -> str:
        return f"<ssdlab.Snapshot of {self.target} at {self._device.now_ns:,} ns>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a snapshot stays in its process")


class Drive:
    """A drive model with changed values, and the simulated drive that it describes.

    `model` is a built-in name (`ssdlab.drives()`) or the path of a model file. `scale` is the simulated
    share of the drive, `host` a host profile; every other keyword is a value of the model, with `__`
    for the dot in its name. `settings` has such values by their dotted names.

    `policy` chooses the superblock to collect, `stream` the placement handle of data, `pace` the valid pages that move for
    each page written: functions in the place of the rules of the model (docs/guide/policy.md).

    >>> drive = Drive("samsung-840-pro-256gb", scale="1/256", seed=3, gc__policy="fifo")
    >>> drive.target
    'sim:samsung-840-pro-256gb?scale=1/256&seed=3&gc.policy=fifo'
    >>> Drive("samsung-840-pro-256gb", gc__policy="magic")
    Traceback (most recent call last):
    ...
    ssdlab._errors.UsageError: ...
    """

    def __init__(
        self,
        model: str | PathLike[str],
        *,
        scale: Value | None = None,
        seed: SupportsIndex | None = None,
        host: str | None = None,
        policy: Policy | None = None,
        stream: Stream | None = None,
        pace: Pace | None = None,
        settings: Mapping[str, Value] | None = None,
        **overrides: Value,
    ) -> None:
        name = str(model)
        keys = {"scale": _scale(scale), "seed": seed, "host": host, **(settings or {}), **overrides}
        words = [target_key(key, value) for key, value in keys.items() if value is not None]
        if "?" in name:
            raise UsageError(f"`{name}`: give the keys of a target as keywords", "usage")
        name = name.removeprefix("sim:")
        if name.endswith(".toml") and "/" not in name:
            name = f"./{name}"
        self.target: str = f"sim:{name}" + ("?" if words else "") + "&".join(words)
        """The target string, as the program takes it."""
        self.description: dict[str, Any] = json.loads(_native.describe(self.target))
        """Name, capacities, facts and the resolved figures of the model."""
        self._model = name
        self._functions = functions(policy, stream, pace)
        self._device: _native.Device | None = None
        # Two threads must not build it twice.
        self._building = threading.Lock()

    def __repr__(self) -> str:
        words = self._functions["words"]
        return f"<ssdlab.Drive {self.target}{' with ' if words else ''}{words}>"

    def _repr_html_(self) -> str:
        rows = [
            ("target", self.target),
            ("functions", self._functions["words"] or "none"),
            ("capacity", f"{self.capacity_bytes / 1e9:,.1f} GB"),
            ("NAND", f"{self.raw_bytes / 1e9:,.1f} GB"),
        ]
        return table(self.name, rows)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._functions["words"]:
            raise TypeError(f"{self!r} has functions as policies, which stay in this process")
        if self._device is not None:
            raise TypeError(
                f"{self!r} has run commands, and its state stays in this process; "
                "call clone() for a second drive, save() for a file, or send its `target`"
            )
        return _drive_of, (self.target,)

    def __copy__(self) -> Drive:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Drive:
        return self.clone()

    @property
    def name(self) -> str:
        """The name for people, with every changed value."""
        return cast(str, self.description["name"])

    @property
    def capacity_bytes(self) -> int:
        """Size of the LBA space."""
        return cast(int, self.description["capacity_bytes"])

    @property
    def raw_bytes(self) -> int:
        """Raw NAND inside."""
        return cast(int, self.description["raw_bytes"])

    @property
    def log_bytes(self) -> int:
        """NAND that holds data in steady state: over the size of the data it is the alpha of `ssdlab.theory`."""
        return cast(int, self.description["log_bytes"])

    @property
    def superblock_bytes(self) -> int:
        """Data of a superblock, which is erased as a whole: over 4096 it is the `block_pages` of `ssdlab.theory`."""
        return int(self.description["details"]["sim.superblock_bytes"])

    @property
    def queue_depth(self) -> int:
        """The most commands that the drive takes at a time."""
        return cast(int, self.description["queue_depth_max"])

    def values(self) -> list[tuple[str, str, str]]:
        """Every value of the model file with its source: name, value, source.

        >>> rows = Drive("samsung-840-pro-256gb").values()
        >>> [value for name, value, source in rows if name == "nand.channels"]
        ['8']
        """
        return [(key, value, source) for key, value, source in self._values()]

    def _values(self) -> list[list[str]]:
        return cast(list[list[str]], json.loads(_native.check_model(self._model)))

    # The drive step by step.

    @property
    def device(self) -> _native.Device:
        """The simulated drive, built at its first use."""
        with self._building:
            if self._device is None:
                self._device = _native.Device(self.target, self._functions)
            return self._device

    @property
    def now_ns(self) -> int:
        """The drive's clock."""
        return self.device.now_ns

    @property
    def outstanding(self) -> int:
        """Commands that have not ended."""
        return self.device.outstanding

    def submit(
        self,
        kind: str | ArrayLike,
        offset_bytes: ArrayLike,
        length_bytes: ArrayLike = 4096,
        *,
        at_ns: ArrayLike | None = None,
        queue_depth: int | None = None,
        data_percent: int | None = None,
        fua: bool = False,
        errors: Literal["raise", "return"] = "raise",
    ) -> Completions:
        """Issues commands in order, and returns the commands that have ended meanwhile.

        In a closed loop (without `at_ns`) a command is issued as soon as fewer than `queue_depth` are
        outstanding (default: as many as the drive takes). With `at_ns` it waits for its time as well, and
        its latency counts from then. The
        last commands stay outstanding, so that the queue stays full from one call to the next; `drain`
        waits for them.

        `kind` is a word of `KINDS`, or codes; `kind` and `length_bytes` may be one value for all.
        `data_percent` is the size of the written data after compression; without it the data does not
        shrink. `fua` forces writes to NAND. Commands outside the drive, or not aligned to its logical blocks, are a
        `UsageError` before any is issued; with `errors="return"` they end with an errno.

        >>> drive = Drive("samsung-840-pro-256gb", scale="1/256")
        >>> offsets = np.random.default_rng(7).integers(0, 1000, size=100) * 4096
        >>> ended = drive.submit("write", offsets)
        >>> len(ended) + len(drive.drain())
        100
        """
        offsets = whole("offset_bytes", offset_bytes, np.uint64)
        count = len(offsets)
        kinds = _spread(_codes(kind), count)
        lengths = _spread(whole("length_bytes", length_bytes, np.uint32), count)
        if errors not in ("raise", "return"):
            raise UsageError(f"`errors` is {errors!r}; expected 'raise' or 'return'", "usage")
        if errors == "raise" and len(kinds) == len(lengths) == count:
            self._must_take(kinds, offsets, lengths)
        ended = self.device.submit(
            kinds,
            offsets,
            lengths,
            None if at_ns is None else whole("at_ns", at_ns, np.uint64),
            _index("queue_depth", queue_depth, 1 << 32),
            _index("data_percent", data_percent, 1 << 8),
            bool(fua),
        )
        return Completions(*ended)

    def _must_take(self, kinds: NDArray[Any], offsets: NDArray[Any], lengths: NDArray[Any]) -> None:
        """Refuses the first command that the drive would refuse."""
        block_bytes = np.uint64(self.description["logical_block_bytes"])
        end = np.uint64(self.capacity_bytes)
        # The room behind an offset beyond the end would be less than none.
        room = end - np.minimum(offsets, end)
        refused = (lengths > room) | (lengths == 0) | ((offsets | lengths) % block_bytes != 0)
        refused &= kinds != KINDS.index("flush")
        if refused.any():
            first = int(refused.argmax())
            raise UsageError(
                f"command {first} is of {lengths[first]} bytes at {offsets[first]}; expected whole blocks of "
                f"{block_bytes} bytes within the {end} bytes of the drive, or errors='return'",
                "usage",
            )

    def advance(self, until_ns: Time) -> Completions:
        """Lets time pass until this moment on the drive's clock, and returns the commands that ended."""
        return Completions(*self.device.advance(_time("until_ns", until_ns)))

    def drain(self) -> Completions:
        """Waits for all outstanding commands, and returns the commands that ended."""
        return Completions(*self.device.drain())

    def fill(self, span_bytes: SupportsIndex | None = None) -> Completions:
        """Writes the drive, or its first `span_bytes`, once in order, 128 KiB at a time, and waits for the end.

        >>> drive = Drive("samsung-840-pro-256gb", scale="1/512")
        >>> filled = drive.fill()
        >>> drive.telemetry()["host_pages"] == drive.capacity_bytes // 4096
        True
        """
        span = self.capacity_bytes if span_bytes is None else _index("span_bytes", span_bytes, self.capacity_bytes + 1) or 0
        offsets = np.arange(0, span, 131_072)
        return self.submit("write", offsets, np.minimum(131_072, span - offsets)) + self.drain()

    def telemetry(self) -> dict[str, int]:
        """Counters since the drive was new, and present levels (docs/reference/formats/run-directory.md)."""
        return self.device.telemetry()

    def record(self, interval_ns: Time = 1_000_000_000) -> None:
        """From now on, records a row of telemetry for each interval; `rows` takes them."""
        self.device.telemetry_start(_time("interval_ns", interval_ns))

    def rows(self) -> dict[str, NDArray[np.uint64]]:
        """The rows of telemetry since the last call: counters of the interval, levels at its end."""
        return self.device.telemetry_take()

    def record_superblocks(self, interval_ns: Time = 1_000_000_000) -> None:
        """From now on, records valid pages and erases of every superblock for each interval; `superblocks` takes them.

        A row is of the first end of a command in its interval, or of the moment in which it begins if time passes by
        `advance`. It takes 8 bytes for each superblock.
        """
        self.device.superblocks_start(_time("interval_ns", interval_ns))

    def superblocks(self) -> Superblocks:
        """The superblocks over time since the last call.

        >>> drive = Drive("samsung-840-pro-256gb", scale="1/512")
        >>> drive.record_superblocks(timedelta(milliseconds=100))
        >>> filled, rows = drive.fill(), drive.superblocks()
        >>> rows.valid_pages.shape == rows.erases.shape == (len(rows), len(drive.valid_pages()))
        True
        >>> shares = rows.distribution()
        >>> bool(shares[0, 0] > shares[-1, 0])  # fewer and fewer are empty
        True
        """
        return Superblocks(*self.device.superblocks_take(), self.superblock_bytes // 4096)

    def waf(self, since: Mapping[str, int] | None = None) -> float:
        """Write amplification, NAND pages programmed / host pages written: since an earlier `telemetry()`, or
        since the drive was new.

        >>> drive = Drive("samsung-840-pro-256gb", scale="1/512")
        >>> filled, before = drive.fill(), drive.telemetry()
        >>> again = drive.submit("write", np.random.default_rng(7).integers(0, 100_000, size=50_000) * 4096)
        >>> drive.waf(since=before) > drive.waf() > 1
        True
        """
        totals = self.telemetry()
        first = since or dict.fromkeys(totals, 0)
        written, programmed = (totals[key] - first[key] for key in ("host_pages", "programmed_pages"))
        return programmed / written if written else float("nan")

    def valid_pages(self) -> NDArray[np.uint32]:
        """Valid pages of each superblock now."""
        return self.device.valid_pages()

    def erases(self) -> NDArray[np.uint32]:
        """Erases of each superblock since the drive was new."""
        return self.device.erases()

    def deallocate(self, offset_bytes: SupportsIndex, length_bytes: SupportsIndex) -> None:
        """Tells the drive that a range holds no data (TRIM); no command may be outstanding."""
        offset = _index("offset_bytes", offset_bytes, 1 << 64)
        length = _index("length_bytes", length_bytes, 1 << 64)
        self.device.deallocate(offset or 0, length or 0)

    def age(self, days: SupportsIndex | timedelta) -> None:
        """Lets days pass for the data, on a model whose data ages."""
        if isinstance(days, timedelta):
            if days % timedelta(days=1):
                raise UsageError(f"`days` is {days}; expected whole days", "usage")
            days = days.days
        self.device.age(_index("days", days, 1 << 32) or 0)

    def snapshot(self) -> Snapshot:
        """The state of now, for `restore`."""
        return Snapshot(self.target, self.device.branch())

    def restore(self, snapshot: Snapshot) -> None:
        """Gives the drive the state of a snapshot of the same target; its clock goes back, too.

        >>> drive = Drive("samsung-840-pro-256gb", scale="1/256")
        >>> steady = drive.snapshot()
        >>> ended = drive.submit("write", np.arange(1000) * 4096)
        >>> drive.restore(steady)
        >>> drive.now_ns
        0
        """
        if snapshot.target != self.target:
            raise UsageError(f"the snapshot is of `{snapshot.target}`, not of `{self.target}`", "usage")
        device = snapshot._device.branch()
        with self._building:
            self._device = device

    def clone(self) -> Drive:
        """A second drive in the state of this one, which goes its own way; it has the same functions as policies."""
        copy = _drive_of(self.target)
        copy._functions = self._functions
        copy._device = None if self._device is None else self._device.branch()
        return copy

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the state into a new file, for `ssdlab.load`; no command may be outstanding.

        The frame of the file is that of `ssdlab sim save`. A file is read by a package with the same simulator only.
        Functions as policies are not in it.
        """
        self.device.save(self.target, path)

    def reset(self) -> None:
        """Makes the drive new again (secure erase); its clock goes on."""
        self.device.reset()


def load(
    path: str | PathLike[str],
    *,
    policy: Policy | None = None,
    stream: Stream | None = None,
    pace: Pace | None = None,
) -> Drive:
    """The drive whose state `Drive.save` wrote. One that had functions as policies needs them again;
    the history that `stream` sees begins anew.

    >>> import tempfile
    >>> drive = Drive("samsung-840-pro-256gb", scale="1/512")
    >>> ended = drive.submit("write", np.arange(1000) * 4096), drive.drain()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     drive.save(f"{folder}/filled.state")
    ...     again = load(f"{folder}/filled.state")
    >>> again.now_ns == drive.now_ns > 0
    True
    """
    target, had = _native.saved_drive(path)
    own = {"policy": policy, "stream": stream, "pace": pace}
    missing = [word for word in had.split(", ") if had and own[word.split("=")[0]] is None]
    if missing:
        words = ", ".join(missing)
        raise UsageError(f"the drive in {path} had functions that no file holds: {words}; give them", "usage")
    drive = _drive_of(target, **own)
    drive.device.load(path)
    return drive


def _drive_of(target: str, **own: Any) -> Drive:
    """The drive of a target string."""
    name, _, keys = target.removeprefix("sim:").partition("?")
    pairs = [pair.split("=", 1) for pair in keys.split("&") if pair]
    return Drive(name, **cast(dict[str, Any], dict(pairs)), **own)


def _scale(scale: Value | None) -> Value | None:
    if isinstance(scale, (float, np.floating)) and 0 < scale <= 1:
        return Fraction(float(scale)).limit_denominator(1 << 20)
    return scale


def whole(name: str, values: ArrayLike, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Whole numbers, or times with a unit as ns, as an array of `kind`; refuses others instead of changing them."""
    given = np.atleast_1d(np.asarray(values))
    if given.dtype.kind == "m" and name.endswith("_ns"):
        given = given.astype("timedelta64[ns]").astype(np.int64)
    most = np.iinfo(kind).max
    if given.ndim != 1:
        raise UsageError(f"`{name}` has {given.ndim} dimensions; expected one", "usage")
    if given.dtype.kind not in "ui":
        raise UsageError(f"`{name}` holds {given.dtype}; expected whole numbers", "usage")
    if given.size and (int(given.min()) < 0 or int(given.max()) > most):
        worst = given.min() if int(given.min()) < 0 else given.max()
        raise UsageError(f"`{name}` holds {worst}; expected 0 to {most}", "usage")
    return np.ascontiguousarray(given, dtype=kind)


def _codes(kind: str | ArrayLike) -> NDArray[Any]:
    words: Sequence[object] = [kind] if isinstance(kind, str) else cast(Sequence[object], kind)
    if isinstance(words, (list, tuple)) and words and all(isinstance(it, str) for it in words):
        unknown = [it for it in words if it not in KINDS]
        if unknown:
            raise UsageError(f"there is no kind {unknown[0]!r}; known are {', '.join(KINDS)}")
        return np.array([KINDS.index(cast(str, it)) for it in words], dtype=np.uint8)
    return whole("kind", kind, np.uint8)


def _spread(values: NDArray[Any], count: int) -> NDArray[Any]:
    """One value for all, or the values themselves."""
    return np.repeat(values, count) if len(values) == 1 and count != 1 else values


def _time(name: str, value: Time) -> int:
    return _index(name, nanoseconds(name, value), 1 << 62) or 0


def _index(name: str, value: SupportsIndex | None, end: int) -> int | None:
    if value is None:
        return None
    try:
        number = value.__index__()
    except AttributeError:
        raise UsageError(f"`{name}` is {value!r}; expected a whole number", "usage") from None
    if not 0 <= number < end:
        raise UsageError(f"`{name}` is {number}; expected 0 to {end - 1}", "usage")
    return number
