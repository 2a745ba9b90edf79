"""Does a fit find the hidden values of a drive, and refuse runs that no model explains?"""

from __future__ import annotations

from pathlib import Path

import pytest

import ssdlab
from ssdlab._fit import write_amplification

BASE = "intel-ssd-750-400gb"
SCALE = "1/512"
LOAD = {"duration": "4s", "steady_from": "2s"}


def measured(drive: ssdlab.Drive, *spares: str | None) -> list[ssdlab.Run]:
    return [ssdlab.simulate(drive, spare=spare, seed=11, settings=LOAD) for spare in spares]


def test_the_hidden_values_of_a_drive_are_found(tmp_path: Path) -> None:
    pytest.importorskip("cma")
    hidden = ssdlab.Drive(
        BASE, scale=SCALE, nand__reserved_superblocks=40, nand__program_ns=1_200_000
    )
    one, two, other = measured(hidden, None, "35%", "25%")
    fitted = ssdlab.fit([one, two], BASE, hold_out=[other], scale=SCALE, evaluations=12)
    spare = 1 - hidden.capacity_bytes / (hidden.raw_bytes * (1 - 40 / 1024))
    assert fitted["effective_spare"].value == pytest.approx(spare, abs=0.01)
    assert fitted["program_ns"].value == pytest.approx(1_200_000, rel=0.05)
    # The dies limit this drive, so that nothing tells how long its processor moves a page.
    assert fitted.undetermined == ["relocate_ns"]
    assert fitted.worst() < 0.05 and fitted.worst(held_out=True) < 0.05
    file = tmp_path / "fitted.toml"
    file.write_text(fitted.to_toml("A fitted drive"))
    again = ssdlab.Drive(file, scale=SCALE)
    assert again.name.startswith("A fitted drive")
    sources = {name: source for name, _, source in again.values()}
    assert sources["nand.program_ns"].startswith("fitted: ")


def test_no_model_explains_a_drive_whose_spare_area_changes_nothing() -> None:
    pytest.importorskip("cma")
    capped = ssdlab.Drive(
        BASE, scale=SCALE, throttle__bytes_per_s=40_000_000, throttle__burst_bytes=4096
    )
    with pytest.raises(ssdlab.NoModelError, match="no model explains the runs") as refused:
        ssdlab.fit(measured(capped, None, "35%"), BASE, scale=SCALE, evaluations=6)
    assert refused.value.exit_code == 1
    assert refused.value.fit is not None and refused.value.fit.worst() > 0.05


def test_a_fit_needs_two_spare_areas(run: ssdlab.Run) -> None:
    with pytest.raises(ssdlab.UsageError, match="two or more spare areas"):
        ssdlab.fit([run, run], "samsung-840-pro-256gb")


def test_the_closed_form_is_that_of_the_simulator_to_a_percent() -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", gc__policy="fifo")
    run = ssdlab.simulate(drive, spare="30%", settings={"duration": "6s", "steady_from": "3s"})
    pages = int(drive.description["details"]["sim.superblocks"])
    usable = pages * int(drive.description["details"]["sim.superblock_bytes"])
    alpha = usable / run.record["span"]["span_bytes"]
    assert run["waf_steady"] == pytest.approx(write_amplification(alpha), rel=0.03)
