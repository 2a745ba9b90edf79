"""The technical note as two pages of PDF: `python validation/python/note.py OUTPUT.pdf`.

The text is `docs/evidence/note.md`. Its pictures are drawn from `drives/reference.zz` (curves) and
`drives/validation.csv` (errors), into `docs/pictures`; a browser prints the page. The reader of
Markdown comes with mdformat.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
NOTE = ROOT / "docs/evidence/note.md"
PICTURES = ROOT / "docs/pictures"
PAGES = 2
STYLE = """
@page { size: A4; margin: 15mm 17mm; }
body { font: 9.3pt/1.32 "DejaVu Serif", serif; margin: 0; }
h1 { font-size: 15pt; margin: 0 0 2mm; }
h2 { font-size: 11pt; margin: 3mm 0 1mm; break-after: avoid; }
p, ul { margin: 0 0 1.6mm; }
ul { padding-left: 5mm; }
code { font: 8.2pt "DejaVu Sans Mono", monospace; }
img { display: block; width: 84%; margin: 1mm auto; }
table { break-inside: avoid; border-collapse: collapse; margin: 0 auto 2mm; font-size: 8.6pt; }
th, td { padding: 0.2mm 2.5mm; border-bottom: 0.2mm solid #bbb; text-align: right; }
th:first-child, td:first-child { text-align: left; }
"""


def svg(height: int, title: str, parts: Iterable[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif"'
    body = "\n".join(parts)
    return f'{head} font-size="12" fill="#333">\n<title>{title}</title>\n{body}\n</svg>\n'


def label(x: float, y: float, text: str, anchor: str = "end") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{text}</text>'


def curves() -> str:
    """IOPS of four simulated runs of the test `consistency`, from the reference library."""
    library = json.loads(zlib.decompress((ROOT / "drives/reference.zz").read_bytes()))
    shown = {
        ("sim:samsung-840-pro-256gb", "default"): ("#b04020", "840 Pro, as sold"),
        ("sim:samsung-840-pro-256gb", "25%"): ("#e0a080", "840 Pro, 25% spare"),
        ("sim:sandisk-extreme-ii-480gb", "default"): ("#205090", "Extreme II, as sold"),
        ("sim:sandisk-extreme-ii-480gb", "25%"): ("#90b0e0", "Extreme II, 25% spare"),
    }
    parts = [label(66, 14, "4 KiB random writes per second, QD 32, against seconds; simulated; 100 is 100 or less", "start")]

    def y_of(rate: float) -> float:
        return 190 - (math.log10(max(rate, 100)) - 2) * 55

    for power in range(2, 6):
        y = y_of(10**power)
        parts += [f'<path d="M66 {y:.1f}H560" stroke="#ddd"/>', label(60, y + 4, f"{10**power:,}")]
    for second in range(0, 2001, 500):
        parts.append(label(66 + second * 494 / 2000, 206, f"{second:,}", "middle"))
    runs = {(run["target"]["spec"], run["span"]["variant"]): run for run in library["runs"]}
    for place, (key, (color, name)) in enumerate(shown.items()):
        rates = runs[key]["series"]["iops"]
        step = 494 / len(rates)
        points = (f"{66 + (at + 0.5) * step:.1f},{y_of(rate):.1f}" for at, rate in enumerate(rates))
        parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        y = 40 + 22 * place
        parts.append(f'<path d="M572 {y - 4}H590" stroke="{color}" stroke-width="3"/>')
        parts.append(label(596, y, name, "start"))
    return svg(212, "Random writes of two simulated drives at two spare areas, against time", parts)


def ratio(row: dict[str, str]) -> float | None:
    """The simulated figure over the measured one, or `None` without either."""
    simulated, measured = (re.match(r"[\d.]+", row[name]) for name in ("simulated", "measured"))
    if simulated is None or measured is None or float(measured[0]) == 0:
        return None
    return float(simulated[0]) / float(measured[0])


def errors() -> str:
    """Every cell of the validation: a row for each quantity, a point for each cell."""
    with (ROOT / "drives/validation.csv").open(encoding="utf-8") as file:
        rows = [(row["quantity"], row["role"], ratio(row)) for row in csv.DictReader(file)]
    cells = [(name, role, value) for name, role, value in rows if value is not None]
    names = sorted({name for name, *_ in cells}, key=lambda name: ("under load" in name, name))

    def x_of(value: float) -> float:
        return 475 + math.log10(min(max(value, 0.1), 10)) * 235

    bottom = 22 + 17 * len(names)
    begin, end = x_of(0.75), x_of(1.25)
    parts = [f'<rect x="{begin:.1f}" y="20" width="{end - begin:.1f}" height="{bottom - 20}" fill="#eee"/>']
    for value, text in ((0.1, "1/10 or less"), (0.5, "1/2"), (1, "1"), (2, "2"), (10, "10 or more")):
        parts.append(f'<path d="M{x_of(value):.1f} 20V{bottom}" stroke="#ccc"/>')
        parts.append(label(x_of(value), bottom + 14, text, "middle"))
    for row, name in enumerate(names):
        y = 33 + 17 * row
        parts.append(label(205, y + 1, name))
        for _, role, value in (cell for cell in cells if cell[0] == name):
            is_predicted = role == "predicted"
            fill = '#205090" fill-opacity="0.7' if is_predicted else 'none" stroke="#b04020'
            parts.append(f'<circle cx="{x_of(value):.1f}" cy="{y - 7 if is_predicted else y}" r="2.5" fill="{fill}"/>')
    words = "simulated over measured: filled predicted, hollow fitted or chosen; band: 25%"
    parts.append(label(475, 14, words, "middle"))
    return svg(bottom + 20, "Simulated over measured figures of every cell of the validation", parts)


def pictures() -> dict[str, str]:
    """The pictures of the note by their file names."""
    return {"note-curves.svg": curves(), "note-errors.svg": errors()}


def printed(output: Path) -> None:
    """Prints the note, dated by the release."""
    body = MarkdownIt().enable("table").render(NOTE.read_text(encoding="utf-8"))
    body = re.sub("</?a[^>]*>", "", body).replace('src="', f'src="{NOTE.parent.as_uri()}/')
    title = NOTE.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    html = f"{head}<style>{STYLE}</style>{body}</html>"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "note.html"
        page.write_text(html, encoding="utf-8")
        browser = [os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu"]
        # The tags have other numbers each time.
        options = ["--no-pdf-header-footer", "--disable-pdf-tagging", f"--print-to-pdf={output}"]
        options.append(f"--user-data-dir={folder}/profile")
        subprocess.run([*browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
    when = time.strftime("%Y%m%d%H%M%S", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    pdf = re.sub(rb"Date \(D:\d{14}", b"Date (D:" + when.encode(), output.read_bytes())
    output.write_bytes(pdf)
    pages = len(re.findall(rb"/Type /Page\b", pdf))
    if pages != PAGES:
        sys.exit(f"{output} has {pages} pages, not {PAGES}")


def main() -> None:
    for name, text in pictures().items():
        (PICTURES / name).write_text(text, encoding="utf-8")
    printed(Path(sys.argv[1]).absolute())


if __name__ == "__main__":
    main()
