"""A drive model from measured runs (docs/reference/fit.md)."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native
from ._drive import Drive
from ._errors import Error, UsageError
from ._progress import FitLine
from ._results import Run
from ._words import Value, word


class NoModelError(Error):
    """No values of the model explain the runs; `fit` has the best ones with their residuals."""

    exit_code = 1

    def __init__(self, message: str, reason: str = "no-model") -> None:
        super().__init__(message, reason)
        self.fit: Fit | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value of the model: estimate, 95% interval, and whether the runs determine it."""

    name: str
    key: str
    value: float
    low: float | None
    high: float | None
    determined: bool
    """Whether the runs determine it; otherwise it is the value of the base model, or one that fits together
    with the others."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of the model that is a word, and whether the runs determine it."""

    name: str
    key: str
    value: str
    determined: bool


@dataclass(frozen=True, slots=True)
class Residual:
    """A figure of a run beside that of the fitted model."""

    run: str
    figure: str
    measured: float
    model: float | None
    permitted: float
    """Relative error that is permitted."""
    held_out: bool

    @property
    def error(self) -> float:
        """Relative difference; 1 for a figure that the model does not have."""
        return 1.0 if self.model is None else self.model / self.measured - 1

    @property
    def excess(self) -> float:
        """Error over the permitted one, of their logarithms; infinite for a figure that the model does not have."""
        if self.model is None:
            return math.inf
        return abs(math.log(self.model / self.measured)) / math.log1p(self.permitted)


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model."""

    base: str
    scale: str
    estimates: list[Estimate]
    choices: list[Choice]
    residuals: list[Residual]
    settings: dict[str, str]
    """The fitted values by their names in a drive model."""
    base_explains: bool
    """Whether the base model as it is explains every figure, latencies of the steady state aside: then the base is the
    answer."""
    simulations: int
    _answer: str = field(repr=False)

    def __getitem__(self, name: str) -> Estimate:
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise KeyError(name)

    @property
    def undetermined(self) -> list[str]:
        """The values that the runs do not determine."""
        values: list[Estimate | Choice] = [*self.estimates, *self.choices]
        return [value.name for value in values if not value.determined]

    def worst(self, *, held_out: bool = False) -> float:
        """The largest relative error of a figure, of the runs used or held out."""
        errors = [abs(it.error) for it in self.residuals if it.held_out == held_out]
        return max(errors, default=0.0)

    def drive(self, scale: str | None = None) -> Drive:
        """The fitted drive."""
        return Drive(self.base, scale=scale, settings=self.settings)

    def to_toml(self, name: str) -> str:
        """The fitted drive as a model file that extends the base model, for the folder of that model."""
        return _native.fit_toml(self._answer, name)


def fit(
    runs: Sequence[Run],
    base: str | os.PathLike[str],
    *,
    hold_out: Sequence[Run] = (),
    known: Sequence[str] = (),
    scale: Value = "1/256",
    tolerance: float = 0.05,
    seed: int = 1,
    jobs: int | None = None,
    progress: bool | Callable[[int], None] = False,
) -> Fit:
    """Fits a drive model to runs of one drive.

    `base` is the model that gives every value which the runs do not determine. `hold_out` are runs that the
    fit does not use; their figures are predicted and reported. `known` are names of values that are right in
    the base model and stay, such as `dies_per_channel`. Simulations are of `scale` of the drive,
    `jobs` at a time; `progress` shows a line on stderr, or gets their number after each. If the best model misses a rate by more than
    `tolerance`, no model explains the runs, which is a `NoModelError`.
    """
    asked = {
        "runs": [run.path for run in runs],
        "hold_out": [run.path for run in hold_out],
        "base": os.fspath(base),
        "known": [known] if isinstance(known, str) else list(known),
        "scale": word("scale", scale),
        "tolerance": tolerance,
        "seed": seed,
        "jobs": jobs,
    }
    line = FitLine("fit") if progress is True else None
    observer = line or (progress if callable(progress) else None)
    try:
        text = _native.fit_model(asked, observer)
    except (TypeError, OverflowError) as error:
        # A value of the wrong type, named by the conversion; the work itself raises neither.
        if observer is not None:
            raise
        raise UsageError(str(error), "usage") from error
    finally:
        if line is not None:
            line.close()
    answer = json.loads(text)
    fitted = Fit(
        base=answer["base"],
        scale=answer["scale"],
        estimates=[Estimate(**it) for it in answer["estimates"]],
        choices=[Choice(**it) for it in answer["choices"]],
        residuals=[Residual(**it) for it in answer["residuals"]],
        settings=answer["settings"],
        base_explains=answer["base_explains"],
        simulations=answer["simulations"],
        _answer=text,
    )
    refusal = answer["refusal"]
    if refusal is not None:
        unexplained = NoModelError(refusal["message"], refusal["reason"])
        unexplained.fit = fitted
        raise unexplained
    return fitted


def write_amplification(alpha: float) -> float:
    """Write amplification of uniform random writes on a log of `alpha` times the data.

    `alpha / (alpha + W(-alpha e^-alpha))` with Lambert's W (Robinson 1996, Desnoyers 2014).

    >>> round(write_amplification(1.28), 2)
    2.48
    """
    return _native.write_amplification(alpha)
