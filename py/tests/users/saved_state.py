"""Does a study that is cut off go on from a file as if nothing had been, to the nanosecond?"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import ssdlab


def worked(drive: ssdlab.Drive, seed: int) -> ssdlab.Completions:
    """Random reads and writes of 16 KiB."""
    rng = np.random.default_rng(seed)
    offsets = rng.integers(drive.capacity_bytes // 16384, size=30_000) * 16384
    return drive.submit(rng.integers(2, size=30_000), offsets, 16384) + drive.drain()


def main() -> dict[str, float]:
    drive = ssdlab.Drive("samsung-840-evo-120gb", scale="1/128")
    drive.fill()
    worked(drive, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        drive.save(Path(folder) / "worn.state")
        steady = drive.snapshot()
        whole = worked(drive, seed=2)
        again = ssdlab.load(Path(folder) / "worn.state")
    figures = {"commands": float(len(whole)), "largest latency in ns": float(whole.latency_ns.max())}
    drive.restore(steady)
    for name, branch in (("file", again), ("snapshot", drive)):
        part = worked(branch, seed=2)
        off_ns = part.done_ns.astype(np.int64) - whole.done_ns.astype(np.int64)
        figures[f"largest difference in ns, {name}"] = float(abs(off_ns).max())
        figures[f"commands in another order, {name}"] = float((part.number != whole.number).sum())
    other = worked(again.clone(), seed=3)
    figures["commands with the times of another seed"] = float((other.latency_ns == whole.latency_ns).sum())
    return figures


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:40} {value:,.0f}")
