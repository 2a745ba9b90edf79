"""A table with intervals: write amplification over spare area and policy, three runs of each."""

from __future__ import annotations

import tempfile

import numpy as np

import ssdlab
from ssdlab import theory

SPEC = {
    "repeat": 3,
    "metrics": ["waf_steady", "iops_steady_mean"],
    "fixed": {
        "drive": "samsung-840-pro-256gb",
        "scale": "1/512",
        "host": "none",
        "set.duration": "40s",
        "set.steady_from": "20s",
    },
    "vary": {"spare": ["12%", "20%", "30%"], "gc.policy": ["greedy", "fifo"]},
}


def main() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        grid = ssdlab.sweep(SPEC, folder).to_xarray()
    waf = grid["waf_steady"]
    half_width = 4.30 * waf.std("repeat", ddof=1) / np.sqrt(waf.sizes["repeat"])  # Student's t, two degrees of freedom
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512")
    figures = {}
    for spare in waf["spare"].values:
        alpha = drive.log_bytes / (drive.raw_bytes * (1 - float(spare[:-1]) / 100))
        expected = {"greedy": theory.greedy(alpha, drive.superblock_bytes // 4096), "fifo": theory.fifo(alpha)}
        for policy in waf["gc.policy"].values:
            cell = {"spare": spare, "gc.policy": policy}
            figures[f"{policy} {spare}"] = float(waf.mean("repeat").sel(cell))
            figures[f"half width of {policy} {spare}"] = float(half_width.sel(cell))
            figures[f"theory of {policy} {spare}"] = expected[policy]
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:40} {value:.4f}")
