"""Plots with the look of the page, one call each; they need `ssdlab[matplotlib]`.

Every function draws on `axes`, or on new ones, and returns them. New axes are shown in a notebook below the cell that
makes them, with `dpi` or, if `vector`, as SVG; `axes.figure.savefig` writes them in any format. Names of runs stand below
the data, and simulated runs say so there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ._errors import UsageError
from ._results import Run, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#2540af", "#de5c78", "#0f99d4", "#98184d", "#2a8801", "#001f1e")
"""Colours of runs, as on the page."""

STYLE: dict[str, Any] = {
    "figure.facecolor": "#f7f7f5",
    "axes.facecolor": "#ffffff",
    "axes.edgecolor": "#d9dad6",
    "axes.labelcolor": "#545c66",
    "axes.titlesize": 11,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "grid.color": "#e4e5e1",
    "grid.linewidth": 0.6,
    "xtick.color": "#545c66",
    "ytick.color": "#545c66",
    "text.color": "#191d21",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "font.size": 9,
}
"""Settings of matplotlib for the look of the page."""

_LINE = 70
"""Letters of a name beside each other; a longer name takes several lines."""


class Look(TypedDict, total=False):
    """The axes to draw on, or the look of new ones."""

    axes: Axes | None
    dpi: float
    vector: bool


def consistency(
    runs: Run | Iterable[Run],
    *,
    phase: str = "load",
    logarithmic: bool = True,
    **look: Unpack[Look],
) -> Axes:
    """Commands of every second, a point each."""
    all_runs = _several(runs)
    axes = _axes(look, "IOPS, every second", "s", "IOPS")
    for run, colour in _coloured(all_runs):
        rows = run.series(phase=phase)
        axes.plot(_seconds(rows), _iops(rows), ".", markersize=2, color=colour, label=_name(run))
    if logarithmic:
        axes.set_yscale("log")
    return _legend(axes)


def latency(runs: Run | Iterable[Run], *, phase: str = "load", **look: Unpack[Look]) -> Axes:
    """Share of commands that took longer, by latency."""
    axes = _axes(look, "Latency", "ms", "share of commands that took longer")
    for run, colour in _coloured(_several(runs)):
        bins = run.latency(phase=phase)
        order = np.argsort(bins["lower_ns"], kind="stable")
        counts = bins["count"][order].astype(float)
        longer = 1 - np.cumsum(counts) / max(counts.sum(), 1)
        shown = longer > 0
        times_ms = bins["lower_ns"][order] / 1e6
        axes.plot(times_ms[shown], longer[shown], color=colour, label=_name(run))
    axes.set_xscale("log")
    axes.set_yscale("log")
    return _legend(axes)


def why(run: Run, *, phase: str = "load", **look: Unpack[Look]) -> Axes:
    """Write amplification of every second of a simulated drive: the reason for its pace."""
    rows = run.series(phase=phase)
    if np.isnan(rows["programmed_pages"]).all():
        raise UsageError(f"{run.id} has no telemetry; only simulated drives have it", "usage")
    axes = _axes(look, "Write amplification, every second", "s", "NAND pages for a host page")
    with np.errstate(divide="ignore", invalid="ignore"):
        waf = rows["programmed_pages"] / rows["host_pages"]
    axes.plot(_seconds(rows), waf, ".", markersize=2, color=COLOURS[0], label=_name(run))
    return _legend(axes)


def bars(runs: Sequence[Run], metric: str = "iops_steady_mean", **look: Unpack[Look]) -> Axes:
    """One figure of every run as ranked bars, with its marks; the runs without it are left out."""
    known = [(run, value) for run in runs if (value := run.metrics.get(metric)) is not None]
    if not known:
        raise UsageError(f"no run has the figure `{metric}`", "usage")
    known.sort(key=lambda pair: pair[1])
    axes = _axes(look, metric, "", "")
    marks = ["".join("\n" + fill(f"({text})", _LINE // 2) for text in run.reservations(metric)) for run, _ in known]
    names = [fill(_name(run), _LINE // 2) + mark for (run, _), mark in zip(known, marks, strict=True)]
    hatches = ["///" if run.simulated else "" for run, _ in known]
    places = np.arange(len(known))
    drawn = axes.barh(places, [value for _, value in known], color="#2f7d6b", edgecolor="#ffffff")
    for bar, hatch in zip(drawn, hatches, strict=True):
        bar.set_hatch(hatch)
    axes.set_yticks(places, names)
    axes.grid(axis="y", visible=False)
    axes.set_axisbelow(True)
    _grow(axes, sum(name.count("\n") + 1 for name in names))
    return axes


def _axes(look: Look, title: str, x: str, y: str) -> Axes:
    matplotlib = needed("matplotlib", "matplotlib")
    axes = look.get("axes")
    if axes is None:
        shown = needed("ssdlab._axes", "matplotlib").ShownAxes
        with matplotlib.rc_context(STYLE):
            axes = shown.new(look.get("dpi", 100), look.get("vector", False))
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return axes


def _legend(axes: Axes) -> Axes:
    """The names of the curves, below the data."""
    drawn, names = axes.get_legend_handles_labels()
    folded = [fill(name, _LINE) for name in names]
    # In points: a share of the height would not clear the label of a low axis.
    below = needed("matplotlib.transforms", "matplotlib").offset_copy(
        axes.transAxes, fig=axes.get_figure(root=True), y=-34, units="points"
    )
    axes.legend(
        drawn, folded, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, borderaxespad=0,
        fontsize=9, frameon=False, markerscale=4,
    )
    _grow(axes, sum(name.count("\n") + 1 for name in folded))
    return axes


def _grow(axes: Axes, lines: int) -> None:
    """Room for these lines of text, in a figure of ours."""
    if hasattr(axes, "vector"):
        figure: Any = axes.figure
        figure.set_size_inches(6.4, 3.6 + 0.17 * lines)


def _several(runs: Run | Iterable[Run]) -> list[Run]:
    listed = [runs] if isinstance(runs, Run) else list(runs)
    if not listed:
        raise UsageError("there is no run to draw", "usage")
    return listed


def _coloured(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    return [(run, COLOURS[at % len(COLOURS)]) for at, run in enumerate(runs)]


def _name(run: Run) -> str:
    variant = run.record["span"]["variant"]
    return run.target if variant == "default" else f"{run.target}, spare {variant}"


def _seconds(rows: Any) -> NDArray[np.float64]:
    middle = rows["start_ns"] + rows["duration_ns"] / 2
    return np.asarray(middle / 1e9, dtype=float)


def _iops(rows: Any) -> NDArray[np.float64]:
    kinds = ("read_ios", "write_ios", "flush_ios", "deallocate_ios")
    commands = sum(rows[kind].astype(float) for kind in kinds)
    return np.asarray(commands * 1e9 / rows["duration_ns"], dtype=float)
