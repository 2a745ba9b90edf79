import { describe, expect, test } from "vitest";
import {
  fixtureReport,
  manyRuns,
  mixedLengths,
  reportOf,
  runOf,
  SHAPES,
  unknownTest,
} from "../../fixtures/report";
import { appOf, firstComparison, shownRuns, usable, variantsOf } from "../../src/app";
import { runClasses } from "../../src/chart/classes";
import { endOf, setScales, zoomed, zoomWithin } from "../../src/chart/scales";
import * as figures from "../../src/data/figures";
import { libraryOf, parseReport, plainName, spareLabel } from "../../src/data/load";
import { marksOf } from "../../src/data/marks";

const library = libraryOf(fixtureReport());
const byVariant = (name: string, variant: string) => {
  const found = library.runs.find((run) => run.drive.name === name && run.variant === variant);
  if (!found) throw new Error(`no ${name} ${variant}`);
  return found;
};
const even = byVariant("Fixture Even 480", "default");
const stopped = byVariant("Fixture Block 1000", "default");

const TOO_FEW = {
  metric: "latency_steady_ns_p9999",
  kind: "few-samples" as const,
  text: "too few commands (440)",
};

describe("marks", () => {
  test("a figure says what must be known of it, whether it has a value or not", () => {
    const text = "mixes two regimes: 90,000 IOPS until 20 s, 30,000 IOPS from then on";
    const mean = {
      metric: "iops_steady_mean",
      kind: "two-regimes" as const,
      text,
      levels: [9e4, 3e4] as [number, number],
    };
    const [marked] = libraryOf(reportOf([runOf({ ...SHAPES[0], marks: [TOO_FEW, mean] }, 1)])).runs;
    expect(marksOf(marked, "iops_steady_mean")).toEqual([text]);
    expect(marksOf(marked, "latency_steady_ns_p9999")).toEqual(["too few commands (440)"]);
    expect(marksOf(marked, "iops_steady_min")).toEqual([]);
    expect(marksOf(even, "iops_steady_mean")).toEqual([]);
  });

  test("a small drive wins no comparison and says nothing of what depends on the size", () => {
    const text = "at scale 1/32: not that of the whole drive";
    const lost = ["iops_steady_cv", "latency_ns_max", "fall_start_s", "iops_peak_mean_first_60s"];
    const marks = lost.map((metric) => ({ metric, kind: "scale" as const, text }));
    const view = runOf(SHAPES[0], 1);
    const small = { ...view, run_id: "small", marks, metrics: { ...view.metrics, iops_steady_cv: 0.0001 } };
    const worse = { ...view, run_id: "worse", metrics: { ...view.metrics, iops_steady_cv: 0.9 } };
    const { runs } = libraryOf(reportOf([view, small, worse]));
    const best = (name: string) =>
      [...figures.bestRuns(figures.figureOf(name), [runs])].map((run) => run.view.run_id);
    expect(best("iops_steady_cv")).toEqual([view.run_id]);
    const scaled = runs.find((run) => run.view.run_id === "small");
    if (!scaled) throw new Error("the small drive is missing");
    expect(figures.steadySummary(scaled)).toMatch(/: mean [\d,]+ IOPS\. Evenness at scale 1\/32: not that/);
    expect(figures.latencySummary(scaled)).toMatch(
      /: latency at scale 1\/32: not that of the whole drive\.$/,
    );
    expect(figures.summary(scaled)).not.toMatch(/fall|First/);
    expect(figures.summary(runs[0])).toMatch(/First/);
  });
});

describe("loading", () => {
  test("variants of one drive share its button", () => {
    expect(library.drives.map((drive) => drive.runs.length)).toEqual([2, 2, 2, 1, 1]);
    expect(even.drive.key).toBe("fixture-even-480");
  });

  test("simulated drives carry the word in plain text, too", () => {
    expect(plainName(even)).toBe("Fixture Even 480 (simulated)");
    expect(plainName(stopped)).toBe("Fixture Block 1000");
  });

  test("a seed beyond 2^53 keeps its digits", () => {
    const report = parseReport(
      '{"runs":[{"seed":18446744073709551615,"command":"x \\"seed\\":12345678901234567890"}]}',
    );
    expect(String(report?.runs[0].seed)).toBe("18446744073709551615");
    expect(report?.runs[0].command).toBe('x "seed":12345678901234567890');
  });

  test("no data is null", () => expect(parseReport("null")).toBeNull());

  test("without a column of times the seconds count from 0", () => {
    const view = runOf({ ...SHAPES[0], length: 3, fallAt: 1, settleAt: 2 }, 1);
    const { runs } = libraryOf(reportOf([{ ...view, series: { ...view.series, time_s: [] } }]));
    expect([...runs[0].columns.second]).toEqual([0, 1, 2]);
  });

  test("the same run twice is two runs", () => {
    const view = runOf(SHAPES[0], 1);
    const { runs, drives } = libraryOf(reportOf([view, view]));
    expect(drives).toHaveLength(1);
    expect(new Set(runs.map((run) => run.id)).size).toBe(2);
    expect(runs.map((run) => run.variant)).toEqual(["default", "default #2"]);
  });

  test("default comes first, then the spare areas as they grow", () => {
    const variants = ["100GiB", "25%", "12.5%", "default"];
    const views = variants.map((variant, k) => runOf({ ...SHAPES[0], length: 60, variant }, k));
    const made = libraryOf(reportOf(views));
    const sorted = ["default", "12.5%", "25%", "100GiB"];
    expect(made.runs.map((run) => run.variant)).toEqual(sorted);
    expect(variantsOf(made)).toEqual(sorted);
  });

  test("two drives of one name are told apart", () => {
    const a = runOf(SHAPES[0], 1);
    const b = { ...a, target: { ...a.target, capacity_bytes: 240e9 } };
    const names = libraryOf(reportOf([a, b])).drives.map((drive) => drive.name.replace("\u202f", " "));
    expect(names).toEqual(["Fixture Even 480 (480 GB)", "Fixture Even 480 (240 GB)"]);
  });

  test("firmware is part of what a drive is", () => {
    const run = runOf({ ...SHAPES[0], kind: "block", length: 60 }, 1);
    const flashed = (firmware: string, test: string) => ({
      ...run,
      test,
      run_id: `${test}-${firmware}`,
      target: { ...run.target, serial: "S1", firmware },
    });
    const views = [
      flashed("FX01", "consistency"),
      flashed("FX02", "consistency"),
      flashed("FX03", "corners"),
    ];
    const { drives, listed, others } = libraryOf(reportOf(views));
    const named = ["FX01", "FX02"].map((firmware) => `Fixture Even 480 (firmware ${firmware})`);
    expect(drives.map(({ name }) => name)).toEqual(named);
    expect(drives.map(({ runs }) => runs.map(({ variant }) => variant))).toEqual([["default"], ["default"]]);
    expect(new Set(drives.map(({ key }) => key)).size).toBe(2);
    expect(listed.map(({ name }) => name)).toEqual([...named, "Fixture Even 480 (firmware FX03)"]);
    expect(plainName(others[0])).toBe("Fixture Even 480 (firmware FX03)");
  });

  test("every drive is listed once, with consistency runs or without", () => {
    const run = runOf({ ...SHAPES[0], length: 60 }, 1);
    const other = { ...run, test: "corners", run_id: "corners" };
    const lone = { ...other, run_id: "lone", target: { ...run.target, name: "Lone" } };
    const listed = (views: (typeof run)[]) => libraryOf(reportOf(views)).listed.map(({ name }) => name);
    expect(listed([lone, other, run])).toEqual(["Fixture Even 480", "Lone"]);
    expect(listed([lone, other])).toEqual(["Lone", "Fixture Even 480"]);
  });

  test("null in a column is unknown, not zero", () => {
    const stalled = byVariant("Fixture Stalling 240", "default");
    const second = stalled.columns.iops.indexOf(0);
    expect(second).toBeGreaterThan(0);
    expect(stalled.columns.p50[second]).toBeNaN();
    expect(stalled.columns.waf[second]).toBeNaN();
  });

  test("a span asked for in bytes is no spare area", () => {
    expect(["default", "default #2", "25%", "100GiB"].map(spareLabel)).toEqual([
      "as sold",
      "as sold #2",
      "25% spare",
      "first 100GiB",
    ]);
  });

  test("other tests stay out of the graphs", () => {
    const other = libraryOf(unknownTest());
    expect(other.runs).toHaveLength(0);
    expect(other.others).toHaveLength(1);
  });
});

describe("scales of the set", () => {
  const scales = setScales(library.runs);

  test("hold every run", () => {
    expect(scales.whole).toMatchObject({ min: 0, max: 2_000 });
    for (const run of library.runs) {
      for (const value of run.columns.iops) {
        expect(value).toBeLessThanOrEqual(scales.iopsWhole.max);
        if (value > 0) expect(value).toBeGreaterThanOrEqual(scales.iopsWhole.low);
      }
    }
    expect(scales.iopsWhole.zeroAt).not.toBeNull();
  });

  test("an interrupted run does not drag the steady axis to where it got to", () => {
    expect(stopped.view.steady_from_s).toBeLessThan(endOf(stopped));
    expect(scales.steady).toMatchObject({ min: 1_400, max: 2_000 });
  });

  test("an interrupted run alone still has a steady axis", () => {
    expect(setScales([stopped]).steady).toMatchObject({ min: 428, max: 612 });
  });

  test("no runs and empty runs do not fail", () => {
    const empty = runOf({ ...SHAPES[0], length: 0 }, 1);
    empty.latency_bins = [];
    const scale = setScales(libraryOf(reportOf([empty])).runs);
    expect(scale.whole.max).toBeGreaterThan(scale.whole.min);
    expect(setScales([]).steady.max).toBeGreaterThan(0);
  });

  test("a zoom clips to the axis, and leaves an axis it does not touch alone", () => {
    expect(zoomed(scales.steady, [1_000, 1_600])).toMatchObject({ min: 1_400, max: 1_600 });
    expect(zoomed(scales.steady, [100, 200])).toBe(scales.steady);
    expect(zoomWithin(scales.whole, [-50, 4_000])).toBeNull();
    const tiny = zoomWithin(scales.whole, [100, 100.1]);
    expect((tiny?.[1] ?? 0) - (tiny?.[0] ?? 0)).toBeCloseTo(4);
  });
});

describe("figures", () => {
  const figure = figures.figureOf;

  test("best needs a rival and a complete run", () => {
    expect(figures.bestValue(figure("iops_steady_mean"), [even])).toBeNull();
    const best = figures.bestValue(figure("iops_peak_mean_first_60s"), library.runs);
    expect(best).toBeLessThan(figures.metricOf(stopped, "iops_peak_mean_first_60s") ?? 0);
  });

  test("lower is better for latency, and no direction means no winner", () => {
    const values = library.runs.map((run) => figures.metricOf(run, "latency_steady_ns_p99"));
    const complete = library.runs.flatMap((run, k) =>
      run.view.status === "complete" ? [values[k] ?? 0] : [],
    );
    expect(figures.bestValue(figure("latency_steady_ns_p99"), library.runs)).toBe(Math.min(...complete));
    expect(figures.bestValue(figure("iops_steady_max"), library.runs)).toBeNull();
  });

  test("unknown is a dash", () => {
    expect(figures.shown(figure("waf_steady"), null)).toBe("–");
    expect(figures.shown(figure("waf_steady"), undefined)).toBe("–");
  });

  test("figures of steps have unit and meaning of their row, and go by their names", () => {
    const rate = figure("corners.random_read.iops");
    expect(rate).toMatchObject({ label: "corners.random_read.iops", unit: "iops", better: "higher" });
    expect(rate.explanation).not.toBe("");
    expect(figure("pts-latency.steady_mean").label).toBe("pts-latency.steady_mean");
    expect(figure("x.mb_per_s")).toMatchObject({ chapter: "Other", unit: "count", better: null });
    expect(figure("corners.random_read.iops.more").chapter).toBe("Other");
  });

  test.each([
    ["power.slumber.power_w_mean", "w", 0.042, "42 mW"],
    ["power.random_write.energy_j_per_gb", "j_per_gb", 12.34, "12.3 J/GB"],
    ["pslc.write.fast_bytes", "bytes", 78_643_200, "78.6 MB"],
    ["pts-write-saturation.minutes", "min", 12, "12 min"],
    ["pts-xsr.recovery_s", "s", 40, "40 s"],
    ["pts-iops.steady_mean", "iops", 500, "500"],
    ["pts-cbw.saturation.steady_mean", "iops", 500, "500"],
    ["pts-throughput.steady_mean", "mb_per_s", 500, "500 MB/s"],
    ["pts-latency.steady_mean", "ns", 61_200, "61.2 µs"],
    ["pts-iops.rounds", "count", 5, "5"],
    ["pts-iops.steady_range_share", "share", 0.1, "10.0%"],
    ["corners.random_read.iops", "iops", 12_345, "12,345"],
    ["mixed.read70.latency_ns_p99_read", "ns", 61_200, "61.2 µs"],
    ["busy_time_s_read", "s", 12.5, "12.50 s"],
    ["avg_service_time_us_write", "us", 61.2, "61.2 µs"],
  ])("%s is in %s", (name, unit, value, text) => {
    expect(figure(name).unit).toBe(unit);
    expect(figures.shown(figure(name), value).replace(/\s/g, " ")).toBe(text);
  });

  test("CSV has one row a figure and says what is simulated", () => {
    const lines = figures.csv([even, stopped]).split("\n");
    expect(lines[0]).toBe(
      'figure,unit,"Fixture Even 480 (simulated), as sold","Fixture Block 1000, as sold"',
    );
    expect(lines).toHaveLength(figures.figuresIn([even, stopped]).length + 1);
    expect(lines.find((line) => line.startsWith("waf_steady"))).toMatch(/,$/);
  });

  test("the mean of the whole load has its place and its meaning", () => {
    expect(figure("iops_mean")).toMatchObject({
      chapter: "Throughput",
      label: "Whole load, mean",
      unit: "iops",
    });
    expect(figure("iops_mean").explanation).not.toBe("");
  });

  test("the best is sought among complete runs of one length", () => {
    const mixed = libraryOf(mixedLengths());
    const classes = runClasses(mixed.runs).map(({ runs }) => runs);
    const best = figures.bestRuns(figure("iops_steady_mean"), classes);
    expect([...best].map((run) => `${run.drive.name}, ${run.variant}`)).toEqual(["Fixture Even 480, 25%"]);
    const never = figures.bestRuns(figure("seconds_below_half_mean_share"), classes);
    expect([...never].every((run) => run.view.status === "complete")).toBe(true);
  });

  test("the best is sought among runs under the same load", () => {
    const at = (name: string, config: object, mean: number) => {
      const view = runOf({ ...SHAPES[0], name, length: 100 }, 1);
      const metrics = { ...view.metrics, iops_steady_mean: mean };
      return { ...view, run_id: name, metrics, config: { ...view.config, ...config } };
    };
    const views = [
      at("a", {}, 100),
      at("b", {}, 200),
      at("alone", { queue_depth: 1 }, 900),
      at("large", { block_bytes: 131_072 }, 50),
      at("paced", { rate: "1000" }, 60),
      at("paced too", { rate: "1000", seed: 5 }, 70),
      at("repeating", { data: "repeating" }, 70),
    ];
    const { runs } = libraryOf(reportOf(views));
    const classes = runClasses(runs).map((one) => one.runs);
    expect(classes).toHaveLength(1);
    const best = figures.bestRuns(figure("iops_steady_mean"), classes);
    expect([...best].map((run) => run.drive.name)).toEqual(["b", "paced too"]);
  });

  test("the first minute of a shorter run is called what it is", () => {
    const [full, short, shorter] = [100, 25, 15].map(
      (length) => libraryOf(reportOf([runOf({ ...SHAPES[0], length }, 1)])).runs[0],
    );
    const first = figure("iops_peak_mean_first_60s");
    const label = (...runs: (typeof full)[]) => figures.labelOf(first, runs).replace("\u202f", " ");
    expect(label(full)).toBe("First minute, mean");
    expect(label(short, short)).toBe("First 25 s, mean");
    expect(label(full, short)).toBe("First minute or less, mean");
    expect(label(short, shorter)).toBe("First minute or less, mean");
    expect(figures.shownOf(first, short, [full, short])).toMatch(/^[\d,]+ \(25\ss\)$/);
    expect(figures.shownOf(first, full, [full, short])).toMatch(/^[\d,]+$/);
    expect(figures.shownOf(first, short, [short])).toMatch(/^[\d,]+$/);
    expect(figures.summary(short)).toMatch(/First 25\ss [\d,]+ IOPS on average/);
    expect(figures.summary(full)).toMatch(/First minute [\d,]+ IOPS on average/);
    expect(figures.labelOf(figure("iops_mean"), [short])).toBe("Whole load, mean");
  });

  test("runs made alike raise no notice, others name the difference", () => {
    expect(figures.differingConfig(library.runs, [library.runs])).toEqual([]);
    const short = libraryOf(reportOf([runOf(SHAPES[0], 1), runOf({ ...SHAPES[0], length: 60 }, 1)]));
    expect(figures.differingConfig(short.runs, [short.runs])).toEqual(["duration_s", "steady_from_s"]);
    const apart = runClasses(short.runs).map(({ runs }) => runs);
    expect(figures.differingConfig(short.runs, apart)).toEqual([]);
  });
});

describe("exceedance", () => {
  const curve = figures.exceedance([
    [10, 90],
    [100, 9],
    [1_000, 1],
  ]);

  test("begins with all and falls", () => {
    expect([...curve.share]).toEqual([1, 0.1, 0.01]);
    expect(curve.commands).toBe(100);
  });

  test("tells the share at or above a latency", () => {
    expect(figures.shareAbove(curve, 5)).toBe(1);
    expect(figures.shareAbove(curve, 11)).toBe(0.1);
    expect(figures.shareAbove(curve, 1_000)).toBe(0.01);
    expect(figures.shareAbove(curve, 1_001)).toBe(0);
  });
});

describe("what is shown", () => {
  test("a drive without the wanted variant shows its own", () => {
    const app = appOf(library, "#drive=fixture-block-1000&spare=25%25");
    expect(shownRuns(app).map(({ run }) => run)).toEqual([stopped]);
  });

  test("a page opens on the drive of its subject, and a link on its own", () => {
    const { view } = stopped;
    const opened = libraryOf({ ...library.report, subject: view.run_id });
    expect(appOf(opened, "").store.state.drive).toBe("fixture-block-1000");
    const other = appOf(library, "").store.state.drive;
    expect(other).not.toBe("fixture-block-1000");
    expect(appOf(opened, `#drive=${other}`).store.state.drive).toBe(other);
  });

  test("a link from another report is not an error", () => {
    expect(usable(library, { drive: "nothing", variant: "25%" })).toEqual({});
    expect(usable(library, { view: "compare", compare: ["nothing"] })).toEqual({});
    expect(shownRuns(appOf(library, "#compare=nothing"))).toHaveLength(5);
  });

  test("a comparison keeps the colours of its places", () => {
    const app = appOf(library, `#compare=${even.id},,${stopped.id}`);
    expect(shownRuns(app).map(({ color }) => color)).toEqual([1, 3]);
  });

  test("the first comparison is the drive with the others, or the variants of a single one", () => {
    const { store } = appOf(library, "");
    expect(firstComparison(library, store.state)).toHaveLength(5);
    const many = libraryOf(manyRuns());
    expect(firstComparison(many, appOf(many, "").store.state)).toHaveLength(6);
    const alone = { ...store.state, drive: stopped.drive.key };
    expect(firstComparison(library, alone)[0]).toBe(stopped.id);
    const single = { ...library, drives: [even.drive] };
    expect(firstComparison(single, store.state)).toEqual(even.drive.runs.map(({ id }) => id));
  });
});
