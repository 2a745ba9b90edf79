"""Does an own choice of victims gain if a tenth of the data takes nine tenths of the writes?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ssdlab
from ssdlab import theory

HOT_SPACE, HOT_WRITES, SHARE = 0.1, 0.9, 0.85


def cost_benefit(blocks: ssdlab.Blocks) -> int:
    """Free space times age, over the cost of a read and a write (Rosenblum and Ousterhout 1992)."""
    used = blocks.valid / blocks.pages
    return int(((1 - used) * blocks.age / (2 * used + 1e-9)).argmax())


def skewed(rng: np.random.Generator, pages: int, count: int) -> NDArray[np.int64]:
    """Offsets of hot and cold pages."""
    hot = int(pages * HOT_SPACE)
    is_hot = rng.random(count) < HOT_WRITES
    return np.where(is_hot, rng.integers(hot, size=count), rng.integers(hot, pages, size=count)) * 4096


def main() -> dict[str, float]:
    policies: dict[str, ssdlab.Policy] = {
        "cost-benefit": cost_benefit,
        "greedy": lambda blocks: int(blocks.valid.argmin()),
        "fifo": lambda blocks: int(blocks.age.argmax()),
    }
    figures = {}
    for name, policy in policies.items():
        drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", host="none", policy=policy)
        pages, rng = int(drive.capacity_bytes * SHARE) // 4096, np.random.default_rng(1)
        drive.fill(pages * 4096)
        drive.submit("write", skewed(rng, pages, 8 * pages))
        steady = drive.telemetry()
        drive.submit("write", skewed(rng, pages, 4 * pages))
        figures[name] = drive.waf(since=steady)
    alpha = drive.log_bytes / (pages * 4096)
    figures["theory of fifo"] = theory.fifo_hot_cold(alpha, HOT_SPACE, HOT_WRITES)
    figures["theory of separation"] = theory.separated(alpha, HOT_SPACE, HOT_WRITES)
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:30} {value:.3f}")
