"""Measured drives fitted by simulations on half of their cells, and predicted on the other half.

`python validation/python/refit.py --real DIR --program ssdlab > docs/evidence/refit.md`, with the ssdlab package
installed or on PYTHONPATH. DIR has the tables `qd_curves.csv`, `waf_vs_span.csv` and `series_span_10s.csv` of
measurements by others, which stay outside of the repository. Each cell becomes the result of fio that it would be, the
program imports it, and `ssdlab.fit` takes those of every second depth or span. All figures and values go to stderr.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import ssdlab

SCALE = "1/1024"
DEPTH_MAX = 64
JOBS = ("1", "4")
"""Jobs of the curves that are used: one, and four side by side, which are one load."""
VALUES = (
    "effective_spare program_ns relocate_ns write_command_ns link_bytes_per_s read_ns read_command_ns read_latency_ns "
    "write_latency_ns pslc_bytes pslc_program_ns host_latency_ns dies_per_channel pacing"
).split()
"""All that a fit could change: with these known, its answer is the base model."""
KNOWN_OF_READS = ["pacing", "read_latency_ns", "link_bytes_per_s", "write_command_ns"]
"""Values that reads do not tell, and the drive's latency, without which nothing tells that of the host."""
KNOWN_OF_WRITES = [value for value in VALUES if value not in ("effective_spare", "program_ns")]
"""All but what settled rates over spans tell: the spare area and the programs of NAND."""
CURVES = {
    ("samsung-860-pro-512", "m1015"): "samsung-860-pro-512gb",
    ("kingston-dc500m-480", "m1015"): "kingston-dc500m-480gb",
    ("crucial-mx200-250#1", "g8-sata300"): "crucial-mx200-250gb",
}
"""Drives and hosts without RAID controller, and the models to begin with."""
SPANS = {"micron-7450-max-800": "micron-7450-max-800gb", "micron-7450-pro-960": "micron-7450-pro-960gb"}
"""Drives with settled writes over several spans, and the models to begin with."""
SETTLED_FROM_S = 1_400
"""Second from which the program takes the rate of imported writes as settled: a shorter run has none."""


@dataclass(frozen=True)
class Cell:
    """A measured load, and the result of fio that it would be."""

    place: float
    """Depth (commands outstanding, of all jobs) or span: of every second place, the cells are fitted."""
    options: dict[str, str]
    figures: dict[str, Any]
    iops: Sequence[float] = ()
    """Rate of each second."""


def rows(file: Path) -> list[dict[str, str]]:
    """A table."""
    with file.open() as text:
        return list(csv.DictReader(text))


def curve(real: Path, drive: str, host: str) -> list[Cell]:
    """Random reads at the depths of one job and of four, the fewest commands outstanding first."""
    own = [
        row
        for row in rows(real / "qd_curves.csv")
        if (row["drive"], row["host"], row["workload"]) == (drive, host, "randread") and row["jobs"] in JOBS
    ]
    own.sort(key=lambda row: (int(row["qd"]) * int(row["jobs"]), int(row["jobs"])))
    cells = []
    for row in own:
        depth = int(row["qd"]) * int(row["jobs"])
        if depth <= DEPTH_MAX:
            options = {"rw": "randread", "iodepth": row["qd"], "numjobs": row["jobs"]}
            median = {"percentile": {"50.000000": round(float(row["p50_us"]) * 1e3)}}
            told = figures(float(row["iops"]), float(row["run_s"]), median)
            cells.append(Cell(depth, options, told))
    return cells


def spans(real: Path, drive: str) -> list[Cell]:
    """Random writes over parts of the drive that are filled before, the smallest first."""
    cells = []
    for run in rows(real / "waf_vs_span.csv"):
        is_load = (run["drive"], run["experiment"], run["pattern"]) == (drive, "finalop02b", "uniform")
        if is_load and float(run["seconds"]) > SETTLED_FROM_S:
            place = float(run["span_gib"])
            own = [
                row
                for row in rows(real / "series_span_10s.csv")
                if (row["drive"], row["run"], row["phase"]) == (drive, run["run"], "uniform")
            ]
            iops = [float(row["mb_per_s"]) * 1e6 / 4096 for row in own for _ in range(10)]
            size = f"{round(place * 1024)}m"
            options = {"rw": "randwrite", "iodepth": "128", "numjobs": "4", "size": size}
            cells.append(Cell(place, options, figures(statistics.mean(iops), len(iops)), iops))
    return sorted(cells, key=lambda cell: cell.place)


def figures(iops: float, seconds: float, latencies: dict[str, Any] | None = None) -> dict[str, Any]:
    """The figures of one direction in a document of fio."""
    count = round(iops * seconds)
    found = {"iops": iops, "bw_bytes": round(iops * 4096), "bw": round(iops * 4), "runtime": round(seconds * 1e3)}
    found |= {"total_ios": count, "io_bytes": count * 4096}
    return found | ({"clat_ns": {"N": count, **latencies}} if latencies else {})


def imported(program: str, drive: str, cell: Cell, folder: Path) -> ssdlab.Run:
    """The run of a cell."""
    folder.mkdir()
    kind = cell.options["rw"].removeprefix("rand")
    options = {"bs": "4k", "direct": "1", "filename": drive, "group_reporting": "1", **cell.options}
    if cell.iops:
        options |= {"write_iops_log": "cell", "log_avg_msec": "1000"}
        lines = [f"{second * 1000}, {round(rate)}, 1, 0, 0\n" for second, rate in enumerate(cell.iops, start=1)]
        (folder / "cell_iops.1.log").write_text("".join(lines))
    job = {"jobname": "cell", "groupid": 0, "error": 0, "job options": options, "read": {}, "write": {}, "trim": {}}
    job[kind] = cell.figures
    document = {"fio version": "fio-3.1", "timestamp": 1_700_000_000, "jobs": [job]}
    (folder / "result.json").write_text(json.dumps(document))
    call = [program, "library", "import", "fio", folder, "--library", folder / "runs", "--format", "json"]
    done = subprocess.run(call, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return ssdlab.Run(json.loads(done.stdout)["run_dirs"][0])


def residuals(runs: list[ssdlab.Run], hold_out: list[ssdlab.Run], base: str, known: list[str]) -> tuple[ssdlab.Fit, str]:
    """The fit, and words for the figure that it misses most, if it is refused."""
    try:
        return ssdlab.fit(runs, base, hold_out=hold_out, known=known, scale=SCALE), ""
    except ssdlab.NoModelError as error:
        assert error.fit is not None
        worst = max((it for it in error.fit.residuals if not it.held_out), key=lambda it: it.excess)
        return error.fit, f"`{worst.figure}` is {worst.measured:,.0f}, and that of the best model {worst.model:,.0f}"


def errors(fitted: ssdlab.Fit, held_out: bool) -> str:
    """Median and worst error of the rates, used or held out."""
    them = [it for it in fitted.residuals if it.held_out == held_out]
    rates = [abs(it.error) for it in them if it.figure.endswith((".iops", "iops_steady_mean"))]
    return f"{statistics.median(rates):.0%} ({max(rates):.0%})"


@dataclass
class Row:
    """The outcome of a drive."""

    drive: str
    cells: str
    base: str
    fitted: str
    predicted: str
    determined: str
    refused: str

    def line(self) -> str:
        """A row of the table."""
        return f"| {' | '.join((self.drive, self.cells, self.base, self.fitted, self.predicted, self.determined))} |"


def row(program: str, drive: str, base: str, known: list[str], cells: list[Cell]) -> Row:
    """Fits a drive on the cells of every second place."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        runs = [imported(program, drive, cell, Path(folder) / str(number)) for number, cell in enumerate(cells)]
        fitted_places = sorted({cell.place for cell in cells})[::2]
        used: list[ssdlab.Run] = []
        held_out: list[ssdlab.Run] = []
        for cell, run in zip(cells, runs, strict=True):
            (used if cell.place in fitted_places else held_out).append(run)
        plain, _ = residuals(used, held_out, base, VALUES)
        fitted, refused = residuals(used, held_out, base, known)
    seconds = time.monotonic() - started
    print(f"{drive}: {seconds:.0f} s, {fitted.simulations} simulations, {refused or 'explained'}", file=sys.stderr)
    for it in fitted.residuals:
        print(f"  {it.figure} {it.measured:.4g} {it.model} {it.error:+.1%} {it.held_out}", file=sys.stderr)
    for value in fitted.estimates:
        print(f"  {value}", file=sys.stderr)
    determined = [it for it in fitted.estimates if it.determined]
    return Row(
        drive,
        f"{len(used)} + {len(held_out)}",
        errors(plain, True),
        errors(fitted, False),
        errors(fitted, True),
        ", ".join(f"`{it.name}`" for it in determined) or "none",
        refused,
    )


PAGE = """# Refit: half of the cells of real drives predict the other half

Generated by `python validation/python/refit.py --real DIR --program ssdlab > docs/evidence/refit.md`
on @DATE@ at commit @COMMIT@, with simulations of @SCALE@ of each drive. Measurements by others become
the results of fio that they are, `ssdlab.fit` uses every second depth or span (*fitted*), and the others are
*predicted*. The drives are visible ones: their models were made in sight of some of these cells.
Errors are of rates, the median and in brackets the worst.

| drive | cells, fitted + predicted | base model, predicted cells | fitted cells | predicted cells | determined |
| --- | --- | --- | --- | --- | --- |
@ROWS@

@REFUSED@

Sources:

- the SATA drives: 4 KiB random reads of one job and of four side by side at up to 64 commands outstanding
  (louwrentius/fio-plot, commit 62de224), behind hosts without RAID controller; their time is fitted
  (`host_latency_ns`). The preparation is not recorded.
- the two 7450: 4 KiB random writes with 512 commands outstanding over a part of the drive that was filled
  before (gabriel-haas/ssdiq-pub, commit 8a0a3f4), whose rate is settled. A mean of 10 s stands for each of
  its seconds.

All fits together take 267 s of processor time.

- A refused fit is no better than its base, or worse: both miss the median at QD 64, which lies at 0.6 of the
  mean that rate and depth give (Little), so that two kinds of commands are mixed there.
- The MX200 stood behind a MicroServer without a profile: of the base model's error the host and the
  rate of the port are the most.
- The base model of the 7450 MAX was fitted to some of these cells, that of the PRO to none of them. Two cells
  leave nothing over beside two values: the fit of the MAX is 4% too fast at the full span, which lies beyond
  the fitted ones. That of the PRO, with three cells, misses 1.2% at most.
"""


def main() -> None:
    """Fits and prints."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--real", type=Path, required=True, help="folder of the measured tables")
    words.add_argument("--program", default="ssdlab")
    words.add_argument("--only", default="", help="begin of the names of drives")
    asked = words.parse_args()
    drives = [
        (f"{drive} on {host}", base, KNOWN_OF_READS, curve(asked.real, drive, host))
        for (drive, host), base in CURVES.items()
    ]
    drives += [(drive, base, KNOWN_OF_WRITES, spans(asked.real, drive)) for drive, base in SPANS.items()]
    drives = [it for it in drives if it[0].startswith(asked.only)]
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda it: row(asked.program, *it), drives))
    print(f"{time.process_time():.0f} s of processor time", file=sys.stderr)
    refused = [f"- {it.drive}: {it.refused}" for it in found if it.refused]
    call = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(call, check=True, capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()
    told = "The fits that are refused (`no-model`), their best values are in the table:\n\n" + "\n".join(refused)
    parts = {"DATE": str(date.today()), "COMMIT": commit, "SCALE": SCALE}
    parts |= {"ROWS": "\n".join(it.line() for it in found), "REFUSED": told if refused else "No fit is refused."}
    page = PAGE
    for name, text in parts.items():
        page = page.replace(f"@{name}@", text)
    print(page, end="")


if __name__ == "__main__":
    main()
