"""A sweep on processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from .. import _native
from .._errors import DeviceError
from ._work import DEATHS_MAX, Batch, Done, carry_out, carry_out_all


class _Pool:
    def __init__(self, jobs: int, runs: str | None) -> None:
        self._jobs, self._runs = jobs, runs
        self._memory_bytes = _native.free_memory_bytes()
        self._pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))

    def count(self) -> int:
        return self._jobs

    def memory_bytes(self) -> float:
        return self._memory_bytes

    def submit(self, batch: Batch) -> Future[Done]:
        return self._pool.submit(carry_out, batch.tasks, self._runs, _native.version())

    def wait(self, running: list[Future[Done]]) -> tuple[list[Done], list[Future[Done]]]:
        ended, others = wait(running, return_when=FIRST_COMPLETED)
        return [future.result() for future in ended], list(others)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def processes(
    book: _native.Book, jobs: int, size: int | None, told: Callable[[int], None]
) -> None:
    """A pool of processes; the death of one breaks the pool, and another one does the rest."""
    noted = deaths = 0

    def counted(count: int) -> None:
        nonlocal noted
        noted += count
        told(count)

    while book.pending():
        before, pool = noted, _Pool(jobs, book.runs_dir())
        try:
            carry_out_all(book, pool, size, counted)
        except BrokenProcessPool as error:
            deaths = deaths + 1 if noted == before else 0
            if deaths >= DEATHS_MAX:
                message = f"the workers died {deaths} times without an outcome: {error}"
                raise DeviceError(message, "worker") from error
        finally:
            pool.close()
