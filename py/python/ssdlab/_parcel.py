"""Run directories as bytes, for machines that share no disk."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from os import PathLike
from pathlib import Path


def pack(place: str | PathLike[str]) -> bytes:
    """The content of a directory as an archive; its Parquet files are compressed already."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for entry in sorted(os.listdir(place)):
            archive.add(Path(place) / entry, arcname=entry)
    return buffer.getvalue()


def unpack(parcel: bytes, place: Path) -> list[Path]:
    """Puts the directories of an archive into `place`, each as a whole or not at all; returns them."""
    place.mkdir(parents=True, exist_ok=True)
    placed = []
    with tempfile.TemporaryDirectory(prefix=".incoming-", dir=place) as incoming:
        with tarfile.open(fileobj=io.BytesIO(parcel)) as archive:
            archive.extractall(incoming, filter="data")
        for entry in sorted(os.listdir(incoming)):
            os.rename(Path(incoming) / entry, place / entry)
            placed.append(place / entry)
    return placed
