"""How many random reads does a drive serve at each queue depth, and which part of it is the limit?

The reads circulate between the processor, the dies, the channels and the link. Mean-value analysis (Reiser and
Lavenberg 1980) has the rate for exponential times of service, which is less than that for constant ones; no rate
exceeds that without waiting, or that of the busiest part.
"""

from __future__ import annotations

import numpy as np

import ssdlab

DEPTHS = (1, 2, 4, 8, 16, 32)


def main() -> dict[str, float]:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", host="none")
    text = {name: value for name, value, _ in drive.values()}
    channels = int(text["nand.channels"])
    dies = channels * int(text["nand.dies_per_channel"])
    demands_ns = np.array(
        [float(text["controller.read_command_ns"]), 4096e9 / float(text["interface.link_bytes_per_s"])]
        + [float(text["nand.read_ns"]) / dies] * dies
        + [4096e9 / float(text["nand.channel_bytes_per_s"]) / channels] * channels
    )
    drive.fill()
    drive.advance(drive.now_ns + 10**9)
    waiting, rates = np.zeros_like(demands_ns), [0.0]
    for depth in range(1, max(DEPTHS) + 1):
        stay_ns = demands_ns * (1 + waiting)
        rates.append(depth * 1e9 / float(stay_ns.sum()))
        waiting = rates[-1] / 1e9 * stay_ns
    figures = {}
    for depth in DEPTHS:
        offsets = np.random.default_rng(depth).integers(drive.capacity_bytes // 4096, size=20_000) * 4096
        begun_ns = drive.now_ns
        reads = drive.submit("read", offsets, queue_depth=depth) + drive.drain()
        figures[f"IOPS at {depth}"] = len(reads) * 1e9 / (drive.now_ns - begun_ns)
        figures[f"Little at {depth}"] = depth * 1e9 / float(reads.latency_ns.mean())
        figures[f"least at {depth}"] = rates[depth]
        figures[f"most at {depth}"] = 1e9 * min(depth / float(demands_ns.sum()), 1 / float(demands_ns.max()))
    return figures


if __name__ == "__main__":
    for name, figure in main().items():
        print(f"{name:30} {figure:,.0f}")
