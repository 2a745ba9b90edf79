"""Does static wear leveling keep erases together if three quarters of the data never change, and at what price?"""

from __future__ import annotations

import numpy as np

import ssdlab
from ssdlab import theory

SPREAD_MAX = 10
LEVELINGS: dict[str, dict[str, str | int]] = {
    "none": {},
    "dynamic": {"wear_leveling.allocation": "least-worn", "wear_leveling.spread_max": 0},
    "static": {"wear_leveling.allocation": "least-worn", "wear_leveling.spread_max": SPREAD_MAX},
}


def main() -> dict[str, float]:
    figures: dict[str, float] = {}
    for name, keys in LEVELINGS.items():
        drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", host="none", settings=keys)
        pages, rng = drive.capacity_bytes // 4096, np.random.default_rng(1)
        drive.fill(pages * 4096)
        filled = drive.telemetry()
        for _ in range(12):
            drive.submit("write", rng.integers(pages // 4, size=pages) * 4096)
        erases = drive.erases()
        histogram = np.bincount(erases)
        figures |= {
            f"{name}: spread": float(erases.max() - erases.min()),
            f"{name}: superblocks never erased": float(histogram[0]),
            f"{name}: erases": float(erases.sum()),
            f"{name}: erases by the counters": float(drive.telemetry()["erased_superblocks"]),
            f"{name}: WAF": drive.waf(since=filled),
        }
    hot_pages, cold_pages = pages // 4, pages - pages // 4
    alpha = (drive.log_bytes / 4096 - cold_pages) / hot_pages
    figures["theory of the WAF without"] = theory.greedy(alpha, drive.superblock_bytes // 4096)
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:40} {value:,.2f}")
