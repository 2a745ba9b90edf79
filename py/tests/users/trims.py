"""How much spare area is a share of TRIM among the commands worth?

A page holds data if its last command was a write. With a share q of deallocations, each of a random page, the
drive holds 1 - q of the span, and random writes see the log over that (compare Frankie et al. 2012).
"""

from __future__ import annotations

import numpy as np

import ssdlab
from ssdlab import theory

SHARES = (0.0, 0.1, 0.2, 0.4)
WRITE, DEALLOCATE = ssdlab.KINDS.index("write"), ssdlab.KINDS.index("deallocate")


def main() -> dict[str, float]:
    figures = {}
    for share in SHARES:
        drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", host="none")
        pages, rng = int(drive.capacity_bytes * 0.95) // 4096, np.random.default_rng(1)
        drive.fill(pages * 4096)
        for part in (8, 4):
            before = drive.telemetry()
            kinds = np.where(rng.random(part * pages) < share, DEALLOCATE, WRITE)
            drive.submit(kinds, rng.integers(pages, size=part * pages) * 4096)
        figures[f"{share:.0%} TRIM"] = drive.waf(since=before)
        figures[f"valid at {share:.0%} TRIM"] = float(drive.valid_pages().sum()) / pages
        alpha = drive.log_bytes / (pages * 4096 * (1 - share))
        figures[f"theory of {share:.0%} TRIM"] = theory.greedy(alpha, drive.superblock_bytes // 4096)
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:50} {value:.3f}")
