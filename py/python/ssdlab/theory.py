"""Write amplification by closed forms and mean fields: NAND pages programmed for each page that the host writes.

`alpha` is the size of the log in units of the data: 1.28 for 28% of over-provisioning. Pages are written at random,
with the same rate unless shares say otherwise. An array of `alpha` gives
an array. The tests of the simulator hold it to these within 0.5%.

>>> round(fifo(1.28), 2), round(greedy(1.28, 64), 2), round(d_choices(1.28, 64, 10), 2)
(2.48, 2.4, 2.47)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import expm1
from typing import Any, Concatenate, ParamSpec, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._errors import UsageError

__all__ = ["at_random", "d_choices", "d_choices_valid", "fifo", "fifo_hot_cold", "greedy", "separated"]

_More = ParamSpec("_More")


class _Form(Protocol[_More]):
    """A form for one log, or for an array of them."""

    @overload
    def __call__(self, alpha: float, *args: _More.args, **more: _More.kwargs) -> float: ...
    @overload
    def __call__(self, alpha: NDArray[Any], *args: _More.args, **more: _More.kwargs) -> NDArray[np.float64]: ...


def _of_arrays(form: Callable[Concatenate[float, _More], float]) -> _Form[_More]:
    @wraps(form)
    def of(alpha: Any, *args: _More.args, **more: _More.kwargs) -> Any:
        if np.ndim(alpha) == 0:
            return form(alpha, *args, **more)
        found = [form(float(it), *args, **more) for it in np.ravel(alpha)]
        return np.reshape(np.array(found, dtype=float), np.shape(alpha))

    return of


@_of_arrays
def fifo(alpha: float) -> float:
    """The oldest block is the victim: `alpha / (alpha + W(-alpha e^-alpha))` with Lambert's W (Robinson 1996)."""
    return _native.write_amplification(_log(alpha))


@_of_arrays
def at_random(alpha: float) -> float:
    """Any block is the victim: `alpha / (alpha - 1)` (Van Houdt 2013, d = 1)."""
    return _log(alpha) / (alpha - 1)


@_of_arrays
def greedy(alpha: float, block_pages: int) -> float:
    """The block with the fewest valid pages is the victim (mean field; Desnoyers 2014).

    The K and x in [0, 1) with `H_b - H_K + x / K = (b - K + x) alpha / b` give `b / (b - K + x)`, where H_n is a
    harmonic number and b the number of pages in a block.
    """
    size, below = _block(block_pages), 0.0
    total = sum(1 / level for level in range(1, size + 1))
    _log(alpha)
    for level in range(1, size):
        below += 1 / level
        x = ((size - level) * alpha / size - (total - below)) / (1 / level - alpha / size)
        if 0 <= x < 1:
            return size / (size - level + x)
    # A log so large that its victims are empty.
    return 1.0


@_of_arrays
def d_choices(alpha: float, block_pages: int, d: int) -> float:
    """The one with the fewest valid pages of `d` random blocks is the victim (Van Houdt 2013).

    `F_i = F_(i+1) + (1 - F_i^d) / (w i)` from `F_(b+1) = 0`, with w such that the F_i add up to `b / alpha`, are the
    shares of blocks with at least i valid pages; the result is `b / (b - sum of F_i^d)`.
    """
    return float(block_pages / (block_pages - (d_choices_valid(alpha, block_pages, d)[1:] ** d).sum()))


def d_choices_valid(alpha: float, block_pages: int, d: int) -> NDArray[np.float64]:
    """The shares of blocks with at least 0, 1, ... valid pages under `d_choices`: the F_i of its mean field."""
    size, log = _block(block_pages), _log(alpha)
    if d < 1:
        raise UsageError(f"`d` is {d}; expected 1 or more", "usage")

    def shares(w: float) -> list[float]:
        found, following = [], 0.0
        for i in range(size, 0, -1):
            goal = following
            following = _root(lambda f: f - (1 - f**d) / (w * i) - goal, goal, 1.0)
            found.append(following)
        return found

    exponent = _root(lambda w: size / log - sum(shares(10**w)), -9.0, 9.0)
    return np.array([1.0, *reversed(shares(10**exponent))])


@_of_arrays
def fifo_hot_cold(alpha: float, hot_space: float, hot_writes: float) -> float:
    """The oldest block is the victim, and a share `hot_writes` of the writes goes to a share `hot_space` of the data.

    Hot and cold pages share all blocks. The A with `A = sum of f / (1 - exp(-alpha f / (s A)))` over both parts, whose
    shares of writes and space are f and s (Desnoyers 2014).
    """
    log, parts = _log(alpha), _parts(hot_space, hot_writes)

    def excess(waf: float) -> float:
        return waf - sum(f / -expm1(-log * f / (s * waf)) for s, f in parts)

    return _root(excess, 1.0, fifo(log) * 4)


@_of_arrays
def separated(alpha: float, hot_space: float, hot_writes: float, wa: Callable[[float], float] = fifo) -> float:
    """Hot and cold data in blocks of their own, with the division of the spare space that costs least.

    `wa` is the write amplification of each part with its own alpha: `fifo`, or greedy by
    `lambda alpha: greedy(alpha, 256)`.
    """
    spare = _log(alpha) - 1
    (hot, hot_share), (cold, cold_share) = _parts(hot_space, hot_writes)

    def cost(part: float) -> float:
        return hot_share * wa(1 + spare * part / hot) + cold_share * wa(1 + spare * (1 - part) / cold)

    # The cost has one minimum.
    low, high = 1e-6, 1 - 1e-6
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if cost(left) < cost(right) else (left, high)
    return cost((low + high) / 2)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """The place where a function that rises becomes positive."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def _log(alpha: float) -> float:
    if not alpha > 1:
        raise UsageError(f"`alpha` is {alpha}; expected more than 1, such as 1.28 for 28% of spare", "usage")
    return float(alpha)


def _block(block_pages: int) -> int:
    if block_pages < 2:
        raise UsageError(f"`block_pages` is {block_pages}; expected 2 or more", "usage")
    return int(block_pages)


def _parts(hot_space: float, hot_writes: float) -> tuple[tuple[float, float], tuple[float, float]]:
    for name, share in (("hot_space", hot_space), ("hot_writes", hot_writes)):
        if not 0 < share < 1:
            raise UsageError(f"`{name}` is {share}; expected a share between 0 and 1", "usage")
    return (float(hot_space), float(hot_writes)), (1 - float(hot_space), 1 - float(hot_writes))
