"""Do the tutorials run in a kernel from their first cell to the last, and are they kept with what they show?

`SSDLAB_WRITE_NOTEBOOKS=1 pytest tests/test_notebooks.py` keeps the outputs of this run.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted(Path(__file__).parents[1].joinpath("notebooks").glob("*.ipynb"))
TOOLS = {"file_system": ["mkfs.ext4", "e2fsck", "nbdcopy"]}
LARGEST_BYTES = 1_000_000
"""Of all notebooks together, pictures included."""


def read(notebook: Path) -> Any:
    return pytest.importorskip("nbformat").read(notebook, as_version=4)


def code(content: Any) -> list[Any]:
    return [cell for cell in content.cells if cell.cell_type == "code"]


def images(cell: Any) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)


def draws(cell: Any) -> bool:
    return re.search(r"\bplot\.\w+\(|\bplt\.subplots\(", cell.source) is not None


def missing(notebook: Path) -> list[str]:
    """The programs that this machine lacks for a notebook."""
    programs = TOOLS.get(notebook.stem, [])
    if programs:
        programs = [*programs, os.environ.get("SSDLAB_BIN", "ssdlab")]
    return [it for it in programs if shutil.which(it) is None]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_tutorial_runs_and_each_cell_that_draws_shows_its_picture(notebook: Path, tmp_path: Path) -> None:
    if lacking := missing(notebook):
        pytest.skip(f"needs {', '.join(lacking)}")
    for package in ("matplotlib", "polars", "ipykernel"):
        pytest.importorskip(package)
    content = read(notebook)
    place = {"metadata": {"path": str(tmp_path)}}
    pytest.importorskip("nbclient").NotebookClient(
        content, timeout=300, kernel_name="python3", resources=place, record_timing=False
    ).execute()
    for cell in code(content):
        assert images(cell) == draws(cell), cell.source
    if os.environ.get("SSDLAB_WRITE_NOTEBOOKS"):
        content.metadata.pop("language_info")
        pytest.importorskip("nbformat").write(content, notebook)


def test_a_cell_shows_its_picture_once_whether_or_not_it_is_the_value(library: Path, tmp_path: Path) -> None:
    for package in ("matplotlib", "nbclient", "ipykernel"):
        pytest.importorskip(package)
    form = pytest.importorskip("nbformat").v4
    sources = [
        f"import ssdlab\nfrom ssdlab import plot\nrun = ssdlab.read_library({str(library)!r})[0]",
        "plot.consistency(run);",
        "plot.consistency(run)",
        "axes = plot.why(run)\naxes.set_title('mine', loc='left');",
        "axes = plot.why(run, vector=True)\naxes",
        "1 + 1",
    ]
    content = form.new_notebook(cells=[form.new_code_cell(source) for source in sources])
    place = {"metadata": {"path": str(tmp_path)}}
    client = pytest.importorskip("nbclient").NotebookClient
    client(content, timeout=300, kernel_name="python3", resources=place).execute()
    vectors = [sum("image/svg+xml" in output.get("data", {}) for output in cell.outputs) for cell in content.cells]
    assert [images(cell) for cell in content.cells] == [0, 1, 1, 1, 0, 0]
    assert vectors == [0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda it: it.stem)
def test_a_tutorial_is_kept_with_its_outputs(notebook: Path) -> None:
    cells = code(read(notebook))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert images(cell) == draws(cell), cell.source
        assert all(output.output_type != "error" for output in cell.outputs)


def test_the_tutorials_are_all_there_and_small() -> None:
    names = "consistency spare_area gc_policies skew drive_model fit file_system".split()
    assert [it.stem for it in NOTEBOOKS] == sorted(names)
    assert sum(it.stat().st_size for it in NOTEBOOKS) < LARGEST_BYTES
