"""Does fio-plot read an export as it reads fio's own JSON, and get the values of the run?

SSDLAB_BIN names the program; without it the test is skipped.
"""

import json
import os
import subprocess
import sys

import pytest
from fio_plot.fiolib import jsonimport, jsonparsing

SSDLAB = os.environ.get("SSDLAB_BIN")
DEPTHS = [1, 4, 16]

pytestmark = pytest.mark.skipif(SSDLAB is None, reason="SSDLAB_BIN is not set")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A queue depth sweep of a simulated drive: its run.json, and the directory for fio-plot."""
    place = tmp_path_factory.mktemp("fio-plot")
    depths = ",".join(map(str, DEPTHS))
    settings = [f"queue_depths={depths}", "time=1s", "write_bytes=64MiB", "random_span=256MiB"]
    command = [SSDLAB, "run", "qd-sweep", "sim:sandisk-extreme-ii-480gb?scale=1/64", "--quiet"]
    command += [word for setting in settings for word in ("--set", setting)]
    command += ["--library", str(place / "library"), "--format", "json"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    run_dir = json.loads(run.stdout)["run_dirs"][0]
    export = [SSDLAB, "library", "export", run_dir, "--as", "fio-json", "--split", "-o", str(place / "fio")]
    subprocess.run(export, check=True, capture_output=True)
    with open(os.path.join(run_dir, "run.json"), encoding="utf-8") as file:
        return json.load(file), str(place / "fio")


@pytest.mark.parametrize("kind", ["read", "write"])
def test_fio_plot_gets_the_values_of_the_run(exported, kind):
    run, directory = exported
    settings = {
        "rw": f"rand{kind}",
        "filter": (kind,),
        "iodepth": DEPTHS,
        "numjobs": [1],
        "input_directory": [directory],
    }
    files = jsonimport.list_json_files(settings)
    dataset = jsonimport.import_json_dataset(settings, files)
    rows = jsonparsing.parse_json_data(settings, dataset)[0]["data"]
    assert [int(row["iodepth"]) for row in rows] == DEPTHS
    for depth, row in zip(DEPTHS, rows):
        phase = next(it for it in run["phases"] if it["name"] == f"{kind}_qd{depth}")
        rate = phase["ios"] * 1e9 / phase["duration_ns"]
        assert row["iops"] == pytest.approx(rate, rel=1e-6)
        mean = run["metrics"][f"qd-sweep.{kind}_qd{depth}.latency_ns_mean"]
        assert row["lat"] == pytest.approx(mean, rel=1e-6)


def test_fio_plot_draws_the_export(exported, tmp_path):
    _, directory = exported
    picture = tmp_path / "depths.png"
    command = [sys.executable, "-m", "fio_plot", "-i", directory, "--source", "ssdlab", "-T", "QD"]
    command += ["-l", "-r", "randread", "-d", *map(str, DEPTHS), "-o", str(picture)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    assert picture.stat().st_size > 10_000
