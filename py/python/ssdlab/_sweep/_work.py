"""The work of a worker: tasks in, outcomes out, and the run directories if they are kept."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .. import _native
from .._cluster import require_version
from .._parcel import pack, unpack

DEATHS_MAX = 3
"""Deaths of workers without an outcome between, after which a sweep gives up."""

_BATCH_S = 1.0
"""The length of a batch whose size is not given: long beside its overhead, short beside a sweep."""
_BATCH_MAX = 1000


@dataclass(slots=True)
class Done:
    """A batch that has ended."""

    outcomes: list[str]
    runs: list[bytes]
    """The run directory of each outcome, or empty if they are not kept or lie in their place already."""
    seconds: float


def carry_out(tasks: list[str], runs: str | None, version: str) -> Done:
    """Carries out tasks, one after the other; their run directories go into `runs`."""
    require_version(version, "a worker")
    started = time.monotonic()
    outcomes = [_native.carry_out_task(task, runs) for task in tasks]
    return Done(outcomes, [], time.monotonic() - started)


def carry_out_apart(tasks: list[str], keep_runs: bool, version: str) -> Done:
    """Carries out tasks on a machine that need not see the output: run directories return as bytes."""
    if not keep_runs:
        return carry_out(tasks, None, version)
    started = time.monotonic()
    outcomes, runs = [], []
    for task in tasks:
        with tempfile.TemporaryDirectory(prefix="ssdlab-") as place:
            outcomes += carry_out([task], place, version).outcomes
            runs.append(pack(place))
    return Done(outcomes, runs, time.monotonic() - started)


def _note(book: _native.Book, done: Done) -> int:
    """Notes the outcomes of a batch, each after its run directory; returns their number."""
    place = book.runs_dir()
    for index, outcome in enumerate(done.outcomes):
        if done.runs and place is not None:
            unpack(done.runs[index], Path(place))
        book.note(outcome)
    return len(done.outcomes)


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks that a worker carries out one after the other."""

    tasks: list[str]
    memory_bytes: int
    """The most memory that one of them takes."""


class Batches:
    """The tasks of a round in batches, of a given size or as many as last about a second."""

    def __init__(self, book: _native.Book, size: int | None, workers: int) -> None:
        self._book = book
        self._numbers = book.pending()
        self._at = 0
        self._size = size
        self._workers = workers
        self._runs = 0
        self._seconds = 0.0

    def learn(self, done: Done) -> None:
        """Takes the time of a batch into account."""
        self._runs += len(done.outcomes)
        self._seconds += done.seconds

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        numbers = self._numbers[self._at : self._at + self._next_size()]
        if not numbers:
            raise StopIteration
        self._at += len(numbers)
        tasks = [self._book.task(number) for number in numbers]
        return Batch(tasks, self._book.memory_bytes(numbers))

    def _next_size(self) -> int:
        if self._size is not None:
            return self._size
        if not self._runs:
            return 1
        # At the end the batches become small, so that all workers end together.
        share = (len(self._numbers) - self._at) // (2 * self._workers)
        mean = max(self._seconds / self._runs, 1e-6)
        return max(1, min(int(_BATCH_S / mean), share, _BATCH_MAX))


class Workers(Protocol):
    """A place for batches."""

    def count(self) -> int:
        """The number of batches at a time."""

    def memory_bytes(self) -> float:
        """Memory for all batches at a time; infinite if `submit` keeps the account."""

    def submit(self, batch: Batch) -> Any:
        """Begins a batch; returns its handle."""

    def wait(self, running: list[Any]) -> tuple[list[Done], list[Any]]:
        """Waits for at least one batch; returns those that have ended, and the handles of the others."""


def carry_out_all(
    book: _native.Book, workers: Workers, size: int | None, told: Callable[[int], None]
) -> None:
    """Carries out every task without an outcome, one round after the other; `told` gets the number of
    outcomes that each batch adds."""
    while book.pending():
        batches = Batches(book, size, workers.count())
        waiting = next(batches, None)
        running: dict[Any, int] = {}
        while waiting or running:
            # Two batches for each worker: enough to keep it busy, little to lose.
            while waiting and len(running) < 2 * workers.count() and _fits(waiting, running, workers):
                running[workers.submit(waiting)] = waiting.memory_bytes
                waiting = next(batches, None)
            ended, others = workers.wait(list(running))
            running = {handle: running[handle] for handle in others}
            for done in ended:
                batches.learn(done)
                told(_note(book, done))


def _fits(batch: Batch, running: dict[Any, int], workers: Workers) -> bool:
    """Whether a batch has its memory beside those that are running; alone it always begins."""
    taken = sum(running.values()) + batch.memory_bytes
    return not running or taken <= workers.memory_bytes()
