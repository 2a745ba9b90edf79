"""A trial of functions as policies: do the invariants of a drive hold with them?"""

from __future__ import annotations

import hashlib
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._drive import Drive
from ._policy import Pace, Policy, Stream

_SMALL = "samsung-840-pro-256gb"
_HANDLES = {"interface__kind": "nvme", "interface__placement_handles": 4}

_DRIVES: dict[str, dict[str, Any]] = {
    "a small drive": {},
    "a drive with little spare": {"nand__blocks_per_plane": 3960},
    "a drive whose victims set the pace": {"gc__pacing": "token"},
    "a drive with groups of dies": {"nand__die_groups": 2, "gc__victims": "per-group"},
    "a drive with placement handles": {**_HANDLES},
    "a drive that keeps handles apart": {**_HANDLES, "gc__handle_isolation": "persistent"},
}

_ROUNDS = 12
_ROUND_WRITES = 8_000


def check_policy(
    policy: Policy | None = None,
    *,
    stream: Stream | None = None,
    pace: Pace | None = None,
    seed: int = 1,
) -> list[str]:
    """Runs functions as policies on small drives of several kinds; returns what broke, in words, or an empty list.

    Each drive is filled, overwritten at random and by a hot part, and partly deallocated. After each round the books of
    the drive must balance, and each page must hold data if and only if a second account says so. The answers must be
    usable, and the same commands must give the same drive again: a policy with a state is an object with `__call__`,
    which is copied for each drive. Losses of power are not tried.

    >>> check_policy(lambda blocks: blocks.valid.argmin())
    []
    >>> check_policy(lambda blocks: len(blocks))[0]
    'a small drive: the policy chose victim ...'
    """
    broken = []
    for name, values in _DRIVES.items():
        if (stream is None) == ("interface__placement_handles" in values):
            continue
        # State that a policy keeps in an object is new in each life.
        (fault, state), again = (
            _live(
                Drive(
                    _SMALL,
                    scale="1/1024",
                    policy=deepcopy(policy),
                    stream=deepcopy(stream),
                    pace=deepcopy(pace),
                    **values,
                ),
                seed,
            )
            for _ in range(2)
        )
        if fault is None and again != (None, state):
            fault = "the same commands give another drive the second time: the policy is not deterministic"
        if fault is not None:
            broken.append(f"{name}: {fault}")
    return broken


def _live(drive: Drive, seed: int) -> tuple[str | None, bytes]:
    """A life of a drive: what broke in it, and a hash of its last state."""
    rng = np.random.default_rng(seed)
    pages = drive.capacity_bytes // 4096
    held = np.zeros(pages, dtype=np.uint8)
    try:
        drive.fill()
        held[:] = 1
        for number in range(_ROUNDS):
            written = _addresses(rng, pages, number)
            drive.submit("write", written * 4096)
            drive.drain()
            held[written] = 1
            if (words := drive.device.broken(held)) is not None:
                return words, b""
            first, count = int(rng.integers(0, pages - 64)), int(rng.integers(1, 64))
            drive.deallocate(first * 4096, count * 4096)
            held[first : first + count] = 0
    except Exception as error:
        return f"{error}", b""
    state = hashlib.sha256(repr((drive.telemetry(), drive.now_ns)).encode())
    state.update(drive.valid_pages().tobytes())
    return None, state.digest()


def _addresses(rng: np.random.Generator, pages: int, number: int) -> NDArray[np.int64]:
    """Pages of a round: all at random, or every second round most of them in a tenth."""
    part = pages // 10 if number % 2 else pages
    return np.where(
        rng.random(_ROUND_WRITES) < 0.9,
        rng.integers(0, part, size=_ROUND_WRITES),
        rng.integers(0, pages, size=_ROUND_WRITES),
    )
