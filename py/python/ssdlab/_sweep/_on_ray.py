"""A sweep on the nodes of a Ray cluster, which need not share a disk."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from .. import _native
from .._cluster import connected, fetched
from .._errors import UnsupportedError
from ._work import DEATHS_MAX, Batch, Done, carry_out_all, carry_out_apart

_LOOK_S = 5.0
"""Time between two looks at the size of the cluster, which may grow meanwhile."""


class Nodes:
    """The nodes of a cluster as a place for batches; `work` is done there."""

    def __init__(
        self,
        ray: Any,
        jobs: int | None,
        keep_runs: bool,
        work: Callable[[list[str], bool, str], Done] = carry_out_apart,
    ) -> None:
        self._ray, self._jobs, self._keep_runs = ray, jobs, keep_runs
        self._looked, self._processors = 0.0, 1
        self._node_bytes = 0
        # A worker that dies has its batch repeated by Ray.
        self._remote = ray.remote(num_cpus=1, max_retries=DEATHS_MAX)(work)

    def count(self) -> int:
        """The processors of the cluster, or fewer if the caller asked for fewer."""
        if time.monotonic() - self._looked > _LOOK_S or not self._looked:
            self._looked = time.monotonic()
            self._processors = max(int(self._ray.cluster_resources().get("CPU", 1)), 1)
        return min(self._jobs or self._processors, self._processors)

    def memory_bytes(self) -> float:
        """No limit: each node has its own, and Ray keeps the account."""
        return math.inf

    def submit(self, batch: Batch) -> Any:
        """Begins a batch on a node with a free processor and enough memory."""
        self._require(batch.memory_bytes)
        remote = self._remote.options(memory=batch.memory_bytes)
        return remote.remote(batch.tasks, self._keep_runs, _native.version())

    def _require(self, memory_bytes: int) -> None:
        """Refuses a drive that no node can hold: Ray would wait for such a node without end."""
        if memory_bytes <= self._node_bytes:
            return
        nodes = [it["Resources"].get("memory", 0) for it in self._ray.nodes() if it["Alive"]]
        self._node_bytes = int(max(nodes, default=0))
        if memory_bytes > self._node_bytes:
            raise UnsupportedError(
                f"a drive of this sweep takes {memory_bytes} bytes of memory, and the largest node of the cluster"
                f" has {self._node_bytes}; start a larger one (`ray start --memory BYTES`)",
                "memory",
            )

    def wait(self, running: list[Any]) -> tuple[list[Done], list[Any]]:
        """The batches that have ended, at least one, and the others."""
        ended, others = self._ray.wait(running)
        return [fetched(self._ray, reference) for reference in ended], others


def on_ray(
    book: _native.Book, jobs: int | None, size: int | None, told: Callable[[int], None]
) -> None:
    """Tasks of Ray; run directories travel back as bytes."""
    nodes = Nodes(connected(jobs), jobs, book.runs_dir() is not None)
    carry_out_all(book, nodes, size, told)
