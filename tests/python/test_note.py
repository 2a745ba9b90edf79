"""Does the technical note say what its data say?"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "validation/python"))

import note  # noqa: E402

TEXT = " ".join((ROOT / "docs/evidence/note.md").read_text().split())


def rows(page):
    """The rows of the tables of a page, each a list of cells."""
    lines = (ROOT / "docs/evidence" / page).read_text().splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]


def test_the_pictures_are_those_of_the_data():
    for name, picture in note.pictures().items():
        committed = (ROOT / "docs/pictures" / name).read_text()
        assert committed == picture, f"`cargo xtask note` draws {name} anew"


def test_the_errors_are_those_of_the_validation():
    kinds = [row for row in rows("validation.md") if len(row) == 10 and row[5].isdigit() and row[5] != "0"]
    expected = [[kind, *found[4:7], found[8]] for kind, *found in kinds]
    noted = [row for row in rows("note.md") if row[1].isdigit()]
    assert noted == expected


def test_the_roles_are_those_of_the_validation():
    page = " ".join((ROOT / "docs/evidence/validation.md").read_text().split())
    cells, inputs, fitted, chosen, predicted, withheld = re.search(
        r"Of (\d+) cells: (\d+) input, (\d+) fitted, (\d+) chosen, (\d+) predicted, (\d+) withheld", page
    ).groups()
    assert f"{cells} cells of twelve drives" in TEXT
    assert f"{inputs} is an input, {fitted} were fitted, {chosen} chose a mechanism" in TEXT
    assert f"{predicted} are predictions, and {withheld}" in TEXT


def test_the_claims_are_those_of_the_page():
    _, claims, holds, fails, held, failed, untested = next(row for row in rows("drives.md") if row[0] == "predicted")
    assert held == failed == untested == "0", "the note speaks of verdicts of the present version"
    said = f"Of {claims} published claims that nothing was fitted to, {holds} hold and {fails} do not"
    assert said in TEXT
