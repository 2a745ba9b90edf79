"""The interval of write amplification over a hundred futures of one steady state."""

from __future__ import annotations

import numpy as np

import ssdlab
from ssdlab import theory

SHARE, BRANCHES = 0.85, 100


def main() -> dict[str, float]:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512", host="none")
    pages, rng = int(drive.capacity_bytes * SHARE) // 4096, np.random.default_rng(1)
    drive.fill(pages * 4096)
    drive.submit("write", rng.integers(pages, size=8 * pages) * 4096)
    steady, before = drive.snapshot(), drive.telemetry()

    found = []
    for future in range(BRANCHES):
        drive.restore(steady)
        offsets = np.random.default_rng(1000 + future).integers(pages, size=pages // 4) * 4096
        drive.submit("write", offsets)
        found.append(drive.waf(since=before))

    tens = np.reshape(found, (10, 10))
    half_widths = 2.26 * tens.std(axis=1, ddof=1) / np.sqrt(10)  # Student's t, nine degrees of freedom
    mean = float(np.mean(found))
    return {
        "mean": mean,
        "half width": float(1.98 * np.std(found, ddof=1) / np.sqrt(BRANCHES)),
        "intervals of ten that hold the mean": float((abs(tens.mean(axis=1) - mean) < half_widths).sum()),
        "theory": theory.greedy(drive.log_bytes / (pages * 4096), drive.superblock_bytes // 4096),
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:40} {value:.4f}")
