"""Do the tutorials run from their first cell to the last, and are they kept without outputs?"""

from __future__ import annotations

import ast
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted(Path(__file__).parents[1].joinpath("notebooks").glob("*.ipynb"))
TOOLS = {"file_system": ["mkfs.ext4", "e2fsck", "nbdcopy"]}


def cells(notebook: Path) -> list[tuple[str, dict[str, Any]]]:
    """The cells of code, with the name of each for a traceback."""
    listed = json.loads(notebook.read_text())["cells"]
    named = [(f"{notebook.name}, cell {place}", cell) for place, cell in enumerate(listed, 1)]
    return [(name, cell) for name, cell in named if cell["cell_type"] == "code"]


def execute(source: str, name: str, names: dict[str, Any]) -> Any:
    """Runs a cell as a notebook does; the value of its last expression."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), name, "eval"), names)


def missing(notebook: Path) -> list[str]:
    """The programs that this machine lacks for a notebook."""
    programs = TOOLS.get(notebook.stem, [])
    if programs:
        programs = [*programs, os.environ.get("SSDLAB_BIN", "ssdlab")]
    return [it for it in programs if shutil.which(it) is None]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_tutorial_runs(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacking := missing(notebook):
        pytest.skip(f"needs {', '.join(lacking)}")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for name, cell in cells(notebook):
        repr(execute("".join(cell["source"]), name, names))
    pyplot.close("all")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_tutorial_is_kept_without_outputs(notebook: Path) -> None:
    kept = [cell for _, cell in cells(notebook)]
    assert kept and all(it["outputs"] == [] and it["execution_count"] is None for it in kept)


def test_every_named_tutorial_is_there() -> None:
    names = "consistency spare_area gc_policies skew drive_model fit file_system".split()
    assert [it.stem for it in NOTEBOOKS] == sorted(names)
