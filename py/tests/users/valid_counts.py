"""How do the valid pages of superblocks spread from the fill on, and is the steady state that of the mean field?"""

from __future__ import annotations

from datetime import timedelta

import numpy as np

import ssdlab
from ssdlab import theory

CHOICES, SHARE = 5, 0.85


def main() -> dict[str, float]:
    drive = ssdlab.Drive(
        "samsung-840-pro-256gb", scale="1/256", host="none", gc__policy="d-choices", gc__candidates=CHOICES
    )
    pages, rng = int(drive.capacity_bytes * SHARE) // 4096, np.random.default_rng(1)
    drive.fill(pages * 4096)
    drive.record_superblocks(timedelta(seconds=1))
    drive.submit("write", rng.integers(pages, size=12 * pages) * 4096)
    rows = drive.superblocks()
    # Empty superblocks are erased ones, which are no part of the log.
    in_log = rows.valid_pages.shape[1] * drive.superblock_bytes / drive.log_bytes
    at_least = in_log * rows.distribution()[:, ::-1].cumsum(axis=1)[:, ::-1]
    alpha = drive.log_bytes / (pages * 4096)
    expected = theory.d_choices_valid(alpha, rows.pages, CHOICES)
    off = abs(at_least - expected)[:, 1:].max(axis=1)
    steady = abs(at_least[len(rows) // 2 :].mean(axis=0) - expected)[1:]
    return {
        "rows": float(len(rows)),
        "superblocks": float(rows.valid_pages.shape[1]),
        "largest difference from theory, first row": float(off[0]),
        "largest difference from theory, last row": float(off[-1]),
        "largest difference from theory, mean of the second half": float(steady.max()),
        "valid pages, largest difference from the data": float(abs(rows.valid_pages.sum(axis=1) / pages - 1).max()),
        "erases in the rows": float(rows.erases[-1].sum() - rows.erases[0].sum()),
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:60} {value:,.4f}")
