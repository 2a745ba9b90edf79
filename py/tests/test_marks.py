"""Do runs from Python say which figures are not what their names say?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ssdlab

SCHEMA = json.loads((Path(__file__).parents[2] / "schema/run.schema.json").read_text())
KINDS = [kind["const"] for kind in SCHEMA["$defs"]["MarkKind"]["oneOf"]]


def test_a_load_without_cleaning_has_no_steady_figure() -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")
    run = ssdlab.simulate(drive, "consistency", duration="3s", steady_from="1s", rate="1000")
    assert run.metrics["iops_steady_mean"] is None
    assert run["iops_fresh_mean"] == pytest.approx(1000, rel=0.01)
    assert run.reservations("iops_steady_mean") == ["garbage collection was not seen: 0 pages moved"]
    with pytest.raises(KeyError, match="garbage collection was not seen"):
        run["iops_steady_mean"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_mark_is_read(run: ssdlab.Run, tmp_path: Path, kind: str) -> None:
    record = {**run.record, "marks": [{"metric": "iops_mean", "kind": kind, "text": "why"}]}
    record.pop("checksums", None)
    for file in ("series.parquet", "latency.parquet"):
        (tmp_path / file).write_bytes((run.path / file).read_bytes())
    (tmp_path / "run.json").write_text(json.dumps(record))
    read = ssdlab.Run(tmp_path)
    assert [mark["kind"] for mark in read.marks] == [kind]
    assert read.reservations("iops_mean") == ["why"]
    axes = ssdlab.plot.bars([read], "iops_mean")
    assert "(why)" in axes.get_yticklabels()[0].get_text()
