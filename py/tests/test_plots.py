"""Does every plot draw the rows of its runs?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ssdlab
from ssdlab import plot


def test_every_second_is_a_point(run: ssdlab.Run, library: Path, tmp_path: Path) -> None:
    runs = ssdlab.read_library(library).runs
    axes = plot.consistency(runs)
    assert [len(line.get_xdata()) for line in axes.get_lines()] == [6, 6]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert all("(simulated)" in name for name in names) and "spare 25%" in names[1]
    axes.figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000


def test_a_latency_curve_falls(run: ssdlab.Run) -> None:
    (line,) = plot.latency(run).get_lines()
    shares = np.asarray(line.get_ydata(), dtype=float)
    assert (np.diff(shares) <= 0).all() and 0 < shares[-1] < shares[0] < 1


def test_the_reason_is_the_telemetry(run: ssdlab.Run) -> None:
    (line,) = plot.why(run).get_lines()
    rows = run.series(phase="load")
    assert np.allclose(line.get_ydata(), rows["programmed_pages"] / rows["host_pages"])


def test_bars_are_ranked(library: Path) -> None:
    runs = ssdlab.read_library(library).runs
    widths = [bar.get_width() for bar in plot.bars(runs).patches]
    assert widths == sorted(widths) and len(widths) == 2
    with pytest.raises(ssdlab.UsageError):
        plot.bars(runs, "no_such_metric")
