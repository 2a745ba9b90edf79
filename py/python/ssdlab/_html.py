"""Small tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(title: str, rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """A table with a caption; a cell that is not known stays empty.

    >>> table("a < b", [("size", 5)])
    '<table><caption>a &lt; b</caption><tr><td>size</td><td>5</td></tr></table>'
    """
    lines = ["".join(f"<th>{escape(name)}</th>" for name in head)] if head else []
    lines += ["".join(f"<td>{escape(_text(cell))}</td>" for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:,.5g}" if isinstance(cell, float) else str(cell)
