"""Is a run directory what docs/reference/formats/run-directory.md says, to readers that share no code with
the writer?

SSDLAB_RUN_DIR names the run directory; without it, the example of schema version 1 is read.
"""

import json
import os
import zlib
from pathlib import Path

import duckdb
import jsonschema
import pandas
import polars
import pyarrow.parquet
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "crates/result/tests/compat/v1"
RUN_DIR = Path(os.environ.get("SSDLAB_RUN_DIR", EXAMPLE))

KINDS = ["read", "write", "flush", "deallocate"]
IOS = [f"{kind}_ios" for kind in KINDS]
BYTES = ["read_bytes", "write_bytes", "deallocate_bytes"]
# Those that files of schema version 1 have; the others are what the description lists.
TELEMETRY_V1 = [
    "host_pages",
    "programmed_pages",
    "gc_moved_pages",
    "padding_pages",
    "erased_superblocks",
    "free_superblocks",
    "buffer_pages",
    "die_busy_ns",
    "channel_busy_ns",
]


def described_telemetry():
    """The columns from `host_pages` to the end of the table in the description of the format."""
    text = (ROOT / "docs/reference/formats/run-directory.md").read_text()
    table = text[text.index("| `host_pages`") :].split("\n\n")[0]
    return [line.split("`")[1] for line in table.splitlines()]


TELEMETRY = TELEMETRY_V1 if RUN_DIR == EXAMPLE else described_telemetry()
POWER = [] if RUN_DIR == EXAMPLE else ["power_uw_mean", "power_uw_max"]
KEY = ["phase", "phase_index", "second"]
SERIES = [
    *KEY,
    "start_ns",
    "duration_ns",
    *IOS,
    *BYTES,
    "errors",
    "offset_bytes",
    "latency_ns_p50",
    "latency_ns_p99",
    "latency_ns_max",
    *POWER,
    *TELEMETRY,
]
if RUN_DIR == EXAMPLE:
    SERIES.remove("offset_bytes")
LATENCY = [*KEY, "op", "lower_ns", "count"]


def with_pandas(path):
    return pandas.read_parquet(path, dtype_backend="pyarrow").to_dict("list")


def with_polars(path):
    return polars.read_parquet(path).to_dict(as_series=False)


def with_duckdb(path):
    relation = duckdb.sql("SELECT * FROM read_parquet('" + str(path).replace("'", "''") + "')")
    rows = relation.fetchall()
    return {name: [row[at] for row in rows] for at, name in enumerate(relation.columns)}


READERS = [with_pandas, with_polars, with_duckdb]


@pytest.fixture(scope="module")
def run():
    return json.loads((RUN_DIR / "run.json").read_text())


@pytest.fixture(scope="module", params=READERS, ids=lambda reader: reader.__name__)
def series(request):
    return request.param(RUN_DIR / "series.parquet")


@pytest.fixture(scope="module", params=READERS, ids=lambda reader: reader.__name__)
def latency(request):
    return request.param(RUN_DIR / "latency.parquet")


def row_of(metrics, name):
    """The first row of the catalogue that covers a name; `<word>` stands for any text without a dot."""
    for row in metrics:
        own, other = row["name"].split("."), name.split(".")
        pairs = list(zip(own, other, strict=False))
        if len(own) == len(other) and all(a == b or a.startswith("<") for a, b in pairs):
            return row
    return None


def total_by_phase(table, columns):
    totals = {}
    for column in columns:
        for index, value in zip(table["phase_index"], table[column], strict=True):
            totals[index] = totals.get(index, 0) + value
    return totals


def seconds_of(series, index):
    pairs = zip(series["phase_index"], series["second"], strict=True)
    return [second for phase, second in pairs if phase == index]


def is_null(value):
    """pandas shows a null among integers as NaN, which alone differs from itself."""
    return value is None or value is pandas.NA or value != value


def test_run_json_follows_its_schema(run):
    schema = json.loads((ROOT / "schema/run.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(run, schema, cls=jsonschema.Draft202012Validator)


def test_every_metric_is_in_the_catalogue(run):
    metrics = json.loads((ROOT / "schema/metrics.json").read_text())
    assert row_of(metrics, "corners.random_read.iops")["unit"] == "iops"
    assert row_of(metrics, "corners.random_read") is None
    named = set(run["metrics"]) | {finding["metric"] for finding in run["findings"]}
    for name in named | {mark["metric"] for mark in run.get("marks", [])}:
        assert row_of(metrics, name), f"{name} is in no row of schema/metrics.json"


def test_columns_are_the_documented_ones(series, latency):
    assert list(series) == SERIES
    assert list(latency) == LATENCY


@pytest.mark.parametrize("file", ["series.parquet", "latency.parquet"])
def test_integers_are_64_bits_and_texts_are_texts(file):
    schema = pyarrow.parquet.read_schema(RUN_DIR / file)
    for field in schema:
        wanted = "string" if field.name in ("phase", "op") else "int64"
        assert str(field.type) == wanted, field


def test_every_reader_sees_the_same():
    for file in ["series.parquet", "latency.parquet"]:
        first, *others = [reader(RUN_DIR / file) for reader in READERS]
        for other in others:
            for name, values in first.items():
                plain = [None if is_null(value) else value for value in values]
                assert plain == other[name], f"{file}: {name}"


def test_phases_are_those_of_run_json(run, series):
    for name, index in zip(series["phase"], series["phase_index"], strict=True):
        assert run["phases"][index]["name"] == name


def test_seconds_have_no_gaps(run, series):
    for index in range(len(run["phases"])):
        seconds = seconds_of(series, index)
        assert seconds == list(range(len(seconds))), run["phases"][index]["name"]


def test_the_load_has_a_row_for_every_second(run, series):
    loads = [at for at, phase in enumerate(run["phases"]) if phase["name"] == "load"]
    assert loads or run["test"] != "consistency", "a consistency run has a load phase"
    for index in loads:
        whole_s = -(-run["phases"][index]["duration_ns"] // 1_000_000_000)
        assert len(seconds_of(series, index)) == whole_s


def test_commands_of_series_histogram_and_run_json_agree(run, series, latency):
    of_series = total_by_phase(series, IOS)
    of_histogram = total_by_phase(latency, ["count"])
    loads = [at for at, phase in enumerate(run["phases"]) if phase["name"] == "load"]
    for index in loads:
        phase = run["phases"][index]
        ios = phase["ios"]
        assert ios > 0
        assert of_series.get(index, 0) == ios
        late = phase["ios_after_end"] + phase.get("ios_unanswered", 0)
        in_histogram = ios if run["schema_version"] < 2 else ios + late
        assert of_histogram.get(index, 0) == in_histogram


def test_bytes_of_series_and_run_json_agree(run, series):
    of_series = total_by_phase(series, BYTES)
    for index, phase in enumerate(run["phases"]):
        if phase["name"] == "load":
            assert of_series.get(index, 0) == phase["bytes"]


def test_intervals_follow_each_other(series):
    rows = zip(series["phase_index"], series["start_ns"], series["duration_ns"], strict=True)
    end = {}
    for index, start_ns, duration_ns in rows:
        assert duration_ns > 0
        assert start_ns == end.get(index, start_ns)
        end[index] = start_ns + duration_ns


def test_steady_mean_is_that_of_the_rows(run, series):
    mean = run["metrics"].get("iops_steady_mean")
    if run["test"] != "consistency" or mean is None:
        pytest.skip("no steady-state figures in this run")
    low, high = run["metrics"]["iops_steady_min"], run["metrics"]["iops_steady_max"]
    assert low <= mean <= high
    rates = [
        sum(series[column][at] for column in IOS) * 1e9 / series["duration_ns"][at]
        for at, phase in enumerate(series["phase"])
        if phase == "load"
    ]
    assert any(abs(rate - low) <= 1e-6 * max(low, 1) for rate in rates)
    assert any(abs(rate - high) <= 1e-6 * max(high, 1) for rate in rates)


def checksum_of_rows(table, index):
    rows = [at for at, phase in enumerate(table["phase_index"]) if phase == index]
    checksum = 0
    for name, column in table.items():
        values = [column[at] for at in rows]
        if name in ("phase", "phase_index") or all(is_null(value) for value in values):
            continue
        if name == "op":
            values = [KINDS.index(value) for value in values]
        numbers = [-1 if is_null(value) else int(value) for value in values]
        content = b"".join(number.to_bytes(8, "little", signed=True) for number in numbers)
        checksum = zlib.crc32(name.encode() + content, checksum)
    return f"{checksum:08x}"


def test_checksums_are_those_of_the_rows_and_of_run_json(run, series, latency):
    if "checksums" not in run:
        pytest.skip("a run of an older version")
    checksums = run["checksums"]
    for table, said in [(series, checksums["series"]), (latency, checksums["latency"])]:
        assert said["columns"] == len(table)
        assert said["phases"] == [checksum_of_rows(table, at) for at in range(len(run["phases"]))]
    text, digits = (RUN_DIR / "run.json").read_bytes(), checksums["run_json"].encode()
    before, after = text.rsplit(digits, 1)
    assert f"{zlib.crc32(before + b'00000000' + after):08x}".encode() == digits


@pytest.mark.parametrize("name", ["series", "latency"])
def test_the_checksum_of_a_parquet_file_is_that_of_its_bytes(run, name):
    if not run.get("checksums", {}).get(name, {}).get("sealed"):
        pytest.skip("a run of an older version")
    path = RUN_DIR / f"{name}.parquet"
    digits = pyarrow.parquet.read_metadata(path).metadata[b"ssdlab.crc32"]
    before, after = path.read_bytes().rsplit(digits, 1)
    assert f"{zlib.crc32(before + b'00000000' + after):08x}".encode() == digits


IOS_COLUMNS = [
    "phase",
    "phase_index",
    "due_ns",
    "issued_ns",
    "done_ns",
    "op",
    "offset_bytes",
    "length_bytes",
    "job",
    "status",
]


@pytest.fixture(scope="module", params=READERS, ids=lambda reader: reader.__name__)
def ios(request, run):
    if "ios" not in run:
        pytest.skip("a run without single commands")
    return request.param(RUN_DIR / "ios.parquet")


def test_single_commands_have_the_counts_and_bytes_of_their_phases(run, ios):
    assert list(ios) == IOS_COLUMNS
    assert len(ios["op"]) == run["ios"]["rows"]
    assert set(ios["op"]) <= set(KINDS)
    rows = {index: [] for index in range(len(run["phases"]))}
    for at, index in enumerate(ios["phase_index"]):
        rows[index].append(at)
    of_series = total_by_phase(with_polars(RUN_DIR / "series.parquet"), BYTES)
    for index, phase in enumerate(run["phases"]):
        known = phase["ios"] + phase["ios_after_end"] + phase.get("ios_unanswered", 0)
        kept = len(rows[index]) + phase.get("ios_lost", 0)
        assert kept == known if run["ios"]["choice"] == "all" else kept <= known
        for at in rows[index]:
            assert ios["due_ns"][at] <= ios["issued_ns"][at] <= ios["done_ns"][at]
        assert {ios["phase"][at] for at in rows[index]} <= {phase["name"]}
        if run["ios"]["choice"] == "all" and "ios_lost" not in phase:
            # The last command of a phase that ends by itself ends with it.
            end_ns = phase["duration_ns"] + (phase["ios_after_end"] == 0)
            in_time = [at for at in rows[index] if ios["done_ns"][at] < end_ns]
            moved = sum(ios["length_bytes"][at] for at in in_time)
            assert moved == of_series.get(index, 0), phase["name"]


def test_the_checksum_of_single_commands_is_that_of_their_bytes(run, ios):
    path = RUN_DIR / "ios.parquet"
    digits = pyarrow.parquet.read_metadata(path).metadata[b"ssdlab.crc32"]
    before, after = path.read_bytes().rsplit(digits, 1)
    assert f"{zlib.crc32(before + b'00000000' + after):08x}".encode() == digits
