"""Does a fit find the hidden values of simulated drives, and refuse runs that no model explains?

`python validation/python/fit.py`. Draws drives from a seed, runs the tests that a person would run on a new drive,
hides the write amplification (few drives report it) and one spare setting, fits, and compares. Stdout is
one JSON document, stderr a line for each drive.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ssdlab

SCALE = "1/512"
LOAD = {"duration": "4s", "steady_from": "2s"}
DEPTHS = {"time": "1s", "write_bytes": "8MiB", "queue_depths": "1,2,4,8,16,32"}
MIX = {"time": "1s", "read_percents": "90,50", "queue_depth": "4"}
"""Reads that wait behind programs: writes alone go to the buffer, and tell no time of a die."""
CACHE = {"write_bytes": "128MiB", "burst_bytes": "32MiB", "pauses": "10s"}
"""Volumes of `pslc` on this scale; a pause in which the cache is emptied."""
FITTED_SPANS = (1.0, 0.75)
"""Shares of the LBA space of the runs to fit."""
HELD_OUT_SPAN = 0.87
BASES = ("samsung-840-pro-256gb", "intel-ssd-dc-s3700-200gb", "samsung-840-evo-250gb")
PACINGS = ("proportional", "watermark", "token")
TIMES = {
    "nand.program_ns": 0.5,
    "nand.read_ns": 0.3,
    "controller.read_command_ns": 0.3,
    "controller.write_command_ns": 0.3,
    "pslc.bytes": 0.5,
    "pslc.program_ns": 0.3,
}
"""Greatest change of the logarithm of a value from the base model."""
SPARE = (0.08, 0.28)
"""Least and greatest effective spare area."""
LATENCIES_NS = {
    "controller.read_latency_ns": (3_000, 20_000),
    "controller.write_latency_ns": (3_000, 12_000),
}


def drawn(seed: int, number: int) -> tuple[str, dict[str, Any]]:
    """A base model, and the values in which the hidden drive differs from it."""
    draw = random.Random(f"{seed} {number}")
    base = BASES[number % len(BASES)]
    known = {name: value for name, value, _ in ssdlab.Drive(base).values()}
    values: dict[str, Any] = {}
    for name, most in TIMES.items():
        if name in known:
            value = int(str(known[name]).replace("_", ""))
            values[name] = round(value * math.exp(draw.uniform(-most, most)))
    for name, (low, high) in LATENCIES_NS.items():
        values[name] = draw.randint(low, high)
    dies = int(known["nand.dies_per_channel"])
    blocks = int(str(known["nand.blocks_per_plane"]).replace("_", "")) * dies
    values["nand.dies_per_channel"] = max(dies + draw.choice((-1, 0, 1)), 1)
    plain = ssdlab.Drive(base)
    used = blocks * plain.capacity_bytes / plain.raw_bytes / (1 - draw.uniform(*SPARE))
    used /= values["nand.dies_per_channel"]
    values["nand.reserved_superblocks"] = round(used * 0.02)
    values["nand.blocks_per_plane"] = round(used) + values["nand.reserved_superblocks"]
    values["gc.pacing"] = draw.choice(PACINGS)
    return base, values


def without_waf(run: ssdlab.Run) -> ssdlab.Run:
    """The run without its write amplification."""
    file = Path(run.path) / "run.json"
    record = json.loads(file.read_text())
    record["metrics"] = {k: v for k, v in record["metrics"].items() if "waf" not in k}
    record.pop("checksums", None)
    file.write_text(json.dumps(record))
    return ssdlab.Run(run.path)


def measured(drive: ssdlab.Drive, library: Path, has_cache: bool) -> list[ssdlab.Run]:
    """The runs of a drive: those to fit, and last the one to predict."""

    def run(test: str, settings: dict[str, str], share: float = 1.0) -> ssdlab.Run:
        span = None if share == 1 else int(drive.capacity_bytes * share) >> 17 << 17
        place = {"library": library, "span_bytes": span, "seed": 11}
        return without_waf(ssdlab.simulate(drive, test, **place, settings=settings))

    runs = [run("consistency", LOAD, share) for share in FITTED_SPANS]
    runs += [run("qd-sweep", DEPTHS), run("mixed", MIX)]
    if has_cache:
        runs.append(run("pslc", CACHE))
    return [*runs, run("consistency", LOAD, HELD_OUT_SPAN)]


def truth(drive: ssdlab.Drive, base: str, values: dict[str, Any]) -> dict[str, float]:
    """The hidden values by their names in the answer of a fit."""
    full = ssdlab.Drive(base, **{k: v for k, v in values.items() if k.startswith("nand.")})
    used = 1 - values["nand.reserved_superblocks"] / values["nand.blocks_per_plane"]
    named = {name.split(".", 1)[1]: value for name, value in values.items() if "pslc" not in name}
    named |= {f"pslc_{k.split('.')[1]}": v for k, v in values.items() if k.startswith("pslc.")}
    named["effective_spare"] = 1 - full.capacity_bytes / (full.raw_bytes * used)
    channels = int({name: value for name, value, _ in full.values()}["nand.channels"])
    rate = channels * values["nand.dies_per_channel"] * 1e9 / values["nand.program_ns"]
    return named | {"programs_per_s": rate}


def labelled(base: str, values: dict[str, Any], folder: Path) -> str:
    """The base model with the dies of the hidden drive, as a review counts them, and as much NAND."""
    names = ("nand.dies_per_channel", "nand.blocks_per_plane", "nand.reserved_superblocks")
    found = {name: value for name, value, _ in ssdlab.Drive(base).values() if name in names}
    known = {name: int(str(value).replace("_", "")) for name, value in found.items()}
    dies = values["nand.dies_per_channel"]
    of_die = known.pop("nand.dies_per_channel") / dies
    lines = [
        f'{name.removeprefix("nand.")} = {{ value = {round(value * of_die)}, from = "derived: as many bytes" }}'
        for name, value in known.items()
    ]
    text = [
        'name = "Labelled"',
        f'extends = "{base}"',
        "[nand]",
        f'dies_per_channel = {{ value = {dies}, from = "measured: label" }}',
        *lines,
    ]
    file = folder / "labelled.toml"
    file.write_text("\n".join(text) + "\n")
    return str(file)


def judged(fitted: ssdlab.Fit, hidden: dict[str, Any]) -> dict[str, Any]:
    """Each value: hidden, fitted, error, and whether the interval holds the hidden one."""
    judged = {}
    for it in fitted.estimates:
        true = hidden[it.name] if it.name in hidden else None
        if true is None:
            judged[it.name] = {"fitted": it.value, "determined": it.determined}
            continue
        is_share = it.name == "effective_spare"
        inside = None if it.low is None or it.high is None else it.low <= true <= it.high
        judged[it.name] = {
            "hidden": true,
            "fitted": it.value,
            "error": it.value - true if is_share else it.value / true - 1,
            "determined": it.determined,
            "inside": inside,
        }
    for choice in fitted.choices:
        judged[choice.name] = {
            "hidden": hidden[choice.name],
            "fitted": choice.value,
            "error": float(choice.value != hidden[choice.name]),
            "determined": choice.determined,
        }
    return judged


def one(seed: int, number: int, dies_known: bool) -> dict[str, Any]:
    """One hidden drive."""
    base, values = drawn(seed, number)
    drive = ssdlab.Drive(base, scale=SCALE, **values)
    with tempfile.TemporaryDirectory() as library:
        *runs, held_out = measured(drive, Path(library), "pslc.bytes" in values)
        told: dict[str, Any] = {"base": base}
        if dies_known:
            told = {"base": labelled(base, values, Path(library)), "known": ["dies_per_channel"]}
        (began, cpu), refused = (time.monotonic(), time.process_time()), None
        try:
            fitted = ssdlab.fit(runs, **told, hold_out=[held_out], scale=SCALE)
        except ssdlab.NoModelError as error:
            assert error.fit is not None
            fitted, refused = error.fit, str(error)
        row: dict[str, Any] = {
            "number": number,
            "base": base,
            "refused": refused,
            "seconds": round(time.monotonic() - began, 1),
            "processor_seconds": round(time.process_time() - cpu, 1),
            "simulations": fitted.simulations,
            "worst": round(fitted.worst(), 4),
            "values": judged(fitted, truth(drive, base, values)),
        }
        row["held_out_iops_error"] = next(
            it.error for it in fitted.residuals if it.held_out and it.figure == "iops_steady_mean"
        )
        medians = [it for it in fitted.residuals if it.figure == "latency_steady_ns_p50"]
        row["steady_median_error"] = max(abs(it.error) for it in medians)
    return row


def unexplained(seed: int) -> list[dict[str, Any]]:
    """Runs that no model explains: a disk with a rate cap, and a run of another drive among those of one."""
    base, values = drawn(seed, 0)
    capped = ssdlab.Drive(
        base, scale=SCALE, throttle__bytes_per_s=40_000_000, throttle__burst_bytes=4096
    )
    rows = []
    with tempfile.TemporaryDirectory() as library:
        place = Path(library)
        one = measured(ssdlab.Drive(base, scale=SCALE, **values), place / "one", False)[:-1]
        _, values = drawn(seed, len(BASES))
        other = measured(ssdlab.Drive(base, scale=SCALE, **values), place / "other", False)[:-1]
        sets = {"rate cap": measured(capped, place / "capped", False)[:-1]}
        for index, name in enumerate(("full span", "part of the span", "depths")):
            sets[f"{name} of another drive"] = [*one[:index], other[index], *one[index + 1 :]]
        for name, runs in sets.items():
            refused: str | None = None
            try:
                ssdlab.fit(runs, base, scale=SCALE)
            except ssdlab.NoModelError as error:
                refused = str(error)
            rows.append({"case": name, "refused": refused})
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Errors of each value over all drives that determine it."""
    names = sorted({name for row in rows for name in row["values"]})
    table = {}
    for name in names:
        all_of = [row["values"][name] for row in rows if name in row["values"]]
        sure = [it for it in all_of if it["determined"] and "error" in it]
        errors = sorted(abs(it["error"]) for it in sure)
        intervals = [it["inside"] for it in sure if it.get("inside") is not None]
        table[name] = {
            "drives": len(all_of),
            "determined": len(sure),
            "median_error": errors[len(errors) // 2] if errors else None,
            "largest_error": errors[-1] if errors else None,
            "intervals_that_hold": f"{sum(intervals)} of {len(intervals)}",
        }
    return table


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many drives reach each bound."""

    def within(name: str, bound: float, determined: bool = True) -> str:
        them = [row["values"][name] for row in rows if name in row["values"]]
        them = [it for it in them if it["determined"] or not determined]
        return f"{sum(abs(it['error']) <= bound for it in them)} of {len(them)}"

    return {
        "drives": len(rows),
        "refused": sum(row["refused"] is not None for row in rows),
        "spare within 1 point": within("effective_spare", 0.01, False),
        "program time within 5%, if determined": within("program_ns", 0.05),
        "programs a second within 5%, if determined": within("programs_per_s", 0.05),
        "dies right, if determined": within("dies_per_channel", 0.0),
        "pacing right": within("pacing", 0.0, False),
        "held-out steady rate within 5%": sum(abs(row["held_out_iops_error"]) <= 0.05 for row in rows),
        "longest fit in seconds": max((row["seconds"] for row in rows), default=None),
        "most processor seconds": max((row["processor_seconds"] for row in rows), default=None),
    }


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--drives", type=int, default=20)
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--seed", type=int, default=28)
    words.add_argument("--dies-known", action="store_true", help="give each fit the number of dies")
    words.add_argument("--only-drives", action="store_true")
    asked = words.parse_args()
    rows = []
    for number in range(asked.first, asked.first + asked.drives):
        row = one(asked.seed, number, asked.dies_known)
        rows.append(row)
        print(line(row), file=sys.stderr, flush=True)
    document = {"seed": asked.seed, "scale": SCALE, "dies_known": asked.dies_known, "drives": rows}
    document |= {"counts": counts(rows), "values": summary(rows)}
    if not asked.only_drives:
        document["unexplained"] = unexplained(asked.seed)
    print(json.dumps(document, indent=1))


def line(row: dict[str, Any]) -> str:
    """A drive in a line: errors of its values, a mark at those that are not determined."""
    values = row["values"].items()
    errors = [
        f"{name} {it['error']:+.1%}{'' if it['determined'] else ' (not determined)'}"
        f"{' OUT' if it.get('inside') is False else ''}"
        for name, it in values
        if "error" in it
    ]
    head = f"{row['number']} {row['base']} {row['seconds']} s ({row['processor_seconds']} cpu)"
    held_out = f"held out {row['held_out_iops_error']:+.1%}, worst {row['worst']:.1%}"
    median = f"steady median {row['steady_median_error']:.1%}"
    return f"{head}, {row['simulations']} runs, {held_out}, {median}: " + ", ".join(errors) + (
        f"; REFUSED {row['refused']}" if row["refused"] else ""
    )


if __name__ == "__main__":
    main()
