"""The drive and the load of the comparisons with other simulators, and ssdlab with both.

8 GiB of flash: 8 channels with a die of 2 planes each, 512 blocks of 256 pages of 4 KiB in a plane, of which 7 GB
belong to the user. A page is read in 75 us and programmed in 750 us, a block erased in 3.8 ms. The drive is filled,
and then written at random, 4 KiB each, 32 at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CHANNELS, PLANES, BLOCKS, PAGES, PAGE_BYTES = 8, 2, 512, 256, 4096
READ_NS, PROGRAM_NS, ERASE_NS = 75_000, 750_000, 3_800_000
USER_BYTES = 7_000_000_000
QUEUE_DEPTH = 32
RAW_BYTES = CHANNELS * PLANES * BLOCKS * PAGES * PAGE_BYTES
SPARE_SHARE = 1 - USER_BYTES / RAW_BYTES

MODEL = f"""
name = "Drive of the comparisons"
host = {{ value = "nvme-2024", from = "assumed: for a comparison" }}
[capacity_gb]
value = {USER_BYTES // 1_000_000_000}
from = "assumed: for a comparison"
[interface]
link_bytes_per_s = {{ value = 4_000_000_000, from = "assumed: for a comparison" }}
queue_depth = {{ value = {QUEUE_DEPTH}, from = "assumed: for a comparison" }}
[controller]
read_command_ns = {{ value = 1_000, from = "assumed: for a comparison" }}
write_command_ns = {{ value = 1_000, from = "assumed: for a comparison" }}
relocate_ns = {{ value = 1_000, from = "assumed: for a comparison" }}
[nand]
channels = {{ value = {CHANNELS}, from = "assumed: for a comparison" }}
dies_per_channel = {{ value = 1, from = "assumed: for a comparison" }}
planes = {{ value = {PLANES}, from = "assumed: for a comparison" }}
blocks_per_plane = {{ value = {BLOCKS}, from = "assumed: for a comparison" }}
pages_per_block = {{ value = {PAGES}, from = "assumed: for a comparison" }}
page_bytes = {{ value = {PAGE_BYTES}, from = "assumed: for a comparison" }}
read_ns = {{ value = {READ_NS}, from = "assumed: for a comparison" }}
program_ns = {{ value = {PROGRAM_NS}, from = "assumed: for a comparison" }}
erase_ns = {{ value = {ERASE_NS}, from = "assumed: for a comparison" }}
channel_bytes_per_s = {{ value = 333_000_000, from = "assumed: for a comparison" }}
reserved_superblocks = {{ value = 0, from = "assumed: for a comparison" }}
[buffer]
write_bytes = {{ value = 33_554_432, from = "assumed: for a comparison" }}
power_loss_protected = {{ value = true, from = "assumed: for a comparison" }}
[gc]
policy = {{ value = "greedy", from = "assumed: for a comparison" }}
candidates = {{ value = 10, from = "assumed: for a comparison" }}
pacing = {{ value = "proportional", from = "assumed: for a comparison" }}
free_low = {{ value = 3, from = "assumed: for a comparison" }}
free_high = {{ value = 24, from = "assumed: for a comparison" }}
"""

Run = Callable[[Path, int], float]
"""Fills the drive and writes a number of commands, with files in a directory: the programmed pages."""


def ssdlab(program: Path) -> Run:
    def run(directory: Path, commands: int) -> float:
        model, workload = directory / "drive.toml", directory / "load.toml"
        model.write_text(MODEL)
        workload.write_text(
            f"[job.load]\nop = 'write'\nblock = '4KiB'\nqueue_depth = {QUEUE_DEPTH}\n"
            f"pattern = 'uniform'\nbytes = '{commands * PAGE_BYTES}'\n"
        )
        output = subprocess.check_output(
            [program, "run", "workload", f"sim:{model}", "--quiet", "--format", "json"]
            + ["--library", directory / "runs", "--workload", workload]
            + ["--set", "purge=false", "--set", "fill=true"]
        )
        [found] = json.loads(output)["run_dirs"]
        figures = json.loads((Path(found) / "run.json").read_text())["metrics"]
        return float(figures["workload.all.waf"]) * commands

    return run


def cost(run: Run, few: int, many: int) -> tuple[float, float]:
    """The ns of processor time and the programmed pages of a command: those of many commands less those of few."""

    def processor_s(commands: int) -> tuple[float, float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as directory:
            pages = run(Path(directory), commands)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, pages

    start_s, start_pages = processor_s(few)
    whole_s, whole_pages = processor_s(many)
    commands = many - few
    return 1e9 * (whole_s - start_s) / commands, (whole_pages - start_pages) / commands


def compare(name: str, version: str, run: Run, few: int, many: int) -> None:
    """Takes turns and prints a table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", type=Path, required=True, help="the built simulator")
    parser.add_argument("--program", type=Path, required=True, help="ssdlab")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    os.environ["PEER"] = str(given.peer.resolve())
    ours, theirs = [], []
    for turn in range(given.turns):
        theirs.append(cost(run, few, many))
        ours.append(cost(ssdlab(given.program.resolve()), 4_000_000, 12_000_000))
        print(f"turn {turn + 1}: {theirs[-1]} {ours[-1]}", file=sys.stderr)
    ratios = sorted(peer[0] / own[0] for peer, own in zip(theirs, ours, strict=True))
    print("| simulator | ns of processor time a command | WAF |")
    print("| -- | -- | -- |")
    for title, costs in ((f"{name} {version}", theirs), ("ssdlab", ours)):
        ns, waf = (statistics.median(values) for values in zip(*costs, strict=True))
        print(f"| {title} | {ns:,.0f} | {waf:.2f} |")
    print(f"\nRatio of {given.turns} turns: {statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})")
