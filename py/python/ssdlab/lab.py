"""Runs on real drives of a lab, each on the host that owns the drive, by a Ray cluster.

Every host of the lab registers its drives as custom resources of Ray when it joins the cluster:

    python -m ssdlab.lab show                        # the free drives of this host; changes nothing
    python -m ssdlab.lab start --head                # the first host
    python -m ssdlab.lab start --address HOST:6379   # every other host

A drive is one resource, `ssdlab:SERIAL`, so that a run is placed on its host and no two runs of the lab
are on one drive. The confirmation of a run travels with it and is checked by the guard of that host.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, cast

from . import _native
from ._cluster import connected, fetched, require_version
from ._errors import InterruptedRun, UnsupportedError, UsageError
from ._parcel import pack, unpack
from ._results import Run, needed
from ._run import confirmations
from ._run import run as run_here

_NAMED = "SSDLAB_LAB"
"""The variable with the further targets of a host: a JSON object of name to target."""


Status = Literal["waiting", "running", "ended"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    status: Status
    phase: str | None = None
    """The phase of the test, or `None` before the first."""
    second: int | None = None
    """Seconds of the phase that have ended, or `None` before the first."""
    iops: float | None = None
    """Commands of the last of them, or `None` before the first."""


class _Board:
    """The place, an actor of Ray, where a run puts its progress and finds whether to stop."""

    def __init__(self) -> None:
        self._progress = Progress("waiting")
        self._cancelled = False

    def put(self, progress: Progress) -> bool:
        """Takes the progress; whether the run is to stop."""
        self._progress = progress
        return self._cancelled

    def progress(self) -> Progress:
        return self._progress

    def cancel(self) -> None:
        self._cancelled = True


class _Cancelled(Exception):
    """The observer of a run raises it to end the run."""


class Pending:
    """A run that waits for its drive, or is in progress on its host."""

    def __init__(self, ray: Any, reference: Any, board: Any, library: Path) -> None:
        self._ray, self._reference, self._board, self._library = ray, reference, board, library
        self.node: str | None = None
        """The id of the node of Ray that did the run, or `None` before `result`."""

    @property
    def status(self) -> Status:
        """Whether the run waits for its drive, is in progress, or has ended in any way."""
        return self.progress().status

    def progress(self) -> Progress:
        """How far the run is, at most a second ago."""
        ended, _ = self._ray.wait([self._reference], timeout=0)
        found = cast(Progress, fetched(self._ray, self._board.progress.remote()))
        return replace(found, status="ended") if ended else found

    def cancel(self) -> None:
        """Ends the run with the second in progress, or with its purge; `result` then raises `InterruptedRun`, whose `run`
        is what was measured.

        A run that waits for its drive ends when it has it, and changes nothing there. One that has ended stays as it is.
        """
        fetched(self._ray, self._board.cancel.remote())

    def result(self) -> Run:
        """The run, once it has ended; its run directory then is in the library of this process. The
        error of a run that was refused or failed is raised as `ssdlab.run` raises it."""
        parcel, self.node, failure = fetched(self._ray, self._reference)
        done = Run(unpack(parcel, self._library)[0]) if parcel else None
        if failure is not None:
            failure.run = done
            raise failure
        assert done is not None, "a run without a failure has a run directory"
        return done


def drives() -> dict[str, str]:
    """The drives of this host: name of the resource without `ssdlab:`, and target.

    A device that `ssdlab list` finds is named by its serial. Left out are devices in use, without a serial,
    and with one that another device has too, such as namespaces and paths of one drive: a confirmation
    by serial would not tell them apart. Further targets are those that the host was started with.
    """
    found = json.loads(_native.devices())
    owners = Counter(it["serial"] for it in found)
    free = (it for it in found if it["serial"] and owners[it["serial"]] == 1 and not it["in_use"])
    return {**{it["serial"]: it["target"] for it in free}, **_named()}


def _named() -> dict[str, str]:
    try:
        named = json.loads(os.environ.get(_NAMED, "{}"))
        return {str(name): str(target) for name, target in named.items()}
    except (ValueError, AttributeError) as error:
        raise UsageError(f"{_NAMED} is no JSON object of name to target: {error}") from error


def resources(owned: Mapping[str, str] | None = None) -> dict[str, int]:
    """The custom resources of this host for `ray start --resources`."""
    return {f"ssdlab:{name}": 1 for name in (drives() if owned is None else owned)}


def submit(
    test: str,
    drive: str,
    *,
    erase: Sequence[str | PathLike[str]] = (),
    library: str | PathLike[str] = "ssdlab-runs",
    **options: Any,
) -> Pending:
    """Begins a run on a drive of the cluster, wherever it is; `options` are those of `ssdlab.run`.

    It waits while another run of the lab is on the drive. A run whose worker dies is not repeated: it may
    have written already. `erase` names the drives whose content may be lost, and the guard of the host
    refuses the run unless it names this one.
    """
    confirmed = confirmations(erase)
    ray = connected(None)
    resource = f"ssdlab:{drive}"
    if resource not in ray.cluster_resources():
        known = sorted(it[7:] for it in ray.cluster_resources() if it.startswith("ssdlab:"))
        names = ", ".join(known) or "none"
        raise UsageError(f"no host of the cluster has the drive `{drive}`; known: {names}", "usage")
    remote = ray.remote(num_cpus=1, resources={resource: 1}, max_retries=0)(_carry_out)
    board = ray.remote(num_cpus=0)(_Board).remote()
    call = {**options, "erase": confirmed}
    reference = remote.remote(test, drive, call, _native.version(), board)
    return Pending(ray, reference, board, Path(library))


def run(
    test: str,
    drive: str,
    *,
    erase: Sequence[str | PathLike[str]] = (),
    library: str | PathLike[str] = "ssdlab-runs",
    **options: Any,
) -> Run:
    """Runs a test on a drive of the cluster, and waits for its end; see `submit`."""
    return submit(test, drive, erase=erase, library=library, **options).result()


def _carry_out(
    test: str, drive: str, call: dict[str, Any], version: str, board: Any
) -> tuple[bytes, str, Exception | None]:
    """The run, on the host that owns the drive: its directory as bytes, the node, the failure."""
    require_version(version, f"the host of `{drive}`")
    node = _node()
    target = drives().get(drive)
    if target is None:
        # It was unplugged, or mounted, after the host had joined.
        message = f"the drive `{drive}` is in use or no longer at its host"
        return b"", node, UnsupportedError(message, "no-drive")
    ray = needed("ray", "ray")
    phase: str | None = None

    def observe(event: str, members: dict[str, Any]) -> None:
        nonlocal phase
        phase = members.get("phase", phase)
        second, iops = (members[name] if event == "second" else None for name in ("second", "iops"))
        if ray.get(board.put.remote(Progress("running", phase, None if second is None else second + 1, iops))):
            raise _Cancelled

    with tempfile.TemporaryDirectory(prefix="ssdlab-") as place:
        failure: Exception | None = None
        try:
            if ray.get(board.put.remote(Progress("running"))):
                raise _Cancelled
            run_here(test, target, library=place, progress=observe, **call)
        except _Cancelled:
            failure = InterruptedRun(f"the run on `{drive}` was cancelled", "cancelled")
        except Exception as error:
            failure = error
            if hasattr(error, "run"):
                error.run = None
        return pack(place) if os.listdir(place) else b"", node, failure


def _node() -> str:
    return str(needed("ray", "ray").get_runtime_context().get_node_id())


def main(words: Sequence[str] | None = None) -> int:
    """`python -m ssdlab.lab`; words that it does not know are for `ray start`."""
    parser = _parser()
    asked, for_ray = parser.parse_known_args(words)
    if asked.verb == "start" and not (asked.head or asked.address):
        parser.error("start needs --head, or --address HOST:PORT")
    named = {}
    for word in asked.drive:
        name, separator, target = word.partition("=")
        if not (name and separator and target):
            parser.error(f"--drive {word!r}: expected NAME=TARGET")
        named[name] = target
    os.environ[_NAMED] = json.dumps({**_named(), **named})
    owned = drives()
    place = "--head" if asked.head else f"--address={asked.address or 'HOST:6379'}"
    command = ["ray", "start", place, f"--resources={json.dumps(resources(owned))}", *for_ray]
    if asked.verb == "show":
        print(json.dumps({"drives": owned, "command": command}, indent=2))
        return 0
    # The program `ray` of this Python, whether or not it is in PATH.
    os.execv(sys.executable, [sys.executable, "-m", "ray.scripts.scripts", *command[1:]])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m ssdlab.lab", description="drives of a lab on Ray")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, about in (
        ("show", "print the drives of this host and the command that registers them"),
        ("start", "join a cluster with the drives of this host (becomes `ray start`)"),
    ):
        described = verbs.add_parser(
            verb, help=about, description=about, epilog="further arguments are for `ray start`"
        )
        described.add_argument(
            "--drive",
            action="append",
            default=[],
            metavar="NAME=TARGET",
            help="a further target, such as bench=file:/srv/bench; repeatable",
        )
        place = described.add_mutually_exclusive_group()
        place.add_argument("--head", action="store_true", help="begin a cluster")
        place.add_argument("--address", metavar="HOST:PORT", help="the head of the cluster")
    return parser


if __name__ == "__main__":
    sys.exit(main())
