"""fio-plot beside ssdlab: python bench/peers/fio_plot.py --peer fio-plot --program ssdlab

Install fio and fio-plot (`pip install fio-plot`). Both read the same results of fio: drives of bench-fio with random
writes at six queue depths each. fio measures its null engine once, and each drive gets a copy with its own name.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

DEPTHS = ("1", "2", "4", "8", "16", "32")
LOAD = ("-r", "randwrite", "-n", "1")


@dataclass
class Cost:
    wall_s: float
    processor_s: float
    size_bytes: int


def cost(command: list[str | Path], made: Path) -> Cost:
    def processor_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    wall, processor = time.monotonic(), processor_s()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[:4]} … ended with {done.returncode}: {done.stderr[-2000:]}")
    spent = Cost(time.monotonic() - wall, processor_s() - processor, 0)
    files = made.rglob("*") if made.is_dir() else [made]
    spent.size_bytes = sum(file.stat().st_size for file in files if file.is_file())
    return spent


def results_of_fio(root: Path, drives: int) -> list[Path]:
    load = ["--name=randwrite", "--ioengine=null", "--size=1G", "--rw=randwrite", "--bs=4k", "--numjobs=1"]
    load += ["--runtime=1", "--time_based", "--output-format=json"]
    results = {}
    for depth in DEPTHS:
        done = subprocess.run(["fio", *load, f"--iodepth={depth}"], check=True, capture_output=True)
        results[depth] = json.loads(done.stdout)
    folders = [root / f"drive-{number:04}" for number in range(drives)]
    for folder in folders:
        folder.mkdir(parents=True)
        for depth, result in results.items():
            result["jobs"][0]["job options"]["filename"] = f"/dev/{folder.name}"
            (folder / f"randwrite-{depth}-1.json").write_text(json.dumps(result))
    return folders


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--peer", default="fio-plot", help="program of fio-plot")
    arguments.add_argument("--program", default="ssdlab", help="program of ssdlab")
    arguments.add_argument("--drives", type=int, default=2000)
    arguments.add_argument("--turns", type=int, default=5)
    asked = arguments.parse_args()
    turns: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        inputs = results_of_fio(root / "fio", asked.drives)
        for turn in range(asked.turns):
            library = root / f"library-{turn}"

            def take(name: str, made: Path, *command: str | Path) -> None:
                turns.setdefault(name, []).append(cost(list(command), made))

            picture = root / "picture.png"
            depths = ("-d", *DEPTHS)
            take("fio-plot: one drive", picture, asked.peer, "-i", inputs[0], "-l", "-T", "One", *LOAD, *depths, "-o", picture)
            take("fio-plot: ten drives", picture, asked.peer, "-i", *inputs[:10], "-C", "-T", "Ten", *LOAD, "-d", "1", "-o", picture)
            take("fio-plot: all drives", picture, asked.peer, "-i", *inputs, "-C", "-T", "All", *LOAD, "-d", "1", "-o", picture)
            take("ssdlab: import of all", library, asked.program, "library", "import", "fio", root / "fio", "--library", library)
            runs = sorted(library.iterdir())
            page, site = root / "page.html", root / f"site-{turn}"
            take("ssdlab: report of one drive", page, asked.program, "report", runs[0], "-o", page)
            take("ssdlab: report of ten drives", page, asked.program, "report", *runs[:10], "-o", page)
            take("ssdlab: site of all drives", site, asked.program, "library", "site", site, "--library", library)
    for name, costs in turns.items():
        wall, processor = (statistics.median(getattr(cost, key) for cost in costs) for key in ("wall_s", "processor_s"))
        print(f"{name}: {wall:.2f} s, {processor:.2f} s of processor time, {costs[-1].size_bytes / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
