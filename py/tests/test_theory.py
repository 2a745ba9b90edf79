"""Are the closed forms those of the literature, and does the simulator agree with them?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ssdlab
from ssdlab import theory


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (theory.fifo(1.07), 7.8172),
        (theory.fifo(1.127), 4.6173),
        (theory.at_random(1.07), 15.2857),
        (theory.greedy(1.07, 64), 7.0099),
        (theory.greedy(1.127, 512), 4.5792),
        (theory.d_choices(1.07, 64, 2), 10.2772),
        (theory.d_choices(1.07, 64, 10), 7.3230),
        (theory.d_choices(1.28, 64, 10), 2.4706),
    ],
)
def test_published_values(found: float, wanted: float) -> None:
    assert found == pytest.approx(wanted, rel=1e-3)


def test_limits() -> None:
    assert theory.d_choices(1.2, 64, 1) == pytest.approx(theory.at_random(1.2), rel=1e-3)
    assert theory.d_choices(1.2, 64, 2000) == pytest.approx(theory.greedy(1.2, 64), rel=1e-2)
    assert theory.fifo_hot_cold(1.2, 0.3, 0.3) == pytest.approx(theory.fifo(1.2), rel=1e-6)
    assert theory.separated(1.2, 0.3, 0.3) == pytest.approx(theory.fifo(1.2), rel=1e-3)
    assert theory.greedy(50, 64) == pytest.approx(1, abs=0.02)
    mixed, apart = theory.fifo_hot_cold(1.2, 0.1, 0.9), theory.separated(1.2, 0.1, 0.9)
    assert apart < theory.fifo(1.2) < mixed


def test_an_array_of_logs_has_an_array_of_values() -> None:
    logs = np.array([[1.07, 1.127], [1.28, 2.0]])
    for form in (theory.fifo, lambda alpha: theory.greedy(alpha, block_pages=64), lambda alpha: theory.separated(alpha, 0.1, 0.9)):
        found = form(logs)
        assert found.shape == (2, 2) and found[1, 0] == form(1.28) == form(np.float64(1.28))


def test_blocks_of_d_choices_hold_the_data() -> None:
    shares = theory.d_choices_valid(1.28, 64, 10)
    assert len(shares) == 65 and shares[0] == 1 and (np.diff(shares) <= 0).all()
    assert shares[1:].sum() == pytest.approx(64 / 1.28)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: theory.fifo(1.0),
        lambda: theory.greedy(float("nan"), 64),
        lambda: theory.d_choices(1.2, 64, 0),
        lambda: theory.greedy(1.2, 1),
        lambda: theory.separated(1.2, 0.0, 0.5),
    ],
)
def test_questions_without_an_answer(ask: object) -> None:
    with pytest.raises(ssdlab.UsageError, match="expected"):
        ask()  # type: ignore[operator]


def test_a_drive_that_mixes_hot_and_cold_data_is_as_theory_says() -> None:
    def even(random: np.random.Generator, pages: int) -> np.ndarray:
        return random.integers(0, pages, pages)

    def hot_and_cold(random: np.random.Generator, pages: int) -> np.ndarray:
        hot, cold = random.integers(0, pages // 10, pages), random.integers(pages // 10, pages, pages)
        return np.where(random.random(pages) < 0.9, hot, cold)

    alpha = _alpha_of(_steady_waf(even))
    assert _steady_waf(hot_and_cold) == pytest.approx(theory.fifo_hot_cold(alpha, 0.1, 0.9), rel=0.05)


def _steady_waf(draw: Callable[[np.random.Generator, int], np.ndarray]) -> float:
    """Write amplification of a drive whose firmware collects the oldest superblock."""
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/128", gc__policy="fifo", host="none")
    assert drive.valid_pages().size > 100
    pages, random = drive.capacity_bytes // 4096, np.random.default_rng(3)
    drive.submit("write", np.arange(pages) * 4096)
    for _ in range(6):
        drive.submit("write", draw(random, pages) * 4096)
    before = drive.telemetry()
    for _ in range(3):
        drive.submit("write", draw(random, pages) * 4096)
    after = drive.telemetry()
    programmed, written = (after[key] - before[key] for key in ("programmed_pages", "host_pages"))
    return programmed / written


def _alpha_of(waf: float) -> float:
    """The size of the log that has this write amplification; superblocks of the firmware are no part of it."""
    low, high = 1.001, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if theory.fifo(middle) > waf else (low, middle)
    return low
