"""Does every plot draw the rows of its runs?"""

from __future__ import annotations

import struct
from copy import copy
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


@pytest.mark.parametrize("name", ["A", "A drive with a name of many words, " * 8])
def test_a_name_stands_whole_and_beside_the_data(run: ssdlab.Run, name: str) -> None:
    record = {**run.record, "target": {**run.record["target"], "name": name.strip()}}
    named = copy(run)
    named.record = record
    for axes in (plot.consistency([named] * 5), plot.latency(named), plot.why(named), plot.bars([named] * 3)):
        figure = axes.figure
        figure.draw_without_rendering()
        legend, whole = axes.get_legend(), figure.bbox
        texts = legend.get_texts() if legend else axes.get_yticklabels()
        for text in texts:
            box = text.get_window_extent()
            assert named.target in text.get_text().replace("\n", " ")
            assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
            assert not box.overlaps(axes.get_window_extent())
            assert not box.overlaps(axes.xaxis.label.get_window_extent()) or not axes.get_xlabel()
        assert axes.get_title(loc="left") and not axes.get_title(loc="center")


def test_new_axes_show_themselves_and_given_ones_are_those_of_their_figure(run: ssdlab.Run) -> None:
    from matplotlib import pyplot

    def size(png: bytes | None) -> tuple[int, ...]:
        assert png is not None and png.startswith(b"\x89PNG")
        return struct.unpack(">II", png[16:24])

    plain, fine, drawn = plot.why(run), plot.why(run, dpi=200), plot.why(run, vector=True)
    assert size(fine._repr_png_()) == tuple(2 * it for it in size(plain._repr_png_()))
    assert drawn._repr_png_() is None and "<svg" in drawn._repr_svg_() and plain._repr_svg_() is None
    figure, axes = pyplot.subplots()
    assert plot.why(run, axes=axes) is axes and axes.get_title(loc="left")
    assert pyplot.get_fignums() == [figure.number], "new axes are no figures of pyplot, which would keep them"
    pyplot.close(figure)


# Machado, Oliveira and Fernandes 2009, severity 1: linear red, green and blue as those see them who lack a cone.
SIGHTS = {
    "full": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_differ_for_everybody(sight: str) -> None:
    codes = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in plot.COLOURS]) / 255
    linear = np.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(SIGHTS[sight]), 0, 1)
    white = np.array([0.4124564, 0.2126729, 0.0193339]), np.array([0.3575761, 0.7151522, 0.1191920])
    xyz = seen @ np.array([*white, [0.1804375, 0.0721750, 0.9503041]]) / [0.95047, 1, 1.08883]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab = np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    # Two colours that are 2.3 apart are just told apart by full sight.
    assert apart[np.triu_indices(len(lab), 1)].min() > 15


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
