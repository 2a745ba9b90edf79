"""MQSim beside ssdlab on MQSim's own example: python bench/peers/mqsim_example.py MQSIM_DIRECTORY --program ssdlab

The directory is a clone of https://github.com/CMU-SAFARI/MQSim, built with `make`. Both simulators run the synthetic
scenarios of its `workload.xml` on the drive of its `ssdconfig.xml`, which `ssdlab sim convert` converts; with the map of
MQSim in DRAM (`Ideal_Mapping_Table`) and cached (`CMT_Capacity`). Prints a table.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

SCENARIOS = {1: "writes", 2: "reads"}
CACHE = "map_cache.bytes=2097152&map_cache.entry_bytes=9"
"""What the conversion leaves to the reader: `CMT_Capacity`, and an entry of MQSim on a drive of this size."""


def peer(source: Path, ideal_map: bool, directory: Path) -> dict[int, tuple[float, float]]:
    """IOPS of all flows and their mean latency in us, by the number of the scenario."""
    config = (source / "ssdconfig.xml").read_text()
    key = "Ideal_Mapping_Table"
    config = re.sub(f"<{key}>.*</{key}>", f"<{key}>{str(ideal_map).lower()}</{key}>", config)
    (directory / "ssd.xml").write_text(config)
    scenarios = re.findall(r"<IO_Scenario>.*?</IO_Scenario>", (source / "workload.xml").read_text(), re.DOTALL)
    synthetic = "".join(scenarios[number - 1] for number in SCENARIOS)
    (directory / "load.xml").write_text(f"<MQSim_IO_Scenarios>{synthetic}</MQSim_IO_Scenarios>")
    subprocess.run(
        [source / "MQSim", "-i", directory / "ssd.xml", "-w", directory / "load.xml"],
        check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    found = {}
    for place, number in enumerate(SCENARIOS, 1):
        text = (directory / f"load_scenario_{place}.xml").read_text()
        rates, latencies_us = (
            [float(it) for it in re.findall(f"<{name}>(.*)</{name}>", text)] for name in ("IOPS", "Device_Response_Time")
        )
        weighted = sum(rate * latency for rate, latency in zip(rates, latencies_us, strict=True))
        found[number] = sum(rates), weighted / sum(rates)
    return found


def ours(program: str, source: Path, number: int, values: str, directory: Path) -> tuple[float, float]:
    """The same of ssdlab."""
    for file, options in (("ssdconfig", []), ("workload", ["--scenario", str(number)])):
        call = [program, "sim", "convert", source / f"{file}.xml", *options, "--output", directory / f"{file}.toml"]
        (directory / f"{file}.toml").unlink(missing_ok=True)
        subprocess.run(call, check=True, capture_output=True)
    target = f"sim:{directory / 'ssdconfig.toml'}" + (f"?{values}" if values else "")
    load = ["--workload", directory / "workload.toml", "--library", directory / "runs", "--format", "json"]
    done = subprocess.run([program, "run", "workload", target, *load], check=True, capture_output=True, text=True)
    (run,) = json.loads(done.stdout)["run_dirs"]
    metrics = json.loads((Path(run) / "run.json").read_text())["metrics"]
    return metrics["workload.all.iops"], metrics["workload.all.latency_ns_mean"] / 1e3


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--program", default="ssdlab")
    asked = parser.parse_args()
    columns = {}
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        for name, ideal_map, values in (("map in DRAM", True, ""), ("map cached", False, CACHE)):
            columns[f"MQSim, {name}"] = peer(asked.source, ideal_map, directory)
            columns[f"ssdlab, {name}"] = {
                number: ours(asked.program, asked.source, number, values, directory) for number in SCENARIOS
            }
    print("| | " + " | ".join(f"{it}: IOPS | mean us" for it in SCENARIOS.values()) + " |")
    print("| -- " * (1 + 2 * len(SCENARIOS)) + "|")
    for name, found in columns.items():
        print(f"| {name} | " + " | ".join(f"{iops:,.0f} | {mean:.0f}" for iops, mean in found.values()) + " |")


if __name__ == "__main__":
    main()
