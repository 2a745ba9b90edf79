"""Runs that several tests read, made once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ssdlab

SMALL = {"scale": "1/256"}
SHORT = {"duration": "6s", "steady_from": "3s"}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A library with two runs of a small drive, at two spare areas."""
    path = tmp_path_factory.mktemp("library")
    drive = ssdlab.Drive("samsung-840-pro-256gb", **SMALL)
    for spare in (None, "25%"):
        ssdlab.simulate(drive, "consistency", library=path, spare=spare, label="two", **SHORT)
    yield path


@pytest.fixture(scope="session")
def run(library: Path) -> ssdlab.Run:
    """The run at the drive's own spare area."""
    return ssdlab.read_library(library)[0]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Ray cluster of two nodes, to which this process is connected; each owns the drive of its name, a
    file of 8 MiB in the directory that is returned. The left one has two CPUs, for two runs at a time. The
    right one owns `block` too, a loop device over such a file, where this process can make one."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    drives = tmp_path_factory.mktemp("drives")
    # Workers of Ray give way to everything else by default; beside other tests they would starve.
    os.environ["RAY_worker_niceness"] = "0"

    def node(processors: int, **owned: str) -> dict[str, Any]:
        return {
            "num_cpus": processors,
            "include_dashboard": False,
            "resources": {f"ssdlab:{name}": 1 for name in owned},
            "env_vars": {"SSDLAB_LAB": json.dumps(owned)},
        }

    files = {name: drives / name for name in ("left", "right", "block")}
    for file in files.values():
        file.write_bytes(bytes(8 << 20))
    block = attached(files.pop("block"))
    targets = {name: f"file:{file}" for name, file in files.items()}
    try:
        nodes = Cluster(initialize_head=True, head_node_args=node(2, left=targets["left"]))
        nodes.add_node(**node(1, right=targets["right"], **({"block": block} if block else {})))
        nodes.wait_for_nodes()
        ray.init(address=nodes.address, log_to_driver=False)
        yield drives
    finally:
        ray.shutdown()
        nodes.shutdown()
        if block:
            subprocess.run(["losetup", "--detach", block], check=True)


def attached(file: Path) -> str | None:
    """A loop device over a file, or `None` if this process cannot make one."""
    if os.geteuid() != 0 or shutil.which("losetup") is None:
        assert os.environ.get("CI") != "true", "CI has root and losetup"
        return None
    made = subprocess.run(
        ["losetup", "--find", "--show", str(file)], check=True, capture_output=True, text=True
    )
    return made.stdout.strip()
