"""How long does a read take beside writes, and how many reads find their die at work?

Poisson arrivals see time averages: the share of reads that find a die at a program is the share of time in which it
programs. What is left of that program is anything up to the whole, and half of it on average. The processor and
the link, which every write occupies for a moment, delay reads likewise.
"""

from __future__ import annotations

import numpy as np

import ssdlab

WRITES_PER_S = (0, 4_000, 8_000, 16_000)
READS, READS_PER_S = 40_000, 2_000
VALUES = (
    "nand.channels nand.dies_per_channel nand.planes nand.page_bytes nand.read_ns nand.program_ns "
    "nand.channel_bytes_per_s controller.write_command_ns interface.link_write_bytes_per_s"
).split()
READ, WRITE = ssdlab.KINDS.index("read"), ssdlab.KINDS.index("write")


def main() -> dict[str, float]:
    figures: dict[str, float] = {}
    alone_us = 0.0
    for writes_per_s in WRITES_PER_S:
        drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/64", host="none")
        value = {name: float(text) for name, text, _ in drive.values() if name in VALUES}
        dies = value["nand.channels"] * value["nand.dies_per_channel"]
        half, rng = drive.capacity_bytes // 8192, np.random.default_rng(1)
        drive.fill(half * 4096)
        # The buffer becomes empty, and the drive does not fall asleep yet.
        drive.advance(drive.now_ns + 90_000_000)

        reads_ns = np.cumsum(rng.exponential(1e9 / READS_PER_S, size=READS)).astype(np.int64)
        writes_ns = np.arange(0, reads_ns[-1], 10**9 // writes_per_s) if writes_per_s else np.array([], dtype=np.int64)
        at_ns = np.concatenate([reads_ns, writes_ns])
        kinds = np.repeat([READ, WRITE], [READS, len(writes_ns)])
        pages = np.concatenate([rng.integers(half, size=READS), half + np.arange(len(writes_ns)) % half])
        order, begun_ns, before = np.argsort(at_ns, kind="stable"), drive.now_ns, drive.telemetry()
        ended = drive.submit(kinds[order], pages[order] * 4096, at_ns=begun_ns + at_ns[order]) + drive.drain()

        is_read = kinds[order][ended.number - ended.number.min()] == READ
        latency_us = ended.latency_ns[is_read] / 1e3
        busy_ns = drive.telemetry()["die_busy_ns"] - before["die_busy_ns"] - READS * value["nand.read_ns"]
        busy = busy_ns / (drive.now_ns - begun_ns) / dies
        unit_bytes = value["nand.planes"] * value["nand.page_bytes"]
        program_us = (value["nand.program_ns"] + unit_bytes * 1e9 / value["nand.channel_bytes_per_s"]) / 1e3
        command_us = value["controller.write_command_ns"] / 1e3
        link_us = 4096e6 / value["interface.link_write_bytes_per_s"]
        alone_us = alone_us or float(latency_us.mean())
        name = f"{writes_per_s} writes/s"
        figures |= {
            f"{name}: share of time in programs": busy,
            f"{name}: theory of the delay": busy * program_us / 2 + writes_per_s * (command_us**2 + link_us**2) / 2e6,
            f"{name}: share of reads that wait": float((latency_us > alone_us + 20).mean()),
            f"{name}: delay us": float(latency_us.mean()) - alone_us,
            **{f"{name}: p{it} us": float(np.percentile(latency_us, it)) for it in (50, 99, 99.9)},
        }
    figures["alone us"], figures["program us"] = alone_us, program_us
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:45} {value:,.4f}")
