"""Runs that several tests read, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ssdlab

SMALL = {"scale": "1/256"}
SHORT = {"duration": "6s", "steady_from": "3s"}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A library with two runs of a small drive, at two spare areas."""
    path = tmp_path_factory.mktemp("library")
    drive = ssdlab.Drive("samsung-840-pro-256gb", **SMALL)
    for spare in (None, "25%"):
        ssdlab.simulate(drive, "consistency", library=path, spare=spare, label="two", **SHORT)
    yield path


@pytest.fixture(scope="session")
def run(library: Path) -> ssdlab.Run:
    """The run at the drive's own spare area."""
    return ssdlab.read_library(library)[0]
