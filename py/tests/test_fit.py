"""Does a fit find the hidden values of a drive, and refuse runs that no model explains?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ssdlab

BASE = "intel-ssd-750-400gb"
SCALE = "1/1024"
LOAD = {"duration": "2s", "steady_from": "1s"}


def measured(drive: ssdlab.Drive, *spares: str | None) -> list[ssdlab.Run]:
    return [ssdlab.simulate(drive, spare=spare, seed=11, settings=LOAD) for spare in spares]


def test_the_hidden_values_of_a_drive_are_found(tmp_path: Path) -> None:
    hidden = ssdlab.Drive(
        BASE, scale=SCALE, nand__reserved_superblocks=40, nand__program_ns=1_200_000
    )
    one, two, other = measured(hidden, None, "35%", "25%")
    fitted = ssdlab.fit([one, two], BASE, hold_out=[other], scale=SCALE)
    spare = 1 - hidden.capacity_bytes / (hidden.raw_bytes * (1 - 40 / 1024))
    assert fitted["effective_spare"].value == pytest.approx(spare, abs=0.01)
    program = fitted["program_ns"]
    assert program.value == pytest.approx(1_200_000, rel=0.05)
    assert program.low is not None and program.high is not None
    assert program.low < 1_200_000 < program.high
    # The dies limit this drive, so that nothing tells how long its processor works.
    assert {"relocate_ns", "write_command_ns"} <= set(fitted.undetermined)
    assert fitted.worst() < 0.05 and fitted.worst(held_out=True) < 0.05
    assert not fitted.base_explains
    file = tmp_path / "fitted.toml"
    file.write_text(fitted.to_toml('A "fitted" drive'))
    again = ssdlab.Drive(file, scale=SCALE)
    assert again.name.startswith('A "fitted" drive')
    sources = {name: source for name, _, source in again.values()}
    assert sources["nand.program_ns"].startswith("fitted: 2 runs (consistency)")


def test_no_model_explains_a_drive_whose_spare_area_changes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    capped = ssdlab.Drive(
        BASE, scale=SCALE, throttle__bytes_per_s=40_000_000, throttle__burst_bytes=4096
    )
    with pytest.raises(ssdlab.NoModelError, match="no model explains the runs") as refused:
        ssdlab.fit(measured(capped, None, "35%"), BASE, scale=SCALE, progress=True)
    assert refused.value.exit_code == 1 and refused.value.fit is not None
    begin, *lines, cleared, end = capsys.readouterr().err.split("\r")
    assert begin == end == "" and cleared.isspace()
    assert lines and all(re.fullmatch(r"fit: [\d,]+ simulations *", line) for line in lines)


def test_a_fit_says_that_the_base_is_the_answer() -> None:
    runs = measured(ssdlab.Drive(BASE, scale=SCALE), None, "35%")
    assert ssdlab.fit(runs, BASE, known=["pacing", "dies_per_channel"], scale=SCALE).base_explains


def test_no_model_explains_two_drives_at_once() -> None:
    one = ssdlab.Drive(BASE, scale=SCALE)
    other = ssdlab.Drive(BASE, scale=SCALE, nand__program_ns=1_400_000)
    mixed = measured(one, None) + measured(other, "35%")
    with pytest.raises(ssdlab.NoModelError) as refused:
        ssdlab.fit(mixed, BASE, known=["pacing", "dies_per_channel"], scale=SCALE)
    assert refused.value.reason == "no-model"
    assert refused.value.fit is not None and refused.value.fit.worst() > 0.05


def test_latencies_tell_two_drives_apart_whose_rates_one_model_explains() -> None:
    one = ssdlab.Drive(BASE, scale=SCALE)
    other = ssdlab.Drive(BASE, scale=SCALE, gc__pacing="watermark")
    mixed = measured(one, None) + measured(other, "35%")
    known = ["dies_per_channel", "read_ns", "relocate_ns", "write_command_ns", "link_bytes_per_s"]
    known += ["read_command_ns", "read_latency_ns", "write_latency_ns"]
    with pytest.raises(ssdlab.NoModelError, match="latency_steady_ns_p50") as refused:
        ssdlab.fit(mixed, BASE, known=known, scale=SCALE)
    assert refused.value.fit is not None
    beyond = {it.figure for it in refused.value.fit.residuals if it.excess > 1}
    assert beyond and all(name.startswith("latency_steady_ns") for name in beyond)


def test_reads_tell_the_dies_and_known_values_stay() -> None:
    base = "samsung-840-pro-256gb"
    dies = {"nand__dies_per_channel": 3, "nand__blocks_per_plane": 5461}
    hidden = ssdlab.Drive(base, scale=SCALE, nand__read_ns=60_000, **dies)
    depths = {"time": "1s", "write_bytes": "1MiB", "queue_depths": "1,4,16"}
    run = ssdlab.simulate(hidden, "qd-sweep", seed=11, settings=depths)
    known = ["effective_spare", "program_ns", "relocate_ns", "write_command_ns", "pacing"]
    known += ["link_bytes_per_s", "read_command_ns", "read_latency_ns", "write_latency_ns"]
    fitted = ssdlab.fit([run], base, known=known, scale=SCALE)
    assert [it.name for it in fitted.estimates] == ["read_ns", "dies_per_channel"]
    # The base model has four.
    assert fitted["dies_per_channel"].value == 3
    assert not fitted.undetermined
    assert fitted["read_ns"].value == pytest.approx(60_000, rel=0.02)


SLOW_READS = """
name = "Slow reads"
extends = "samsung-840-pro-256gb"
[nand]
read_ns = { value = 120_000, from = "assumed: a curve that reaches its dies" }
[controller]
read_latency_ns = { value = 40_000, from = "assumed: a part of a read that the fit finds" }
"""
"""A base model behind a host of 15,000 ns."""


def test_a_curve_over_the_depth_tells_the_host_from_the_drive(tmp_path: Path) -> None:
    base = tmp_path / "slow.toml"
    base.write_text(SLOW_READS)
    hidden = {"host_latency_ns": 40_000, "read_latency_ns": 60_000, "read_ns": 150_000}
    sections = dict(zip(hidden, ("host__complete_ns", "controller__read_latency_ns", "nand__read_ns"), strict=True))
    drive = ssdlab.Drive(base, scale=SCALE, **{sections[name]: value for name, value in hidden.items()})
    depths = {"time": "1s", "write_bytes": "1MiB", "queue_depths": "1,2,4,8,16,32"}
    run = ssdlab.simulate(drive, "qd-sweep", seed=11, settings=depths)
    known = ["effective_spare", "program_ns", "relocate_ns", "write_command_ns", "read_command_ns"]
    known += ["link_bytes_per_s", "pacing", "dies_per_channel"]
    with pytest.raises(ssdlab.UsageError, match="`write_latency_ns`"):
        ssdlab.fit([run], base, known=known, scale=SCALE)
    known += ["write_latency_ns"]
    fitted = ssdlab.fit([run], base, known=known, scale=SCALE)
    for name, value in hidden.items():
        found = fitted[name]
        assert found.determined and found.value == pytest.approx(value, rel=0.02), name
        assert found.low is not None and found.high is not None and found.low < value < found.high, name
    file = fitted.to_toml("Behind")
    assert "[host]" not in file and "`host.complete_ns=" in file


def test_a_faulty_question_is_refused(run: ssdlab.Run) -> None:
    with pytest.raises(ssdlab.UsageError, match="of its size"):
        ssdlab.fit([run], BASE)
    base = "samsung-840-pro-256gb"
    elsewhere = ssdlab.simulate(ssdlab.Drive(base, scale=SCALE, host="none"), settings=LOAD)
    with pytest.raises(ssdlab.UsageError, match="behind the host `none`.*stands behind `SATA AHCI"):
        ssdlab.fit([elsewhere], base)
    deep = {"interface__kind": "nvme", "interface__queue_depth": 256}
    depths = {"time": "1s", "write_bytes": "1MiB", "queue_depths": "1,64"}
    run_deep = ssdlab.simulate(ssdlab.Drive(base, scale=SCALE, **deep), "qd-sweep", settings=depths)
    with pytest.raises(ssdlab.UsageError, match="with 64 commands outstanding, and the base model takes 32"):
        ssdlab.fit([run_deep], base)
    with pytest.raises(ssdlab.UsageError, match="no run to fit"):
        ssdlab.fit([], BASE)
    with pytest.raises(ssdlab.UsageError, match="base model `no-such-drive`"):
        ssdlab.fit([run], "no-such-drive")
    with pytest.raises(ssdlab.UsageError, match="`scale`"):
        ssdlab.fit([run], "samsung-840-pro-256gb", scale="large")
    with pytest.raises(ssdlab.UsageError, match="tolerance"):
        ssdlab.fit([run], "samsung-840-pro-256gb", tolerance=float("nan"))


def test_the_closed_form_is_that_of_the_simulator_to_a_percent() -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", gc__policy="fifo")
    run = ssdlab.simulate(drive, spare="30%", settings={"duration": "6s", "steady_from": "3s"})
    details = drive.description["details"]
    usable = int(details["sim.superblocks"]) * int(details["sim.superblock_bytes"])
    alpha = usable / run.record["span"]["span_bytes"]
    assert run["waf_steady"] == pytest.approx(ssdlab.write_amplification(alpha), rel=0.03)
