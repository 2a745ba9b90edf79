"""The output of a sweep on any file system of pyarrow, such as S3.

A sweep works in a local directory. Its new outcomes go up as further objects, since an object cannot be
appended to, and each run directory goes up before its outcome does.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import DeviceError, UsageError
from .._results import needed

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_FLUSH_S = 30.0
"""Time between two uploads; a driver that dies loses at most the outcomes of this time."""
_SPEC, _OUTCOMES, _RUNS = "sweep.toml", "outcomes.jsonl", "runs"


def located(
    output: str | PathLike[str], filesystem: FileSystem | None
) -> tuple[FileSystem, str] | None:
    """The file system of an output and the path in it; `None` if it is a local directory."""
    if filesystem is not None:
        return filesystem, _path(fspath(output))
    if not isinstance(output, str) or "://" not in output:
        return None
    try:
        found, path = needed("pyarrow.fs", "arrow").FileSystem.from_uri(output)
    except (OSError, ValueError) as error:
        raise UsageError(f"`output` {output!r} cannot be used: {error}", "usage") from error
    return found, _path(path)


def _path(path: str) -> str:
    if not path.strip("/"):
        raise UsageError("`output` names no place in its file system; add a path", "usage")
    return path.rstrip("/")


class Store:
    """The remote copy of the directory of a sweep."""

    def __init__(self, filesystem: FileSystem, path: str, local: Path) -> None:
        self._files: Any = filesystem
        self._path, self._local = path, local
        self._up = 0
        self._flushed = time.monotonic()

    def fetch(self) -> None:
        """Brings the description and the outcomes of earlier calls."""
        fs = needed("pyarrow.fs", "arrow")
        try:
            selector = fs.FileSelector(f"{self._path}/outcomes", allow_not_found=True)
            parts = sorted(it.path for it in self._files.get_file_info(selector) if it.is_file)
            spec = self._files.get_file_info(f"{self._path}/{_SPEC}")
            if spec.type != fs.FileType.NotFound:
                (self._local / _SPEC).write_bytes(self._read(spec.path))
                # A part that was cut short must not spoil the first line of the next one.
                log = b"".join(self._read(part) + b"\n" for part in parts)
                (self._local / _OUTCOMES).write_bytes(log)
                self._up = len(log)
        except (OSError, ValueError) as error:
            raise self._failed("read", error) from error
        if parts and spec.type == fs.FileType.NotFound:
            foreign = f"`{self._path}/outcomes` belongs to no sweep that is described beside it"
            raise UsageError(f"{foreign}; choose another `output`", "usage")

    def begin(self) -> None:
        """Puts the description up, so that the place belongs to this sweep."""
        try:
            self._files.create_dir(self._path, recursive=True)
            self._put(_SPEC)
        except (OSError, ValueError) as error:
            raise self._failed("write", error) from error

    def flush(self, *, now: bool = False) -> None:
        """Puts up run directories and outcomes that are new, if it is time or `now`."""
        if not now and time.monotonic() - self._flushed < _FLUSH_S:
            return
        try:
            # Outcomes first read, so that the run of each is complete and goes up before it.
            with open(self._local / _OUTCOMES, "rb") as log:
                log.seek(self._up)
                new = log.read()
            new = new[: new.rfind(b"\n") + 1]
            self._put_runs()
            if new:
                self._files.create_dir(f"{self._path}/outcomes", recursive=True)
                name = f"outcomes/{time.time_ns():020}-{uuid.uuid4().hex[:8]}.jsonl"
                self._write(name, new)
        except (OSError, ValueError) as error:
            raise self._failed("write", error) from error
        self._up += len(new)
        self._flushed = time.monotonic()

    def finish(self, table: Path) -> str:
        """Puts the table up; returns its path."""
        try:
            self._put(table.name)
        except (OSError, ValueError) as error:
            raise self._failed("write", error) from error
        return f"{self._path}/{table.name}"

    def _put_runs(self) -> None:
        for run in (self._local / _RUNS).glob("[!.]*/"):
            if not _has_ended(run):
                continue
            self._files.create_dir(f"{self._path}/{_RUNS}/{run.name}", recursive=True)
            for file in sorted(run.iterdir()):
                self._put(f"{_RUNS}/{run.name}/{file.name}")
            shutil.rmtree(run)

    def _put(self, name: str) -> None:
        self._write(name, (self._local / name).read_bytes())

    def _write(self, name: str, content: bytes) -> None:
        with self._files.open_output_stream(f"{self._path}/{name}") as stream:
            stream.write(content)

    def _read(self, path: str) -> bytes:
        with self._files.open_input_stream(path) as stream:
            return bytes(stream.read())

    def _failed(self, what: str, error: Exception) -> DeviceError:
        return DeviceError(f"cannot {what} the output `{self._path}`: {error}", "output")


def _has_ended(run: Path) -> bool:
    try:
        return bool(json.loads((run / "run.json").read_bytes())["status"] != "running")
    except (OSError, ValueError, KeyError):
        return False
