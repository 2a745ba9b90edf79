"""The table of a sweep as a dataset of xarray."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._results import needed
from .._run import metric_catalogue


def variables(rows: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Figures and coordinates of the runs, the rows of a data frame of pandas."""
    pandas = needed("pandas", "pandas")
    axes = {name.removeprefix("vary."): _typed(rows[name]) for name in rows if name.startswith("vary.")}
    # Codes count the values in the order of the sweep, which sorting would lose.
    coded = {name: pandas.factorize(values) for name, values in axes.items()}
    points = rows.groupby([codes for codes, _ in coded.values()], sort=False)
    repeat = points.cumcount()
    if math.prod(len(values) for _, values in coded.values()) == points.ngroups:
        places = {name: codes for name, (codes, _) in coded.items()}
        coordinates = {name: values for name, (_, values) in coded.items()}
    else:
        places = {"point": points.ngroup()}
        coordinates = {name: ("point", values[repeat == 0]) for name, values in axes.items()}
    if repeat.any():
        places["repeat"] = repeat
    shape = [max(codes) + 1 for codes in places.values()]

    def placed(values: NDArray[Any], gap: object) -> tuple[list[str], NDArray[Any]]:
        array = np.full(shape, gap, dtype=values.dtype)
        array[tuple(places.values())] = values
        return list(places), array

    for name in ("error", "marks"):
        coordinates[name] = placed(rows[name].fillna("").to_numpy(object), "")
    figures = {
        row["name"]: (
            *placed(rows[row["name"]].to_numpy(float), np.nan),
            {"units": row["unit"], "long_name": row["label"]},
        )
        for row in metric_catalogue()
        if row["name"] in rows
    }
    return figures, coordinates


def _typed(column: Any) -> NDArray[Any]:
    """The values of a column as numbers if all are, else as objects; the table has texts."""
    try:
        numbers: NDArray[Any] = needed("pandas", "pandas").to_numeric(column).to_numpy()
    except ValueError:
        return np.asarray(column, dtype=object)
    return numbers
