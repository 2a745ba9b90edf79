"""Is the stepwise drive the drive of the tests, at speed, and safe from threads?"""

from __future__ import annotations

import copy as copies
import gc
import pickle
import resource
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction

import numpy as np
import pytest

import ssdlab


def small(**values: ssdlab._words.Value) -> ssdlab.Drive:
    return ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", **values)


def random_pages(drive: ssdlab.Drive, count: int, seed: int = 7) -> np.ndarray:
    pages = drive.capacity_bytes // 4096
    return np.random.default_rng(seed).integers(0, pages, size=count) * 4096


def test_every_command_ends_once_and_in_time() -> None:
    drive = small()
    parts = [drive.submit("write", random_pages(drive, 1000, seed)) for seed in range(5)]
    parts.append(drive.drain())
    numbers = np.concatenate([part.number for part in parts])
    assert sorted(numbers) == list(range(5000))
    done = np.concatenate([part.done_ns for part in parts])
    assert (np.diff(done.astype(np.int64)) >= 0).all() and done[-1] == drive.now_ns
    assert all((part.latency_ns > 0).all() for part in parts)
    assert drive.outstanding == 0


def test_a_queue_stays_full_from_one_call_to_the_next() -> None:
    at_once = small()
    whole = at_once.submit("write", random_pages(at_once, 4000))
    assert at_once.outstanding == at_once.queue_depth == 32
    in_parts = small()
    offsets = random_pages(in_parts, 4000)
    ends = [in_parts.submit("write", part) for part in np.split(offsets, 40)]
    assert (np.concatenate([part.done_ns for part in ends]) == whole.done_ns).all()


def test_a_shallow_queue_and_an_open_loop() -> None:
    drive = small()
    alone = drive.submit("write", random_pages(drive, 100), queue_depth=1)
    assert len(alone) == 99 and (alone.submitted_ns[1:] >= alone.done_ns[:-1]).all()
    drive.drain()
    start = drive.now_ns
    due = start + np.arange(100) * 1_000_000
    ended = drive.submit("read", random_pages(drive, 100), at_ns=due)
    last = drive.drain()
    times = np.concatenate([ended.submitted_ns, last.submitted_ns])
    assert (np.sort(times) == due).all()


def test_latency_counts_from_the_due_time() -> None:
    drive = small()
    start = drive.now_ns
    burst = np.full(1000, start, dtype=np.uint64)
    parts = [drive.submit("write", np.arange(1000) * 4096, at_ns=burst), drive.drain()]
    due, submitted, latency, device = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("due_ns", "submitted_ns", "latency_ns", "device_latency_ns")
    )
    assert (due == start).all() and submitted.max() > start
    assert (latency == device + (submitted - due)).all()
    # Of 1,000 commands 32 go in at once; the others wait for room, most of their time.
    assert np.percentile(latency, 99) > 4 * np.percentile(device, 99)
    closed = drive.submit("write", [0, 4096, 8192], queue_depth=1)
    assert (closed.latency_ns == closed.device_latency_ns).all()


def test_time_passes_and_telemetry_counts() -> None:
    drive = small()
    drive.record(1_000_000)
    drive.submit("write", np.arange(2048) * 4096)
    drive.drain()
    drive.advance(drive.now_ns + 10_000_000)
    rows = drive.rows()
    assert rows["host_pages"].sum() == drive.telemetry()["host_pages"] == 2048
    assert drive.waf() >= 1.0
    assert int(drive.valid_pages().sum()) == 2048
    drive.deallocate(0, 1024 * 4096)
    assert int(drive.valid_pages().sum()) == 1024
    drive.reset()
    assert int(drive.valid_pages().sum()) == 0 and np.isnan(drive.waf())


def test_the_steady_waf_of_greedy_grows_with_less_spare() -> None:
    def waf(share: float) -> float:
        drive = small()
        pages = int(drive.raw_bytes // 4096 * (1 - share))
        rng = np.random.default_rng(1)
        drive.submit("write", np.arange(0, pages, 32) * 4096, 32 * 4096)
        drive.submit("write", rng.integers(0, pages, size=2 * pages) * 4096)
        before = drive.telemetry()
        drive.submit("write", rng.integers(0, pages, size=pages) * 4096)
        after = drive.telemetry()
        moved = after["programmed_pages"] - before["programmed_pages"]
        return moved / (after["host_pages"] - before["host_pages"])

    assert 1.0 < waf(0.5) < waf(0.25) < 3.0


def test_words_and_codes_of_kinds_are_the_same() -> None:
    one, other = small(), small()
    words = one.submit(["write", "read", "flush"], [0, 0, 0])
    codes = other.submit(np.array([1, 0, 2]), [0, 0, 0], [4096, 4096, 4096])
    del words, codes
    assert (one.drain().done_ns == other.drain().done_ns).all()


def test_values_of_numpy_make_the_same_drive() -> None:
    plain = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", seed=3, gc__candidates=4)
    given = ssdlab.Drive(
        "samsung-840-pro-256gb", scale=Fraction(1, 256), seed=np.uint64(3), gc__candidates=np.int32(4)
    )
    assert given.target == plain.target


def test_a_command_outside_the_drive_fails_by_itself() -> None:
    drive = small()
    drive.submit("read", [drive.capacity_bytes, 1, 0], errors="return")
    ended = drive.drain()
    assert sorted(ended.errno.tolist()) == [0, 22, 22]


def test_a_batch_with_a_command_that_the_drive_refuses_is_not_begun() -> None:
    drive = small()
    end = drive.capacity_bytes
    for offset, length in ((end, 4096), (end - 4096, 8192), (1, 4096), (0, 100), (0, 0), ((1 << 64) - 4096, 8192)):
        with pytest.raises(ssdlab.UsageError, match="command 1 is of"):
            drive.submit("write", np.array([0, offset], dtype=np.uint64), [4096, length])
    assert drive.outstanding == 0 and drive.now_ns == 0
    # A flush has no place, and the last block is one of the drive.
    drive.submit(["flush", "write"], [end, end - 4096], [0, 4096])
    assert drive.drain().errno.tolist() == [0, 0]


def test_erases_of_each_superblock_add_up() -> None:
    drive = small()
    drive.submit("write", random_pages(drive, 400_000))
    drive.drain()
    assert len(drive.erases()) == len(drive.valid_pages())
    assert int(drive.erases().sum()) == drive.telemetry()["erased_superblocks"] > 0


def test_a_drive_shows_itself_in_a_notebook() -> None:
    html = ssdlab.Drive("samsung-840-pro-256gb", scale="1/256", policy=lambda blocks: 0)._repr_html_()
    assert "<td>sim:samsung-840-pro-256gb?scale=1/256</td>" in html and "policy=&lt;lambda&gt;" in html


def test_a_drive_goes_to_another_process_as_its_description() -> None:
    drive = small(gc__policy="fifo")
    copy = pickle.loads(pickle.dumps(drive))
    assert copy.target == drive.target and copy.description == drive.description


def test_a_drive_that_has_run_does_not_leave_its_process() -> None:
    drive = small()
    drive.submit("write", np.arange(100) * 4096)
    for thing in (drive, drive.snapshot(), ssdlab.Drive("samsung-840-pro-256gb", policy=lambda blocks: 0)):
        with pytest.raises(TypeError, match="process"):
            pickle.dumps(thing)
    with pytest.raises(TypeError, match="process"):
        copies.deepcopy(drive.snapshot())


@pytest.mark.parametrize("copy", [ssdlab.Drive.clone, copies.copy, copies.deepcopy])
def test_a_copy_has_the_state_and_goes_its_own_way(copy: Callable[[ssdlab.Drive], ssdlab.Drive]) -> None:
    drive = small()
    drive.submit("write", random_pages(drive, 30_000, 1))
    other = copy(drive)
    assert other.outstanding == drive.outstanding > 0
    work = random_pages(drive, 10_000, 2)
    ends = []
    for one in (drive, other):
        ended = one.submit("write", work)
        ends.append(np.concatenate([ended.done_ns, one.drain().done_ns]))
    assert (ends[0] == ends[1]).all()
    assert drive.telemetry() == other.telemetry()
    other.submit("write", work)
    assert drive.telemetry() != other.telemetry()


def test_a_drive_goes_back_to_a_snapshot_as_often_as_one_likes() -> None:
    drive = small()
    drive.submit("write", random_pages(drive, 30_000, 1))
    steady = drive.snapshot()
    rates = set()
    for _ in range(100):
        drive.restore(steady)
        drive.submit("write", random_pages(drive, 200, 2))
        drive.drain()
        rates.add((drive.now_ns, drive.telemetry()["programmed_pages"]))
    assert len(rates) == 1
    with pytest.raises(ssdlab.UsageError, match="not of"):
        small(gc__policy="fifo").restore(steady)


def test_threads_share_a_drive_without_harm() -> None:
    drive = small()
    counts: list[int] = []

    def work(seed: int) -> None:
        for part in np.split(random_pages(drive, 2000, seed), 20):
            counts.append(len(drive.submit("write", part)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) + len(drive.drain()) == 8000


def test_a_hundred_thousand_calls_leave_no_references() -> None:
    drive = small()
    offsets, kinds, lengths = (np.zeros(1, kind) for kind in (np.uint64, np.uint8, np.uint32))
    lengths[:] = 4096

    def calls(count: int) -> None:
        device = drive.device
        for _ in range(count):
            device.submit(kinds, offsets, lengths, None, None, None, False)
            device.telemetry()

    def held() -> tuple[int, int, int, int]:
        gc.collect()
        with open("/proc/self/statm") as statm:
            resident_bytes = int(statm.read().split()[1]) * resource.getpagesize()
        return sys.getallocatedblocks(), sys.getrefcount(offsets), sys.getrefcount(None), resident_bytes

    calls(10_000)
    before = held()
    calls(50_000)  # two bindings each
    after = held()
    assert after[0] - before[0] < 500 and after[1] == before[1]
    assert abs(after[2] - before[2]) < 500
    # Ten bytes a call would be a megabyte.
    assert after[3] - before[3] < 1 << 20


def test_refused_calls_leave_no_references() -> None:
    drive = small()

    def refused(count: int) -> None:
        for number in range(count):
            with pytest.raises(ssdlab.UsageError):
                drive.submit("scribble", [0])
            if number % 10 == 0:
                with pytest.raises(ssdlab.UsageError):
                    ssdlab.simulate(drive, "no-such-test")

    refused(200)
    gc.collect()
    before = sys.getallocatedblocks()
    refused(5000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 400


HOSTILE = [
    lambda drive: drive.submit("write", [-1]),
    lambda drive: drive.submit("write", [1 << 70]),
    lambda drive: drive.submit("write", [0.5]),
    lambda drive: drive.submit("write", ["0"]),
    lambda drive: drive.submit("write", [[0]]),
    lambda drive: drive.submit("scribble", [0]),
    lambda drive: drive.submit([9], [0]),
    lambda drive: drive.submit(["write", "read"], [0]),
    lambda drive: drive.submit("write", [0], [4096, 4096]),
    lambda drive: drive.submit("write", [0], 1 << 31),
    lambda drive: drive.submit("write", [0], at_ns=[0, 0]),
    lambda drive: drive.submit("write", [0], errors="ignore"),
    lambda drive: drive.submit("write", [0], queue_depth=0),
    lambda drive: drive.submit("write", [0], queue_depth=33),
    lambda drive: drive.submit("write", [0], queue_depth=-1),
    lambda drive: drive.submit("write", [0], data_percent=101),
    lambda drive: drive.submit("write", [0], data_percent=300),
    lambda drive: drive.fill(-4096),
    lambda drive: drive.fill(drive.capacity_bytes + 512),
    lambda drive: drive.advance(-1),
    lambda drive: drive.advance(1 << 64),
    lambda drive: drive.advance(1.5),
    lambda drive: drive.record(0),
    lambda drive: drive.age(-3),
    lambda drive: drive.deallocate(0, -4096),
    lambda drive: ssdlab.Drive("no-such-drive"),
    lambda drive: ssdlab.Drive(""),
    lambda drive: ssdlab.Drive("samsung-840-pro-256gb?scale=1"),
    lambda drive: ssdlab.Drive("./no-such-file.toml"),
    lambda drive: ssdlab.Drive("samsung-840-pro-256gb", scale=0),
    lambda drive: ssdlab.Drive("samsung-840-pro-256gb", scale=float("nan")),
    lambda drive: ssdlab.Drive("samsung-840-pro-256gb", scale=[1]),
    lambda drive: ssdlab.Drive("samsung-840-pro-256gb", seed=-1),
    lambda drive: ssdlab.Drive("samsung-840-pro-256gb", host="mars"),
    lambda drive: ssdlab.Drive("samsung-840-pro-256gb", nand__dies="&x=1"),
    lambda drive: ssdlab.simulate(drive, "consistancy"),
    lambda drive: ssdlab.simulate(drive, duration="-1s"),
    lambda drive: ssdlab.simulate(drive, spare="120%"),
    lambda drive: ssdlab.simulate(drive, seed=-1),
    lambda drive: ssdlab.simulate(drive, seed=1 << 64),
    lambda drive: ssdlab.simulate(drive, span_bytes="4GiB"),
    lambda drive: ssdlab.simulate(drive, colour="red"),
    lambda drive: ssdlab.run("consistency", "nowhere", progress=False),
    lambda drive: ssdlab.run("consistency", "null:", engine="magic", progress=False),
    lambda drive: ssdlab.run("consistency", "null:", purge="magic", progress=False),
    lambda drive: ssdlab.run("consistency", "null:", workers=0, progress=False),
    lambda drive: ssdlab.run("consistency", "null:", workers=-1, progress=False),
    lambda drive: ssdlab.run("consistency", "null:", erase="all", progress=False),
    lambda drive: ssdlab.Run("/nowhere"),
    lambda drive: ssdlab.read_library("/nowhere"),
    lambda drive: ssdlab.traces.read("synth:no-such-scenario"),
    lambda drive: ssdlab.traces.read("/nowhere.csv"),
    lambda drive: ssdlab.compare([], []),
]


@pytest.mark.parametrize("call", HOSTILE, ids=range(len(HOSTILE)))
def test_a_slip_raises_an_error_with_the_exit_code_of_the_program(call: object) -> None:
    assert callable(call)
    with pytest.raises(ssdlab.Error) as slip:
        call(small())
    assert slip.value.exit_code in (2, 4, 5) and len(str(slip.value)) > 10


def test_a_drive_that_does_not_fit_into_the_memory_is_refused() -> None:
    drive = ssdlab.Drive("samsung-840-pro-256gb")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:
        held_bytes = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held_bytes + (200 << 20), hard))
    try:
        with pytest.raises(ssdlab.UnsupportedError, match="scale=1/64"):
            drive.drain()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_busy_drives_refuse_changes_of_the_whole() -> None:
    drive = small()
    drive.submit("write", [0])
    for change in (drive.reset, lambda: drive.deallocate(0, 4096), lambda: drive.age(1)):
        with pytest.raises(ssdlab.UsageError, match="drain"):
            change()


def test_times_are_whole_numbers_of_ns_or_have_a_unit() -> None:
    plain, given = small(), small()
    plain.record(2_000_000), given.record(timedelta(milliseconds=2))
    due = np.arange(100) * 1_000_000
    plain.submit("write", np.arange(100) * 4096, at_ns=due)
    given.submit("write", np.arange(100) * 4096, at_ns=np.arange(100).astype("timedelta64[ms]"))
    plain.advance(200_000_000), given.advance(np.timedelta64(200, "ms"))
    assert given.now_ns == plain.now_ns
    rows, same = plain.rows(), given.rows()
    assert len(rows["host_pages"]) > 50 and all((rows[name] == same[name]).all() for name in rows)
    for time in (timedelta(microseconds=900), np.timedelta64(900, "us")):
        assert small(nand__program_ns=time).target == small(nand__program_ns=900_000).target
    for slip in (lambda: given.advance(np.timedelta64("NaT")), lambda: given.age(timedelta(hours=5))):
        with pytest.raises(ssdlab.UsageError, match="expected"):
            slip()


def test_superblocks_over_time_are_those_of_the_moment() -> None:
    drive = small()
    drive.record_superblocks(10_000_000)
    drive.submit("write", random_pages(drive, 300_000)), drive.drain()
    rows = drive.superblocks()
    assert rows.valid_pages.shape == rows.erases.shape == (len(rows), len(drive.erases())) and len(rows) > 20
    # One row for each interval of 10 ms, at the first command that ended in it.
    assert (np.diff(rows.at_ns // 10_000_000) == 1).all()
    assert (np.diff(rows.erases.astype(np.int64), axis=0) >= 0).all() and rows.erases[-1].sum() > 0
    assert np.allclose(rows.distribution().sum(axis=1), 1)
    assert len(drive.superblocks()) == 0
    # Time that passes by itself has a row for each interval, too, and the last is the state of now.
    drive.advance(drive.now_ns + 35_000_000)
    idle = drive.superblocks()
    assert 3 <= len(idle) <= 4 and (idle.at_ns % 10_000_000 == 0).all()
    assert (idle.valid_pages[-1] == drive.valid_pages()).all() and (idle.erases[-1] == drive.erases()).all()


def test_rows_of_superblocks_change_nothing() -> None:
    plain, watched = small(), small()
    watched.record_superblocks(1_000_000)
    ends = [(it.submit("write", random_pages(it, 50_000)) + it.drain()).done_ns for it in (plain, watched)]
    assert (ends[0] == ends[1]).all() and plain.telemetry() == watched.telemetry()
    copy = watched.clone()
    assert (copy.superblocks().valid_pages == watched.superblocks().valid_pages).all()
