"""SSD performance laboratory: simulate drives, test real ones, compare them.

>>> import ssdlab
>>> drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")
>>> run = ssdlab.simulate(drive, "consistency", duration="4s", steady_from="2s")
>>> run.test
'consistency'
"""

from __future__ import annotations

from . import _native, plot, theory, traces
from ._check import check_policy
from ._drive import KINDS, Completions, Drive, Snapshot, Superblocks, load
from ._errors import (
    DeviceError,
    Error,
    InterruptedRun,
    RefusedError,
    UnsupportedError,
    UsageError,
)
from ._fit import Choice, Estimate, Fit, NoModelError, Residual, fit, write_amplification
from ._native import Blocks, Level, Writes
from ._policy import Pace, Policy, Stream
from ._results import Comparison, Figure, Library, Run, compare, read_library
from ._run import Test, drives, metric_catalogue, run, simulate, tests
from ._sweep import Sweep, sweep

__version__ = _native.version().removeprefix("ssdlab ")
"""The version of the package, which is that of the program."""

__all__ = [
    "KINDS",
    "Blocks",
    "Choice",
    "Comparison",
    "Completions",
    "DeviceError",
    "Drive",
    "Error",
    "Estimate",
    "Figure",
    "Fit",
    "InterruptedRun",
    "Level",
    "Library",
    "NoModelError",
    "Pace",
    "Policy",
    "RefusedError",
    "Residual",
    "Run",
    "Snapshot",
    "Stream",
    "Superblocks",
    "Sweep",
    "Test",
    "UnsupportedError",
    "UsageError",
    "Writes",
    "check_policy",
    "compare",
    "drives",
    "fit",
    "load",
    "metric_catalogue",
    "plot",
    "read_library",
    "run",
    "simulate",
    "sweep",
    "tests",
    "theory",
    "traces",
    "write_amplification",
]
