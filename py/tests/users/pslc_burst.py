"""How large is the fast cache of a TLC drive, how much faster is it, and is it back after a pause?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ssdlab

SCALE, MIB, BURST_MIB = 64, 1 << 20, 100


def burst(drive: ssdlab.Drive, number: int) -> NDArray[np.float64]:
    """Writes 100 MiB in order; bytes per second of each."""
    offsets = number * BURST_MIB * MIB + np.arange(0, BURST_MIB * MIB, 131_072)
    ended = drive.submit("write", offsets, 131_072) + drive.drain()
    return MIB * 1e9 / np.diff(ended.done_ns[::8])


def main() -> dict[str, float]:
    # The write buffer is small, so that it hides neither rate.
    drive = ssdlab.Drive("samsung-840-evo-120gb", scale=f"1/{SCALE}", host="none", buffer__write_bytes=MIB)
    text = {name: value for name, value, _ in drive.values()}
    dies = int(text["nand.channels"]) * int(text["nand.dies_per_channel"])
    unit_bytes = int(text["nand.planes"]) * int(text["nand.page_bytes"])
    transfer_ns = unit_bytes * 1e9 / float(text["nand.channel_bytes_per_s"])
    in_cache = dies * unit_bytes * 1e9 / (transfer_ns + float(text["pslc.program_ns"]))
    past_it = dies * unit_bytes * 1e9 / (transfer_ns + float(text["nand.program_ns"]))
    figures = {
        "theory: cache in MB": float(text["pslc.bytes"]) / SCALE / 1e6,
        "theory: burst in MB/s": in_cache / 1e6,
        "theory: past it in MB/s": past_it / 1e6,
    }
    for number, pause_s in enumerate((0, 1, 60)):
        drive.advance(drive.now_ns + pause_s * 10**9)
        rates = burst(drive, number)
        fast = rates > np.sqrt(in_cache * past_it)
        figures[f"after {pause_s} s: cache in MB"] = float(fast.sum() * MIB / 1e6)
        figures[f"after {pause_s} s: burst in MB/s"] = float(np.median(rates[fast]) / 1e6) if fast.any() else 0.0
        figures[f"after {pause_s} s: past it in MB/s"] = float(np.median(rates[~fast]) / 1e6)
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:40} {value:,.1f}")
