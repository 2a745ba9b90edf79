"""Traces as arrays: read, made, written and replayed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import ssdlab
from numpy.typing import ArrayLike

SMALL = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256")


def test_a_trace_of_arrays_is_read_as_it_was_saved(tmp_path: Path) -> None:
    stamps = np.array([1_000, 1_000, 5_000], np.int32)
    trace = ssdlab.traces.from_arrays(stamps, [1, 0, 2], [0, 8192, 0], [4096, 512, 0], queue_depth=[1, 2, 3])
    path = tmp_path / "own.trace.parquet"
    trace.save(path)
    back = ssdlab.traces.read(path)
    assert back.issue_ns.tolist() == [0, 0, 4_000]
    assert back.queue_depth is not None and back.queue_depth.tolist() == [1, 2, 3]
    for name in ("kind", "offset_bytes", "length_bytes", "stream"):
        assert np.array_equal(getattr(back, name), getattr(trace, name)), name
    with pytest.raises(ssdlab.Error, match="exists"):
        trace.save(path)


def test_arrays_replay_as_their_file_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    trace = ssdlab.traces.from_arrays(
        np.arange(2_000) * 50_000, rng.integers(0, 2, 2_000), rng.integers(0, 10_000, 2_000) * 4096, 4096, queue_depth=1
    )
    trace.save(tmp_path / "own.trace.parquet")
    of_file = ssdlab.simulate(SMALL, "replay", trace=tmp_path / "own.trace.parquet")
    of_arrays = ssdlab.simulate(SMALL, "replay", trace=trace)
    for metric in ("avg_service_time_us", "busy_time_s", "queue_depth_mean", "latency_ns_max"):
        assert of_arrays[metric] == of_file[metric] > 0, metric
    half = ssdlab.simulate(SMALL, "replay", trace=trace, limit=500, passes=2, settings={"from_time": "10ms"})
    assert half["busy_time_s"] == pytest.approx(of_file["busy_time_s"] / 2, rel=0.2)


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("kind", [4, 0], "the kind is 4"),
        ("issue_ns", [5, 4], "before the one in front of it"),
        ("length_bytes", [0, 1], "0 are for a flush"),
        ("length_bytes", [1 << 32, 1], "whole numbers that fit uint32"),
        ("offset_bytes", [-1, 1], "whole numbers that fit uint64"),
        ("offset_bytes", [0.5, 1], "whole numbers that fit uint64"),
        ("kind", [0], "1 values for 2 commands"),
    ],
)
def test_values_that_no_command_has_are_refused(column: str, values: ArrayLike, words: str, tmp_path: Path) -> None:
    trace = ssdlab.traces.from_arrays([0, 1], 0, 0, 512)
    with pytest.raises(ssdlab.UsageError, match=words):
        replace(trace, **{column: np.asarray(values)}).save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_columns_have_one_length() -> None:
    with pytest.raises(ssdlab.UsageError, match="`kind` has 3 values for 2 commands"):
        ssdlab.traces.from_arrays([0, 1], [0, 0, 0], 0, 512)
