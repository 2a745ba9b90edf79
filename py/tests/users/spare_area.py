"""How does write amplification fall with spare area, if firmware collects greedily or in the order of writing?"""

from __future__ import annotations

import numpy as np

import ssdlab
from ssdlab import theory

SHARES = (0.75, 0.85, 0.95)
"""Shares of the drive that the host writes."""


def written(policy: str, share: float) -> tuple[float, ssdlab.Drive]:
    """Write amplification of random writes in steady state, and the drive."""
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", host="none", gc__policy=policy)
    pages, rng = int(drive.capacity_bytes * share) // 4096, np.random.default_rng(1)
    drive.fill(pages * 4096)
    drive.submit("write", rng.integers(pages, size=6 * pages) * 4096)
    steady = drive.telemetry()
    drive.submit("write", rng.integers(pages, size=4 * pages) * 4096)
    return drive.waf(since=steady), drive


def main() -> dict[str, float]:
    figures = {}
    for share in SHARES:
        for policy in ("greedy", "fifo"):
            figures[f"{policy} {share:.0%}"], drive = written(policy, share)
        alpha = drive.log_bytes / (drive.capacity_bytes * share)
        figures[f"theory of greedy {share:.0%}"] = theory.greedy(alpha, drive.superblock_bytes // 4096)
        figures[f"theory of fifo {share:.0%}"] = theory.fifo(alpha)
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:30} {value:.3f}")
