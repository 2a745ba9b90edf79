"""Progress of runs, sweeps and fits, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TextIO

Observer = Callable[[str, dict[str, Any]], None]
"""Gets every event of a run: its name (`started`, `phase`, `second`, `phase_ended`, `warning`) and its
members."""


class Line:
    """A line on stderr that is written over; a notebook understands it as well."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title = title
        self.stream = stream or sys.stderr
        self.width = 0
        self.told = 0.0

    @property
    def due(self) -> bool:
        """Whether the last text is so old that the next one can be read."""
        return time.monotonic() - self.told > 0.1

    def tell(self, text: str) -> None:
        """Shows a text in the place of the last one."""
        line = f"{self.title}: {text}"
        self.stream.write("\r" + line.ljust(self.width))
        self.stream.flush()
        self.width = len(line)
        self.told = time.monotonic()

    def close(self) -> None:
        """Clears the line."""
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()


class RunLine(Line):
    """The phase, the second and the rate of a run."""

    phase = ""

    def __call__(self, event: str, members: dict[str, Any]) -> None:
        """Takes an event."""
        if event == "phase":
            self.phase = members["phase"]
            self.tell(self.phase)
        elif event == "second" and self.due:
            self.tell(f"{self.phase} {members['second'] + 1} s, {members['iops']:,.0f} IOPS")
        elif event == "warning":
            warnings.warn(members["text"], stacklevel=2)


class SweepLine(Line):
    """The runs of a sweep that have an outcome, and the time that the others will take at this rate."""

    def __init__(self, known: int, runs: int, stream: TextIO | None = None) -> None:
        super().__init__("sweep", stream)
        self.known, self.begun = known, time.monotonic()
        self.tell(f"{known:,} of {runs:,} runs")

    def __call__(self, done: int, runs: int) -> None:
        """Takes the number of runs that have an outcome."""
        if self.due:
            left_s = (time.monotonic() - self.begun) / (done - self.known) * (runs - done)
            self.tell(f"{done:,} of {runs:,} runs, {timedelta(seconds=round(left_s))} left")


class FitLine(Line):
    """The simulations of a fit; no one knows how many it will need."""

    def __call__(self, simulations: int) -> None:
        """Takes the number of simulations so far."""
        if self.due:
            self.tell(f"{simulations:,} simulations")
