"""Progress of runs, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, TextIO

Observer = Callable[[str, dict[str, Any]], None]
"""Gets every event of a run: its name (`started`, `phase`, `second`, `phase_ended`, `warning`) and its
members."""


class Line:
    """A line on stderr that is written over; a notebook understands it as well."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title = title
        self.stream = stream or sys.stderr
        self.phase = ""
        self.width = 0
        self.told = 0.0

    def __call__(self, event: str, members: dict[str, Any]) -> None:
        """Takes an event."""
        if event == "phase":
            self.phase = members["phase"]
            self._tell(self.phase)
        elif event == "second" and time.monotonic() - self.told > 0.1:
            self._tell(f"{self.phase} {members['second'] + 1} s, {members['iops']:,.0f} IOPS")
        elif event == "warning":
            warnings.warn(members["text"], stacklevel=2)

    def close(self) -> None:
        """Ends the line."""
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()

    def _tell(self, text: str) -> None:
        line = f"{self.title}: {text}"
        self.stream.write("\r" + line.ljust(self.width))
        self.stream.flush()
        self.width = len(line)
        self.told = time.monotonic()
