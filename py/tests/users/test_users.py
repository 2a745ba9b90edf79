"""Are the figures of users' studies those of theory?

The studies draw with fixed seeds, so that each figure is the same in every run; a tolerance is the distance that
theory, which knows no size of a drive, has from a small one.
"""

from __future__ import annotations

import branches
import cost_benefit
import pslc_burst
import pytest
import queue_depth
import reads_beside_writes
import saved_state
import spare_area
import streams
import sweep_table
import trims
import valid_counts
import wear


def test_write_amplification_falls_with_spare_area_as_theory_says() -> None:
    figures = spare_area.main()
    for share in spare_area.SHARES:
        for policy in ("greedy", "fifo"):
            name = f"{policy} {share:.0%}"
            assert figures[name] == pytest.approx(figures[f"theory of {name}"], rel=0.005), name
        assert figures[f"greedy {share:.0%}"] < figures[f"fifo {share:.0%}"]


def test_an_own_choice_of_victims_is_between_greedy_and_separation() -> None:
    figures = cost_benefit.main()
    assert figures["fifo"] == pytest.approx(figures["theory of fifo"], rel=0.01)
    assert figures["theory of separation"] < figures["cost-benefit"] < 0.7 * figures["greedy"]
    assert figures["greedy"] < figures["fifo"]


def test_streams_reach_the_separation_of_theory_with_an_own_choice_of_victims() -> None:
    figures = streams.main()
    assert figures["streams"] == pytest.approx(figures["theory without skew"], rel=0.01)
    assert figures["one stream"] > 1.1 * figures["streams"]
    # Five pages in a hundred that come back soon are cold ones.
    assert 1 < figures["streams and cost-benefit"] / figures["theory of separation"] < 1.1


def test_a_hundred_branches_of_one_state_have_the_mean_of_theory() -> None:
    figures = branches.main()
    assert figures["half width"] < 0.001 * figures["mean"]
    assert figures["mean"] == pytest.approx(figures["theory"], rel=0.002)
    # Of ten intervals of 95%, fewer than eight hold the mean in one case of eighty.
    assert figures["intervals of ten that hold the mean"] >= 8


def test_a_share_of_trim_is_worth_its_share_of_the_span() -> None:
    figures = trims.main()
    for share in trims.SHARES:
        name = f"{share:.0%} TRIM"
        assert figures[f"valid at {name}"] == pytest.approx(1 - share, rel=0.005)
        assert figures[name] == pytest.approx(figures[f"theory of {name}"], rel=0.005)


def test_a_queue_gains_what_a_closed_network_permits() -> None:
    figures = queue_depth.main()
    for depth in queue_depth.DEPTHS:
        rate = figures[f"IOPS at {depth}"]
        assert rate == pytest.approx(figures[f"Little at {depth}"], rel=0.002)
        # Frames of the link, a hundredth of a command, are in neither bound.
        assert 0.99 * figures[f"least at {depth}"] < rate < 1.01 * figures[f"most at {depth}"]


def test_reads_wait_for_the_programs_of_their_die() -> None:
    figures = reads_beside_writes.main()
    longest_us = figures["alone us"] + figures["program us"]
    for writes_per_s in reads_beside_writes.WRITES_PER_S[1:]:
        name = f"{writes_per_s} writes/s"
        # A twentieth more reads wait for a channel.
        share = figures[f"{name}: share of time in programs"]
        assert share < figures[f"{name}: share of reads that wait"] < 1.2 * share
        assert figures[f"{name}: delay us"] == pytest.approx(figures[f"{name}: theory of the delay"], rel=0.05)
        assert figures[f"{name}: p50 us"] == pytest.approx(figures["alone us"], rel=0.01)
        assert figures["program us"] < figures[f"{name}: p99.9 us"] < 1.02 * longest_us


def test_a_burst_has_the_speed_of_its_cells_and_the_cache_is_back_after_a_pause() -> None:
    figures = pslc_burst.main()
    for pause in ("0 s", "60 s"):
        # Steps of 1 MiB, and the write buffer of 1 MiB.
        assert figures[f"after {pause}: cache in MB"] == pytest.approx(figures["theory: cache in MB"], abs=2.1)
        assert figures[f"after {pause}: burst in MB/s"] == pytest.approx(figures["theory: burst in MB/s"], rel=0.005)
    for pause in ("0 s", "1 s", "60 s"):
        past_it = figures[f"after {pause}: past it in MB/s"]
        assert past_it == pytest.approx(figures["theory: past it in MB/s"], rel=0.005)
    assert figures["after 1 s: cache in MB"] < 2.1


def test_a_saved_study_goes_on_to_the_nanosecond() -> None:
    figures = saved_state.main()
    assert figures["largest latency in ns"] > 10_000_000, "garbage collection is at work"
    for branch in ("file", "snapshot"):
        assert figures[f"largest difference in ns, {branch}"] == 0
        assert figures[f"commands in another order, {branch}"] == 0
    assert figures["commands with the times of another seed"] < 0.01 * figures["commands"]


def test_a_table_of_a_sweep_has_intervals_and_agrees_with_theory() -> None:
    pytest.importorskip("xarray")
    figures = sweep_table.main()
    cells = [f"{policy} {spare}" for policy in ("greedy", "fifo") for spare in ("12%", "20%", "30%")]
    for cell in cells:
        assert figures[cell] == pytest.approx(figures[f"theory of {cell}"], rel=0.005), cell
        assert 0 < figures[f"half width of {cell}"] < 0.005 * figures[cell]


def test_static_wear_leveling_holds_erases_together_at_a_price() -> None:
    figures = wear.main()
    for name in wear.LEVELINGS:
        assert figures[f"{name}: erases"] == figures[f"{name}: erases by the counters"]
    assert figures["none: WAF"] == pytest.approx(figures["theory of the WAF without"], rel=0.02)
    for name in ("none", "dynamic"):
        assert figures[f"{name}: spread"] > 10 * wear.SPREAD_MAX and figures[f"{name}: superblocks never erased"] > 500
    assert figures["static: spread"] <= 2 * wear.SPREAD_MAX and figures["static: superblocks never erased"] == 0
    assert figures["static: WAF"] > figures["none: WAF"]


def test_valid_pages_spread_from_the_fill_to_the_mean_field() -> None:
    figures = valid_counts.main()
    assert figures["largest difference from theory, first row"] > 0.1
    # The share of one row is that of 2,000 superblocks by chance.
    assert figures["largest difference from theory, last row"] < 0.02
    assert figures["largest difference from theory, mean of the second half"] < 0.003
    assert figures["valid pages, largest difference from the data"] < 0.001
    assert figures["erases in the rows"] > 20 * figures["superblocks"]
