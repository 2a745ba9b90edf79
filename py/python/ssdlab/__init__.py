"""SSD performance laboratory: simulate drives, test real ones, compare them.

>>> import ssdlab
>>> drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")
>>> run = ssdlab.simulate(drive, "consistency", duration="4s", steady_from="2s")
>>> run.test
'consistency'
"""

from __future__ import annotations

from . import plot, traces
from ._drive import KINDS, Completions, Drive
from ._errors import (
    DeviceError,
    Error,
    InterruptedRun,
    RefusedError,
    UnsupportedError,
    UsageError,
)
from ._results import Comparison, Figure, Library, Run, compare, read_library
from ._run import Test, drives, metric_catalogue, run, simulate, tests

__all__ = [
    "KINDS",
    "Comparison",
    "Completions",
    "DeviceError",
    "Drive",
    "Error",
    "Figure",
    "InterruptedRun",
    "Library",
    "RefusedError",
    "Run",
    "Test",
    "UnsupportedError",
    "UsageError",
    "compare",
    "drives",
    "metric_catalogue",
    "plot",
    "read_library",
    "run",
    "simulate",
    "tests",
    "traces",
]
