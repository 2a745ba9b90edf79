"""The price of Python: per call, and for a long run beside the program.

    python bench/python/calls.py                                    # calls only
    python bench/python/calls.py --program PATH [--scale 1/8] [--duration 200s] [--turns 3]

Prints one JSON document. A call is timed where the compiled part has next to nothing to do, so that its
time is that of the border. A run is timed in turns with the program, in processor time, which other work on
the machine hardly changes; build both in the same way.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ssdlab

SMALL = ssdlab.Drive("samsung-840-pro-256gb", scale="1/512")
NONE = np.empty(0, np.uint64)


def refused() -> None:
    """A run that ends before it begins: arguments, thread, error, exception."""
    try:
        ssdlab.simulate(SMALL, "no-such-test", library="/nonexistent")
    except ssdlab.UsageError:
        return
    raise AssertionError("the run was not refused")


CALLS: dict[str, Callable[[], object]] = {
    "write_amplification": lambda: ssdlab.write_amplification(0.9),
    "drive.submit, no command": lambda: SMALL.submit("write", NONE),
    "drive.advance, no event": lambda: SMALL.advance(SMALL.now_ns),
    "drive.telemetry": SMALL.telemetry,
    "drive.now_ns": lambda: SMALL.now_ns,
    "simulate, refused at once": refused,
}


def microseconds(call: Callable[[], object]) -> float:
    """The least processor time of a call, of 20 rounds."""
    rounds = []
    for _ in range(20):
        started = time.process_time()
        for _ in range(200):
            call()
        rounds.append((time.process_time() - started) / 200)
    return min(rounds) * 1e6


def child(words: list[str]) -> tuple[float, int]:
    """Processor time in s and most memory in bytes of a command."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{words} ended with {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def beside_program(asked: argparse.Namespace) -> dict[str, Any]:
    """The same run from Python and from the program, in turns."""
    target = f"sim:samsung-840-pro-256gb?scale={asked.scale}"
    script = (
        "import ssdlab, sys; ssdlab.run('consistency', sys.argv[1], library=sys.argv[2],"
        " progress=False, settings={'duration': sys.argv[3], 'steady_from': '1s'})"
    )
    turns: dict[str, list[tuple[float, int]]] = {"python": [], "program": []}
    for turn in range(asked.turns):
        for side in ("python", "program") if turn % 2 else ("program", "python"):
            with tempfile.TemporaryDirectory() as library:
                settings = ["--set", f"duration={asked.duration}", "--set", "steady_from=1s"]
                program = [asked.program, "run", "consistency", target, "--library", library]
                python = [sys.executable, "-c", script, target, library, asked.duration]
                words = python if side == "python" else [*program, *settings, "--quiet"]
                turns[side].append(child(words))
    middle = {
        side: [statistics.median(turn[index] for turn in of_side) for index in (0, 1)]
        for side, of_side in turns.items()
    }
    return {
        "target": target,
        "turns": turns,
        "processor_time_ratio": middle["python"][0] / middle["program"][0],
        "memory_ratio": middle["python"][1] / middle["program"][1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", help="the program `ssdlab`, built as the package was")
    parser.add_argument("--scale", default="1/8")
    parser.add_argument("--duration", default="200s")
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    measured: dict[str, Any] = {
        "call_us": {name: round(microseconds(call), 2) for name, call in CALLS.items()},
        "import_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    if asked.program:
        measured["beside_program"] = beside_program(asked)
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
