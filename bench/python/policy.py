"""The price of a policy in Python: the consistency test with greedy choice in Python beside the built-in one.

    python bench/python/policy.py [--drive samsung-840-pro-256gb] [--scale 1] [--duration 200s] [--turns 3]

Prints one JSON document: processor times of both in turns, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import ssdlab


def greedy(blocks: ssdlab.Blocks) -> int:
    """The fewest valid pages."""
    return int(blocks.valid.argmin())


def seconds(drive: ssdlab.Drive, duration: str) -> tuple[float, int]:
    """Processor time of a test, and the pages that it programmed."""
    started = time.process_time()
    run = ssdlab.simulate(drive, "consistency", duration=duration, steady_from="20s")
    return time.process_time() - started, int(run.series()["programmed_pages"].sum())


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--drive", default="samsung-840-pro-256gb")
    parser.add_argument("--scale", default="1")
    parser.add_argument("--duration", default="200s")
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    drives = {
        name: ssdlab.Drive(arguments.drive, scale=arguments.scale, gc__policy="greedy", policy=policy)
        for name, policy in (("built-in", None), ("python", greedy))
    }
    found: dict[str, list[float]] = {name: [] for name in drives}
    pages = set()
    for _ in range(arguments.turns):
        for name, drive in drives.items():
            taken, programmed = seconds(drive, arguments.duration)
            found[name].append(round(taken, 2))
            pages.add(programmed)
    assert len(pages) == 1, "both are the same drive"
    ratio = statistics.median(found["python"]) / statistics.median(found["built-in"])
    print(json.dumps({**vars(arguments), "seconds": found, "ratio": round(ratio, 3)}))


if __name__ == "__main__":
    main()
