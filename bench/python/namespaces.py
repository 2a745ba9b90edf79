"""A sweep on two hosts that share nothing but a network; a worker lost, the head lost, and the sweep resumed.

    python bench/python/namespaces.py [--points 40]

Each host is a network namespace with an address, a `/tmp/ray` and a `/dev/shm` of its own, so that Ray's object store is
too, and a cable (veth) joins both. They start as docs/guide/cluster.md says. Needs root, `ip`, `nsenter` and Ray; without
one of them it says so on stderr and ends with code 77. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SKIPPED = 77
HOSTS = {"ssdlab-head": "10.77.0.1", "ssdlab-other": "10.77.0.2"}
HEAD, OTHER = HOSTS
PORT = 6379
STORE_BYTES = 100 << 20
WAIT_S = 300.0
SPEC: dict[str, Any] = {
    "design": "lhs",
    "fixed": {"drive": "samsung-840-pro-256gb", "scale": "1/256", "set.duration": "6s", "set.steady_from": "3s"},
    "vary": {"nand.program_ns": {"from": 1_000_000, "to": 3_000_000}, "seed": {"from": 1, "to": 90_000}},
}
DRIVER = """
import sys, json, ssdlab
spec, output, executor = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
ssdlab.sweep(spec, output, executor=executor, batch=1)
"""


def called(*words: object) -> str:
    """The output of a command that succeeds."""
    done = subprocess.run([str(it) for it in words], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


def missing() -> str | None:
    """Words for the first thing that this machine lacks."""
    if os.geteuid() != 0:
        return "root"
    for program in ("ip", "nsenter"):
        if shutil.which(program) is None:
            return f"the program {program}"
    for module in ("ray", "ssdlab"):
        if importlib.util.find_spec(module) is None:
            return f"the Python package {module}"
    made = subprocess.run(["ip", "netns", "add", "ssdlab-probe"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"network namespaces ({made.stderr.strip()})"
    called("ip", "netns", "delete", "ssdlab-probe")
    return None


@dataclass
class Host:
    """A network namespace; `node` is the process that started Ray in it."""

    name: str
    node: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts Ray as the documentation says, with an object store of its own."""
        place = ["--head", f"--port={PORT}"] if self.name == HEAD else ["--address", f"{HOSTS[HEAD]}:{PORT}"]
        more = ["--num-cpus=1", f"--object-store-memory={STORE_BYTES}", "--include-dashboard=false"]
        more = more if self.name == HEAD else more[:2]
        call = [sys.executable, "-m", "ssdlab.lab", "start", *place, f"--node-ip-address={HOSTS[self.name]}", *more]
        own = "mount -t tmpfs tmpfs /tmp/ray; mount -t tmpfs tmpfs /dev/shm; exec \"$@\""
        words = ["ip", "netns", "exec", self.name, "sh", "-ec", own, "sh", *call, "--block", "--disable-usage-stats"]
        os.makedirs("/tmp/ray", exist_ok=True)
        environment = {**os.environ, "RAY_worker_niceness": "0"}
        self.node = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)

    def inside(self, *words: str, **how: Any) -> subprocess.Popen[bytes]:
        """A process on this host."""
        assert self.node is not None, "Ray has been started"
        call = ["nsenter", "--target", str(self.node.pid), "--net", "--mount", *words]
        environment = {**os.environ, "RAY_ADDRESS": f"{HOSTS[HEAD]}:{PORT}"}
        return subprocess.Popen(call, stdin=subprocess.DEVNULL, env=environment, **how)

    def processes(self) -> list[int]:
        """The processes on this host."""
        return [int(it) for it in called("ip", "netns", "pids", self.name).split()]

    def lose(self, but: int | None = None) -> None:
        """Kills all processes of the host at once, but one."""
        for process in self.processes():
            if process != but:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        if self.node is not None:
            self.node.wait(timeout=WAIT_S)
            self.node = None


def until(holds: Callable[[], bool], what: str) -> float:
    """Waits for something; returns how long."""
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > WAIT_S:
            raise TimeoutError(f"{what}: not within {WAIT_S:.0f} s")
        time.sleep(0.05)
    return time.monotonic() - started


def noted(output: Path) -> int:
    """The runs of a sweep that have ended."""
    log = output / "outcomes.jsonl"
    return log.read_text().count("\n") if log.exists() else 0


def is_busy(host: Host) -> bool:
    """Whether a worker of Ray carries out runs on a host."""
    for process in host.processes():
        try:
            if Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ray::carry_out_apart"):
                return True
        except OSError:
            continue
    return False


class Lab:
    """Both hosts, and the sweep on them."""

    def __init__(self, points: int, folder: Path) -> None:
        self.head, self.other = Host(HEAD), Host(OTHER)
        self.spec, self.folder = json.dumps({**SPEC, "points": points}), folder

    def __enter__(self) -> Lab:
        for name in HOSTS:
            called("ip", "netns", "add", name)
            called("ip", "-n", name, "link", "set", "lo", "up")
        called("ip", "link", "add", "cable", "netns", HEAD, "type", "veth", "peer", "name", "cable", "netns", OTHER)
        for name, address in HOSTS.items():
            called("ip", "-n", name, "address", "add", f"{address}/24", "dev", "cable")
            called("ip", "-n", name, "link", "set", "cable", "up")
            # Ray finds the address of its own host by the way to the world.
            called("ip", "-n", name, "route", "add", "default", "dev", "cable")
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for host in (self.other, self.head):
            host.lose()
            called("ip", "netns", "delete", host.name)

    def start(self) -> None:
        """Starts Ray on the hosts without it."""
        for host in (self.head, self.other):
            if host.node is None:
                host.start()
                until(self._has_nodes, f"Ray on {host.name}")

    def _has_nodes(self) -> bool:
        """Whether every host that was started is in the cluster."""
        wanted = sum(host.node is not None for host in (self.head, self.other))
        count = "import ray, sys; ray.init(log_to_driver=False); sys.exit(sum(it['Alive'] for it in ray.nodes()) != int(sys.argv[1]))"
        with (self.folder / "nodes.log").open("wb") as log:
            asked = self.head.inside(sys.executable, "-c", count, str(wanted), stdout=log, stderr=log)
        return asked.wait(timeout=WAIT_S) == 0

    def sweep(self, name: str) -> tuple[subprocess.Popen[bytes], Path]:
        """Begins the sweep on the cluster, called from the head."""
        output = self.folder / name
        words = [sys.executable, "-c", DRIVER, self.spec, str(output), "ray"]
        with (self.folder / f"{name}.log").open("ab") as log:
            return self.head.inside(*words, stdout=log, stderr=log), output


def watched(lab: Lab, driver: subprocess.Popen[bytes]) -> dict[str, bool]:
    """Waits for the end of a sweep; whether each host has worked on it."""
    busy = dict.fromkeys(HOSTS, False)

    def ended() -> bool:
        for host in (lab.head, lab.other):
            busy[host.name] = busy[host.name] or is_busy(host)
        return driver.poll() is not None

    until(ended, "the sweep")
    assert driver.returncode == 0, "the sweep ended well"
    return busy


def main() -> None:
    """Does it and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--points", type=int, default=40)
    points = parser.parse_args().points
    lacks = missing()
    if lacks is not None:
        print(f"SKIPPED: two hosts on this machine need {lacks}", file=sys.stderr)
        sys.exit(SKIPPED)
    seen: dict[str, Any] = {"points": points}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = [sys.executable, "-c", DRIVER, json.dumps({**SPEC, "points": points}), str(folder / "alone"), "threads"]
        subprocess.run(alone, check=True, timeout=10 * WAIT_S)
        expected = (folder / "alone/sweep.parquet").read_bytes()

        def is_same(output: Path) -> bool:
            return (output / "sweep.parquet").read_bytes() == expected

        with Lab(points, folder) as lab:
            started = time.monotonic()
            driver, output = lab.sweep("both")
            busy = watched(lab, driver)
            seen["both"] = {"seconds": round(time.monotonic() - started, 1), "worked": busy, "same": is_same(output)}

            driver, output = lab.sweep("worker")
            until(lambda: noted(output) >= points // 4 and is_busy(lab.other), "a quarter of the runs")
            before = noted(output)
            lab.other.lose()
            watched(lab, driver)
            seen["worker_lost"] = {"runs_before": before, "same": is_same(output)}
            lab.start()

            driver, output = lab.sweep("head")
            until(lambda: noted(output) >= points // 4, "a quarter of the runs")
            lab.head.lose(but=driver.pid)
            took = until(lambda: driver.poll() is not None, "the end of the caller")
            before = noted(output)
            seen["head_lost"] = {"runs_before": before, "caller_ended": driver.returncode, "after_seconds": round(took, 1)}
            lab.other.lose()
            lab.start()
            driver, output = lab.sweep("head")
            watched(lab, driver)
            log = [json.loads(line)["number"] for line in (output / "outcomes.jsonl").read_text().splitlines()]
            seen["resumed"] = {"same": is_same(output), "runs_done_again": len(log) - len(set(log))}
    print(json.dumps(seen, indent=2))
    is_sound = all(it.get("same", True) for it in seen.values() if isinstance(it, dict))
    sys.exit(0 if is_sound and all(seen["both"]["worked"].values()) else 1)


if __name__ == "__main__":
    main()
