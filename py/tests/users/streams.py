"""Do streams by update frequency reach what theory promises for hot and cold data in blocks of their own?

Apart from each other, hot and cold data need a choice of victims that leaves hot blocks more time: greedy takes the
same number of valid pages from both, and costs as much as without any skew.
"""

from __future__ import annotations

import numpy as np
from cost_benefit import HOT_SPACE, HOT_WRITES, SHARE, cost_benefit, skewed
from numpy.typing import NDArray

import ssdlab
from ssdlab import theory


def by_interval(writes: ssdlab.Writes) -> NDArray[np.bool_]:
    """Stream 1 for pages that came back soon: hot ones do after 11% of the data on average, cold ones after 900%."""
    return (writes.interval > 0) & (writes.interval < 100_000)


def waf(stream: ssdlab.Stream | None, policy: ssdlab.Policy | None) -> tuple[float, ssdlab.Drive]:
    """Write amplification in steady state, and the drive."""
    drive = ssdlab.Drive(
        "samsung-840-pro-256gb", scale="1/512", host="none", policy=policy, stream=stream,
        interface__kind="nvme", interface__placement_handles=2, gc__handle_isolation="persistent",
    )  # fmt: skip
    pages, rng = int(drive.capacity_bytes * SHARE) // 4096, np.random.default_rng(1)
    drive.fill(pages * 4096)
    drive.submit("write", skewed(rng, pages, 8 * pages))
    steady = drive.telemetry()
    drive.submit("write", skewed(rng, pages, 4 * pages))
    return drive.waf(since=steady), drive


def main() -> dict[str, float]:
    one_stream, drive = waf(None, None)
    alpha, block_pages = drive.log_bytes / (drive.capacity_bytes * SHARE), drive.superblock_bytes // 4096

    def greedy(alpha: float) -> float:
        return theory.greedy(alpha, block_pages)

    return {
        "one stream": one_stream,
        "streams": waf(by_interval, None)[0],
        "streams and cost-benefit": waf(by_interval, cost_benefit)[0],
        "theory without skew": greedy(alpha),
        "theory of separation": theory.separated(alpha, HOT_SPACE, HOT_WRITES, greedy),
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:30} {value:.3f}")
