"""A drive model from measured runs: effective spare, program time and relocation cost.

Stage 1 starts from closed forms: the ratio of the steady rates at two spare areas is the ratio of their
write amplifications, `alpha / (alpha + W(-alpha e^-alpha))` for a log of alpha x U pages (Robinson 1996,
Desnoyers 2014), and the rate of the fill gives the program time. Stage 2 lets CMA-ES (Hansen 2016, package
`cma`) move all values until small simulations have the figures of the runs. It was chosen over Bayesian
optimisers because the figures are smooth in few values whose effects are correlated, and a simulation takes
a second, so that a surrogate of it saves nothing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._drive import Drive
from ._errors import Error, UsageError
from ._results import Run, needed
from ._run import simulate

_LOAD = {"duration": "4s", "steady_from": "2s"}
_STEP = 0.05
"""Relative change of a value that shows its effect on the figures."""
_NOISE = 0.01
"""Relative difference between two simulations that differ in their seeds only; effects below are none."""
_SPARE_MAX = 0.5
_CORRECTIONS = 3
"""Corrections of the closed forms by a simulation each."""

Vector = NDArray[np.float64]


class NoModelError(Error):
    """No values of the model explain the runs; `fit` has the best ones with their residuals."""

    exit_code = 1

    def __init__(self, message: str, reason: str = "no-model") -> None:
        super().__init__(message, reason)
        self.fit: Fit | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value of the model: estimate, interval, and whether the runs determine it."""

    name: str
    value: float
    low: float
    high: float
    determined: bool
    """Whether the runs determine it; otherwise it is the value of the base model."""


@dataclass(frozen=True, slots=True)
class Residual:
    """A figure of a run beside that of the fitted model."""

    run: str
    figure: str
    measured: float
    model: float
    held_out: bool

    @property
    def error(self) -> float:
        """Relative difference."""
        return self.model / self.measured - 1


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model."""

    base: str
    scale: str
    estimates: list[Estimate]
    residuals: list[Residual]
    overrides: dict[str, int]
    """The fitted values by their names in a drive model."""
    evaluations: int
    capacity_bytes: int = field(repr=False)
    runs: list[str] = field(repr=False)

    def __getitem__(self, name: str) -> Estimate:
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise KeyError(name)

    @property
    def undetermined(self) -> list[str]:
        """The values that the runs do not determine."""
        return [estimate.name for estimate in self.estimates if not estimate.determined]

    def worst(self, *, held_out: bool = False) -> float:
        """The largest relative error of a figure, of the runs used or held out."""
        errors = [abs(it.error) for it in self.residuals if it.held_out == held_out]
        return max(errors, default=0.0)

    def drive(self, scale: str | None = None) -> Drive:
        """The fitted drive."""
        return _with(self.base, scale, self.overrides)

    def to_toml(self, name: str) -> str:
        """The fitted drive as a model file that extends the base model."""
        source = f"fitted: {len(self.runs)} consistency runs on simulations of {self.scale}"
        base = Path(self.base).name if self.base.endswith(".toml") else self.base
        lines = [f'name = "{name}"', f'extends = "{base}"']
        tables: dict[str, list[str]] = {}
        for key, value in self.overrides.items():
            table, _, entry = key.partition(".")
            row = f'{entry} = {{ value = {value}, from = "{source}" }}'
            tables.setdefault(table, []).append(row)
        for table, rows in tables.items():
            lines += ["", f"[{table}]", *rows]
        return "\n".join(lines) + "\n"


def fit(
    runs: Sequence[Run],
    base: str | os.PathLike[str],
    *,
    hold_out: Sequence[Run] = (),
    scale: str = "1/256",
    tolerance: float = 0.05,
    evaluations: int = 60,
    seed: int = 1,
) -> Fit:
    """Fits a drive model to consistency runs at two or more spare areas of one drive.

    `base` is the model whose other values are taken as they are. `hold_out` are runs that the fit does not
    use; their figures are predicted and reported. At most `evaluations` sets of simulations of size `scale`
    are made. If the best one misses a figure by more than `tolerance`, no model explains the runs, which is a
    `NoModelError`.
    """
    problem = _Problem(list(runs), os.fspath(base), scale, seed)
    problem.check()
    best, count = _search(problem, evaluations, seed, tolerance)
    effects = problem.effects(best)
    fitted = _result(problem, best, effects, list(hold_out), count + len(effects))
    if fitted.worst() > tolerance:
        worst = max(fitted.residuals, key=lambda it: 0 if it.held_out else abs(it.error))
        error = NoModelError(
            f"no model explains the runs: {worst.figure} of {worst.run} is {worst.measured:.4g}, and the best "
            f"model has {worst.model:.4g}; expected at most {tolerance:.0%} of difference"
        )
        error.fit = fitted
        raise error
    return fitted


@dataclass(frozen=True, slots=True)
class _Value:
    """A fitted value: its name in a result and in a model file."""

    name: str
    key: str


def _with(base: str, scale: str | None, values: dict[str, int]) -> Drive:
    """The base model with these values."""
    keywords: dict[str, Any] = {name.replace(".", "__"): it for name, it in values.items()}
    return Drive(base, scale=scale, **keywords)


class _Problem:
    """Measured figures, and the same of a simulation with given values."""

    def __init__(self, runs: list[Run], base: str, scale: str, seed: int) -> None:
        self.runs, self.base, self.scale, self.seed = runs, base, scale, seed
        self.whole = Drive(base)
        self.model = {key: value for key, value, _ in self.whole.values()}
        self.blocks = int(self.model["nand.blocks_per_plane"])
        self.values = [
            _Value("effective_spare", "nand.reserved_superblocks"),
            _Value("program_ns", "nand.program_ns"),
            _Value("relocate_ns", "controller.relocate_ns"),
        ]

    def check(self) -> None:
        """Refuses runs that do not belong together."""
        for run in self.runs:
            if run.test != "consistency" or run.status != "complete":
                raise UsageError(f"{run.id} is no complete consistency run", "usage")
            _figures(run)
        if len({_share(run) for run in self.runs}) < 2:
            raise UsageError("a fit needs consistency runs at two or more spare areas", "usage")
        if len({run.record["target"]["capacity_bytes"] for run in self.runs}) > 1:
            raise UsageError("the runs are of drives of different sizes", "usage")

    def spare_of(self, reserved: float) -> float:
        """Share of the raw NAND of the whole drive that holds no user data and can be written."""
        usable = self.whole.raw_bytes * (self.blocks - reserved) / self.blocks
        return 1 - self.whole.capacity_bytes / usable

    def reserved_of(self, spare: float) -> int:
        """The reserve that leaves this effective spare."""
        usable = self.whole.capacity_bytes / (1 - spare)
        reserved = round(self.blocks * (1 - usable / self.whole.raw_bytes))
        return min(max(reserved, 1), self.blocks - 1)

    def start(self) -> Vector:
        """Stage 1: spare and program time by closed forms, relocation cost by the base model."""
        by_spare = sorted(self.runs, key=_share)
        slow, fast = by_spare[0], by_spare[-1]
        wanted = fast["iops_steady_mean"] / slow["iops_steady_mean"]
        base = [float(self.model[value.key].replace("_", "")) for value in self.values]
        point = np.array([self.spare_of(base[0]), math.log(base[1]), math.log(base[2])])
        ratio = wanted
        for _ in range(_CORRECTIONS):
            spare = _spare_of_ratio(_kept(slow), _kept(fast), ratio)
            point[0] = min(max(spare, 0.005), self.spare_of(1))
            few, many = self.simulated(point, slow), self.simulated(point, fast)
            # A fill is as fast as the dies program, unless something else limits it.
            point[1] += math.log(few[1] / _figures(slow)[1])
            # The drive is not quite the log of the formula: its error is about the same nearby.
            ratio *= wanted / (many[0] / few[0])
        return point

    def overrides(self, point: Vector) -> dict[str, int]:
        """The values of a model at a point of the search."""
        spare, program, relocate = (float(it) for it in point)
        return {
            "nand.reserved_superblocks": self.reserved_of(spare),
            "nand.program_ns": round(math.exp(program)),
            "controller.relocate_ns": max(round(math.exp(relocate)), 1),
        }

    def simulated(self, point: Vector, run: Run) -> Vector:
        """The figures of a run on the model at a point."""
        drive = _with(self.base, self.scale, self.overrides(point))
        span = int(drive.capacity_bytes * _kept(run)) >> 17 << 17
        whole = _kept(run) >= 1
        made = simulate(
            drive, seed=self.seed, span_bytes=None if whole else span, settings=_LOAD
        )
        return _figures(made)

    def residuals(self, point: Vector) -> Vector:
        """Logarithms of simulated over measured figures."""
        found = [np.log(self.simulated(point, run) / _figures(run)) for run in self.runs]
        return np.concatenate(found)

    def effects(self, point: Vector) -> Vector:
        """Change of each figure with each value: its derivative by the logarithm of the value."""
        middle = self.residuals(point)
        rows = []
        for place in range(len(point)):
            moved = point.copy()
            moved[place] = point[place] * (1 - _STEP) if place == 0 else point[place] + _STEP
            rows.append((self.residuals(moved) - middle) / (-_STEP if place == 0 else _STEP))
        return np.array(rows)


def _search(
    problem: _Problem, evaluations: int, seed: int, tolerance: float
) -> tuple[Vector, int]:
    """Stage 2: the best point that CMA-ES finds, and the number of evaluations."""
    cma = needed("cma", "fit")
    start = problem.start()
    widths = [max(start[0], 0.02) * 0.1, 0.05, 0.2]
    upper = [problem.spare_of(1), math.log(1e9), math.log(1e9)]
    options: dict[str, Any] = {
        "CMA_stds": widths,
        "bounds": [[0.001, math.log(1e3), 0.0], upper],
        "seed": seed,
        "popsize": 6,
        "maxfevals": evaluations,
        "verbose": -9,
    }
    search = cma.CMAEvolutionStrategy(start.tolist(), 1.0, options)
    count = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while not search.stop() and count < evaluations:
            points = [np.asarray(point, dtype=float) for point in search.ask()]
            missed = list(pool.map(problem.residuals, points))
            count += len(points)
            search.tell(points, [float((it**2).sum()) for it in missed])
            # A fifth of what is tolerated is below the noise of a measurement.
            if min(float(np.abs(it).max()) for it in missed) < max(tolerance / 5, _NOISE):
                break
    return np.asarray(search.result.xbest, dtype=float), count


def _result(
    problem: _Problem, point: Vector, effects: Vector, hold_out: list[Run], count: int
) -> Fit:
    determined = np.abs(effects).max(axis=1) * _STEP > _NOISE
    point = _with_priors(problem, point, determined)
    widths = _intervals(effects, determined)
    estimates = []
    for place, value in enumerate(problem.values):
        middle = float(point[place]) if place == 0 else math.exp(point[place])
        spread = math.exp(widths[place]) if determined[place] else math.inf
        low, high = (middle / spread, middle * spread) if determined[place] else (0.0, math.inf)
        estimates.append(Estimate(value.name, middle, low, high, bool(determined[place])))
    residuals = []
    for run in (*problem.runs, *hold_out):
        model, measured = problem.simulated(point, run), _figures(run)
        for place, figure in enumerate(("iops_steady_mean", "fill_bytes_per_s")):
            pair = (float(measured[place]), float(model[place]))
            residuals.append(Residual(run.id, figure, *pair, run in hold_out))
    return Fit(
        problem.base,
        problem.scale,
        estimates,
        residuals,
        problem.overrides(point),
        count,
        problem.whole.capacity_bytes,
        [run.id for run in problem.runs],
    )


def _with_priors(problem: _Problem, point: Vector, determined: NDArray[np.bool_]) -> Vector:
    """The point with the values of the base model where the runs determine none."""
    keys = [value.key for value in problem.values]
    base = [float(problem.model[key].replace("_", "")) for key in keys]
    prior = np.array([problem.spare_of(base[0]), math.log(base[1]), math.log(base[2])])
    return np.where(determined, point, prior)


def _intervals(effects: Vector, determined: NDArray[np.bool_]) -> Vector:
    """Half widths of 95% intervals of the logarithms, for figures with the noise of a simulation."""
    widths = np.full(len(effects), np.inf)
    known = effects[determined]
    if len(known):
        covariance = np.linalg.pinv(known @ known.T) * _NOISE**2
        widths[determined] = 1.96 * np.sqrt(np.diag(covariance))
    return widths


def _figures(run: Run) -> Vector:
    """Steady rate and rate of the fill."""
    fill = [phase for phase in run.record["phases"] if phase["name"] == "fill"]
    steady = run.metrics.get("iops_steady_mean")
    if not fill or not fill[0]["duration_ns"] or not steady:
        raise UsageError(f"{run.id} has no fill or no steady state", "usage")
    return np.array([steady, fill[0]["bytes"] * 1e9 / fill[0]["duration_ns"]])


def _kept(run: Run) -> float:
    """Share of the LBA space that the run used."""
    used: float = run.record["span"]["span_bytes"] / run.record["target"]["capacity_bytes"]
    return used


def _share(run: Run) -> float:
    """Share of the LBA space that the run left to the drive."""
    return round(1 - _kept(run), 6)


def write_amplification(alpha: float) -> float:
    """Write amplification of uniform random writes on a log of `alpha` times the data.

    >>> round(write_amplification(1.28), 2)
    2.48
    """
    if alpha <= 1:
        return math.inf
    low, high = 0.0, 1.0
    # The share x of valid pages in a victim obeys x = exp(-alpha (1 - x)).
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if math.exp(-alpha * (1 - middle)) > middle else (low, middle)
    return 1 / (1 - low) if low < 1 else math.inf


def _spare_of_ratio(more: float, less: float, ratio: float) -> float:
    """Effective spare of a whole drive whose rates at two spans have this ratio."""
    low, high = 0.001, _SPARE_MAX
    for _ in range(60):
        middle = (low + high) / 2
        alpha = 1 / (1 - middle)
        found = write_amplification(alpha / more) / write_amplification(alpha / less)
        low, high = (middle, high) if found > ratio else (low, middle)
    return (low + high) / 2
