"""Measured drives fitted by closed forms on half of their cells, and predicted on the other half.

`python validation/python/study.py --real DIR > docs/evidence/study.md`, with the ssdlab package installed or on PYTHONPATH,
writes `drives/study.csv` too. DIR has the tables `waf_vs_span.csv` and `qd_curves.csv` of measurements by others, which
stay outside of the repository. The page has their sources.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import ssdlab

T = TypeVar("T")
HOSTS = ("m1015", "g8-sata300")
"""The hosts without RAID controller on which each drive was measured."""
DIES = (1, 2, 4, 8, 16, 32, 64)
SEQUENTIAL_WAF = 1.036
"""WAF of a sequential fill of the 7450 MAX: parity and tables, no cleaning (waf_vs_span.csv)."""


@dataclass(frozen=True)
class Cell:
    """A measured figure, and its prediction."""

    drive: str
    quantity: str
    at: float
    unit: str
    measured: float
    fitted: bool
    model: float = 0.0

    @property
    def error(self) -> float:
        return self.model / self.measured - 1


def searched(misfit: Callable[[list[float]], float], start: list[float]) -> list[float]:
    """The least misfit over logarithms, by steps along each axis that are halved (Hooke and Jeeves 1961,
    without pattern moves)."""
    best, step = [*start], 0.5
    least = misfit(best)
    while step > 1e-5:
        moved = False
        for axis in range(len(best)):
            for sign in (1, -1):
                tried = [*best]
                tried[axis] += sign * step
                value = misfit(tried)
                if value < least:
                    best, least, moved = tried, value, True
        if not moved:
            step /= 2
    return best


def squares(cells: Iterable[Cell], model: Callable[[float], float]) -> float:
    pairs = [(model(it.at), it.measured) for it in cells if it.fitted]
    if not all(0 < value < math.inf for value, _ in pairs):
        return math.inf
    return sum(math.log(value / measured) ** 2 for value, measured in pairs)


def with_model(cells: list[Cell], model: Callable[[float], float]) -> list[Cell]:
    names = ("drive", "quantity", "at", "unit", "measured", "fitted")
    kept = [{name: getattr(it, name) for name in names} for it in cells]
    return [Cell(**it, model=model(it["at"])) for it in kept]


def random_writes(rates: list[Cell], host_rate: float) -> list[Cell]:
    """Settled random writes over the span: a log of C GiB, of which cleaning takes `price` programs for each
    page that it moves; the host's own rate limits it.

    The write amplification is `ssdlab.write_amplification(C / span)`; C and `price` are fitted.
    """

    def model(logs: list[float], span: float) -> float:
        capacity, price = math.exp(logs[0]), math.exp(logs[1])
        moved = ssdlab.write_amplification(capacity / span) - 1
        return host_rate / (1 + price * moved)

    largest = max(it.at for it in rates)
    start = [math.log(largest * 1.2), 0.0]
    logs = searched(lambda logs: squares(rates, lambda span: model(logs, span)), start)
    return with_model(rates, lambda span: model(logs, span))


def amplification(cells: list[Cell]) -> list[Cell]:
    """WAF over the span: the size of the log is fitted."""

    def model(logs: list[float], span: float) -> float:
        return SEQUENTIAL_WAF * ssdlab.write_amplification(math.exp(logs[0]) / span)

    start = [math.log(max(it.at for it in cells) * 1.2)]
    logs = searched(lambda logs: squares(cells, lambda span: model(logs, span)), start)
    return with_model(cells, lambda span: model(logs, span))


def throughput(depth: int, dies: int, die_us: float, shared_us: float) -> float:
    """Commands a second of a closed queueing network: `dies` equal stations and a shared one, by exact
    mean value analysis (Reiser and Lavenberg 1980)."""
    on_die = on_shared = rate = 0.0
    demand = die_us / dies
    for commands in range(1, depth + 1):
        waits = (demand * (1 + on_die), shared_us * (1 + on_shared))
        rate = commands / (dies * waits[0] + waits[1])
        on_die, on_shared = rate * waits[0], rate * waits[1]
    return rate * 1e6


def depths(cells: list[Cell]) -> list[Cell]:
    """A curve over the queue depth: the time on a die and on the shared stage are fitted, and their dies
    are the power of two with the least misfit."""

    def found(dies: int) -> tuple[float, list[float]]:
        def misfit(logs: list[float]) -> float:
            die_us, shared_us = map(math.exp, logs)
            return squares(cells, lambda qd: throughput(int(qd), dies, die_us, shared_us))

        first = 1e6 / cells[0].measured
        logs = searched(misfit, [math.log(first * 0.8), math.log(first * 0.1)])
        return misfit(logs), logs

    by_dies = {dies: found(dies) for dies in DIES}
    dies = min(by_dies, key=lambda it: by_dies[it][0])
    die_us, shared_us = map(math.exp, by_dies[dies][1])
    return with_model(cells, lambda qd: throughput(int(qd), dies, die_us, shared_us))


def halves(points: list[tuple[float, float]], drive: str, quantity: str, unit: str) -> list[Cell]:
    """Cells in order; the first and every second one after it are fitted."""
    return [
        Cell(drive, quantity, at, unit, measured, number % 2 == 0)
        for number, (at, measured) in enumerate(sorted(points))
    ]


def grouped(
    rows: list[dict[str, str]], key: Callable[[dict[str, str]], T]
) -> list[tuple[T, list[dict[str, str]]]]:
    rows = sorted(rows, key=key)  # type: ignore[arg-type]
    return [(name, list(them)) for name, them in groupby(rows, key)]


def read(file: Path) -> list[dict[str, str]]:
    with file.open() as text:
        return list(csv.DictReader(text))


def mean(rows: list[dict[str, str]], column: str) -> float:
    values = [float(row[column]) for row in rows if row[column]]
    return sum(values) / len(values)


def span_cells(rows: list[dict[str, str]]) -> list[Cell]:
    wanted = [
        row for row in rows if row["experiment"] == "finalop02b" and row["pattern"] == "uniform"
    ]
    cells = []
    for drive, own in grouped(wanted, lambda row: row["drive"]):
        spans = grouped(own, lambda row: float(row["span_gib"]))
        rates = [(span, mean(them, "mb_per_s_last")) for span, them in spans]
        host_rate = mean(own, "mb_per_s_first")
        named = halves(rates, drive, "settled random write", "MB/s")
        cells += random_writes(named, host_rate)
        wafs = [(span, mean(them, "waf_last")) for span, them in spans if them[0]["waf_last"]]
        if wafs:
            cells += amplification(halves(wafs, drive, "WAF", ""))
    return cells


def depth_cells(rows: list[dict[str, str]]) -> list[Cell]:
    wanted = [
        row
        for row in rows
        if row["jobs"] == "1" and row["host"] in HOSTS and row["workload"] in WORKLOADS
    ]
    cells = []
    for (drive, host, workload), own in grouped(
        wanted, lambda row: (row["drive"], row["host"], row["workload"])
    ):
        points = [
            (qd, mean(them, "iops")) for qd, them in grouped(own, lambda row: float(row["qd"]))
        ]
        cells += depths(halves(points, f"{drive} on {host}", WORKLOADS[workload], "IOPS"))
    return cells


WORKLOADS = {"randread": "random read", "randwrite": "random write"}


def summary(cells: list[Cell]) -> list[str]:
    lines = ["| quantity | fitted cells | predicted cells | median error | 90th percentile | worst |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for quantity in sorted({it.quantity for it in cells}):
        own = [it for it in cells if it.quantity == quantity]
        errors = sorted(abs(it.error) for it in own if not it.fitted)
        at = [errors[min(int(share * len(errors)), len(errors) - 1)] for share in (0.5, 0.9, 1.0)]
        shares = " | ".join(f"{error:.0%}" for error in at)
        lines.append(f"| {quantity} | {len(own) - len(errors)} | {len(errors)} | {shares} |")
    return lines


def table(cells: list[Cell]) -> str:
    lines = ["drive,quantity,at,measured,closed form,error,role"]
    for it in cells:
        at = f"QD {it.at:.0f}" if it.unit == "IOPS" else f"{it.at:.1f} GiB"
        number = (lambda value: f"{value:.2f}") if not it.unit else lambda value: f"{value:.0f}"
        role = "fitted" if it.fitted else "predicted"
        values = (f"{number(value)} {it.unit}".rstrip() for value in (it.measured, it.model))
        lines.append(",".join([it.drive, it.quantity, at, *values, f"{it.error:+.0%}", role]))
    return "\n".join(lines) + "\n"


PAGE = """# Study: half of the cells predict the other half

Generated by `python validation/python/study.py --real DIR > docs/evidence/study.md`. Every second
measured cell of a curve, in order, was used to fit a closed form, and the others were predicted: all
cells are in `drives/study.csv`. No model of the simulator and no figure of a data sheet is used.

## Data

- Spans: gabriel-haas/ssdiq-pub, commit 8a0a3f4, "SSD-iq" (PVLDB 18(11), 2025): settled 4 KiB random
  writes and WAF of two Micron 7450 over parts of their LBA space, after a sequential fill.
- Depths: louwrentius/fio-plot (BSD-3-Clause), commit 62de224: 4 KiB random reads and writes of one
  job behind hosts without RAID controller. No preparation is recorded; the reads of some drives may
  be of unmapped blocks, and the writes are mostly no steady state.

## Closed forms

| quantity | formula | fitted |
| --- | --- | --- |
| WAF | sequential WAF x `alpha / (alpha + W(-alpha e^-alpha))`, alpha = log / span | size of the log |
| settled random write | fresh rate / (1 + price x (WAF - 1)) | size of the log, price of a move |
| QD curve | dies and a shared stage, exact mean value analysis (Reiser and Lavenberg 1980) | dies, two times |

[refit.md](refit.md) has fits of the reads by simulations.

## Errors

Errors are absolute, of the predicted cells only.

@SUMMARY@

A closed form predicts one quantity of one drive; it says nothing about time, tails or skew, for which
[validation.md](validation.md) has the errors of the models and the claims of peers.

## Not predicted

- Skewed and read-only data, zones, latency under load: none of the closed forms above describes
  them. The models are beside them in [validation.md](validation.md).
- Onset of cleaning, seconds: a matter of time, which closed forms of the steady state lack.
- Cloud disks: the device behind them is not published.
"""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--real", type=Path, required=True, help="folder of the measured tables")
    real = words.parse_args().real
    cells = span_cells(read(real / "waf_vs_span.csv")) + depth_cells(read(real / "qd_curves.csv"))
    print(PAGE.replace("@SUMMARY@", "\n".join(summary(cells))), end="")
    (Path(__file__).parents[2] / "drives/study.csv").write_text(table(cells))


if __name__ == "__main__":
    main()
