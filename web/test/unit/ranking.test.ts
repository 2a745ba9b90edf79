import { describe, expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { fixtureReport, reportOf, runOf, SHAPES } from "../../fixtures/report";
import { bestRuns, figureOf } from "../../src/data/figures";
import { libraryOf } from "../../src/data/load";
import { differenceText, pairOf } from "../../src/data/pair";
import { type Product, productsOf } from "../../src/data/products";
import { chosenRun, rankingOf } from "../../src/data/ranking";
import type { Report, RunView } from "../../src/data/schema.gen";
import { ordinal, SENTENCES_MAX, verdict } from "../../src/data/verdict";

const made = library(5, 120);

function products(report: Report): Product[] {
  return productsOf(libraryOf(report));
}

function ranking(report: Report, metric = "iops_steady_mean", variant = "default", test = "consistency") {
  return rankingOf(products(report), test, metric, variant, report.left_out ?? []);
}

/** The report with changes to the consistency run of the first drive. */
function changed(change: Partial<RunView>): Report {
  const [first, ...rest] = made.runs;
  return { ...made, runs: [{ ...first, ...change }, ...rest] };
}

describe("products", () => {
  test("a drive is one, whatever its tests, and has all its runs", () => {
    const all = products(made);
    expect(all).toHaveLength(5);
    expect(all.map(({ runs }) => runs.length)).toEqual(Array(5).fill(19));
    expect(all.map(({ source }) => source)).toEqual([...Array(4).fill("simulated"), "drive"]);
    expect(new Set(all.map(({ key }) => key)).size).toBe(5);
  });

  test("the wanted spare area wins, then any complete run", () => {
    const [first] = products(made);
    expect(chosenRun(first, "consistency", "25%")?.variant).toBe("25%");
    expect(chosenRun(first, "corners", "25%")?.variant).toBe("default");
    expect(chosenRun(first, "replay", "default")).toBeNull();
  });
});

describe("ranking", () => {
  test("puts the best first, by the direction of the figure", () => {
    const high = ranking(made);
    const values = high.entries.map(({ value }) => value ?? 0);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(high.entries.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5]);
    const low = ranking(made, "latency_ns_max").entries.map(({ value }) => value ?? 0);
    expect(low).toEqual([...low].sort((a, b) => a - b));
  });

  test("equal values share a rank", () => {
    const same = made.runs.map((run) => ({ ...run, metrics: { ...run.metrics, iops_steady_mean: 5_000 } }));
    expect(ranking({ ...made, runs: same }).entries.map(({ rank }) => rank)).toEqual(Array(5).fill(1));
  });

  test("other conditions have a value and a reason, and no rank", () => {
    const [{ config }] = made.runs;
    const last = ranking(changed({ config: { ...config, queue_depth: 1 } })).entries[4];
    expect(last).toMatchObject({ standing: "unlike", rank: null, reason: "other conditions: queue depth" });
    expect(last.value).not.toBeNull();
  });

  test("a drive without the spare area of the others is not ranked with them", () => {
    const runs = made.runs.filter((_, at) => at !== 1);
    const entries = ranking({ ...made, runs }, "iops_steady_mean", "25%").entries;
    expect(entries[4]).toMatchObject({
      standing: "unlike",
      reason: "spare area as sold, not that of the others",
    });
  });

  describe("the host of a simulated drive", () => {
    const hosted = (links: [link: string, host: string][]): Report =>
      reportOf(
        links.map(([link, host], at) => {
          const run = runOf({ ...SHAPES[0], name: `Fixture ${at}`, length: 120 }, at);
          const facts = { interface: { value: link, from: "assumed: made up" } };
          return { ...run, target: { ...run.target, facts, details: { ...run.target.details, host } } };
        }),
      );

    test("separates drives of one link, and not SATA from NVMe: each has its own", () => {
      const sata = "SATA 6 Gb/s";
      const mixed = ranking(
        hosted([
          [sata, "SATA of 2012"],
          [sata, "SATA of 2012"],
          [sata, "SATA HBA of 2020"],
          ["PCIe 3.0 x4, NVMe 1.3", "NVMe of 2024"],
        ]),
      );
      expect(mixed.ranked).toBe(3);
      expect(mixed.entries[3]).toMatchObject({ standing: "unlike", reason: "other conditions: host" });
      expect(mixed.entries[3].product.name).toBe("Fixture 2");
      expect(mixed.samples).toHaveLength(2);
    });

    test("separates drives whose link nobody told", () => {
      const unknown = ranking(
        hosted([
          ["", "a"],
          ["", "a"],
          ["SATA", "b"],
        ]),
      );
      expect(unknown.ranked).toBe(2);
    });
  });

  test("a run of another version of the suite is neither ranked nor compared", () => {
    const report = changed({ suite_version: 2 });
    expect(ranking(report).entries[4]).toMatchObject({
      standing: "unlike",
      rank: null,
      reason: "other conditions: suite version",
    });
    expect(ranking(changed({ suite_version: 1 })).ranked).toBe(5);
    const [first, second] = products(report);
    const [{ test: name, unlike, rows }] = pairOf([first, second], "default");
    expect([name, unlike]).toEqual(["consistency", ["suite version"]]);
    expect(rows.every(({ ahead }) => ahead === null)).toBe(true);
    const best = bestRuns(figureOf("iops_steady_mean"), [[...first.runs, ...second.runs]]);
    expect([...best].map(({ view }) => view.target.name)).not.toContain(first.name);
  });

  test("a figure that does not hold at this scale is not ranked", () => {
    const text = "at scale 1/32: not that of the whole drive";
    const marks: RunView["marks"] = [{ metric: "iops_steady_cv", kind: "scale", text }];
    const report = changed({ marks });
    expect(ranking(report, "iops_steady_cv").entries[4]).toMatchObject({ standing: "unlike", reason: text });
    expect(ranking(report).entries.every(({ rank }) => rank !== null)).toBe(true);
  });

  test("an interrupted run is not ranked", () => {
    const last = ranking(changed({ status: "interrupted" })).entries[4];
    expect(last).toMatchObject({ standing: "unlike", reason: "the run is interrupted" });
  });

  test("an absent value is no zero: no run, cannot, or not measured", () => {
    const without = {
      ...made,
      runs: made.runs.filter(({ test, target }) => test !== "power" || target.kind !== "block"),
    };
    const [spec] = products(made)
      .slice(-1)
      .map(({ runs }) => runs[0].view.target.spec);
    const idle = "power.idle.power_w_mean";
    expect(ranking(without, idle, "default", "power").entries[4]).toMatchObject({
      text: "no run",
      value: null,
    });
    const told = { ...without, left_out: [`${spec}: power: nothing tells what it draws`] };
    const cannot = ranking(told, idle, "default", "power").entries[4];
    expect(cannot).toMatchObject({ text: "cannot", reason: "nothing tells what it draws" });
    const metrics = { ...made.runs[0].metrics, iops_steady_mean: null };
    expect(ranking(changed({ metrics, warnings: ["too small for this step"] })).entries[4]).toMatchObject({
      text: "cannot",
      reason: "too small for this step",
    });
    expect(ranking(changed({ metrics: {} })).entries[4].reason).toBe("this run did not measure it");
  });
});

describe("the verdict", () => {
  const texts = (report: Report, at = 0) => {
    const all = products(report);
    const rank = (test: string, metric: string) => rankingOf(all, test, metric, "default", []);
    const sentences = verdict(all[at], rank);
    return sentences.map((parts) =>
      parts.map((part) => (typeof part === "string" ? part : part.text)).join(""),
    );
  };

  test("has five sentences at most, the first with the name and the rank", () => {
    const told = texts(made);
    expect(told).toHaveLength(SENTENCES_MAX);
    expect(told[0]).toMatch(
      /^Fixture Library 01 480 GB \(simulated\) keeps [\d,]+ IOPS of random writes \(\d\w\w of 5\)/,
    );
    expect(told.join(" ")).toContain("TRIM works");
    expect(told.join(" ")).toContain("With 25% spare area it does 2.6 times the pace.");
  });

  test("of a single drive has no ranks, and of a run without figures no sentence", () => {
    expect(texts(reportOf([runOf(SHAPES[0], 1)]))[0]).not.toMatch(/\dth|1st/);
    expect(texts(reportOf([{ ...runOf(SHAPES[0], 1), metrics: {} }]))).toEqual([]);
  });

  test("omits what does not hold at the scale of the run", () => {
    const marks: RunView["marks"] = ["iops_steady_jitter_share", "latency_ns_max"].map((metric) => ({
      metric,
      kind: "scale",
      text: "at scale 1/32",
    }));
    expect(texts(changed({ marks }))[0]).toMatch(/ of random writes \(\d\w\w of 5\)\.$/);
  });

  test("counts as people do", () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 102].map(ordinal)).toEqual([
      "1st",
      "2nd",
      "3rd",
      "4th",
      "11th",
      "12th",
      "13th",
      "21st",
      "102nd",
    ]);
  });
});

describe("two drives", () => {
  test("differences are parts of the worse one, and factors from 2 on", () => {
    expect(differenceText(114, 100, "higher")).toBe("14% more");
    expect(differenceText(64, 100, "lower")).toBe("36% less");
    expect(differenceText(210, 100, "higher")).toBe("2.1× higher");
    expect(differenceText(0, 7, "lower")).toBe("none");
  });

  test("every figure of both tests is there, and unlike conditions name no winner", () => {
    const [a, b] = products(made);
    const tests = pairOf([a, b], "default");
    expect(tests.map(({ test }) => test)).toContain("destroyer");
    const rows = tests.flatMap((one) => one.rows);
    expect(rows.some(({ ahead }) => ahead === 0) && rows.some(({ ahead }) => ahead === 1)).toBe(true);
    const unlike = products(changed({ config: { ...made.runs[0].config, data: "repeating" } }));
    const [consistency] = pairOf([unlike[0], unlike[1]], "default");
    expect(consistency.unlike).toEqual(["data"]);
    expect(consistency.rows.every(({ ahead }) => ahead === null)).toBe(true);
  });

  test("values within 3% are the same, and repeated runs decide by their intervals", () => {
    const [first, , ...rest] = made.runs;
    const near = rest.find(({ test }) => test === "consistency");
    if (!near) throw new Error("no second drive");
    const at = (run: RunView, iops: number, id = run.run_id) => ({
      ...run,
      run_id: id,
      metrics: { iops_steady_mean: iops },
    });
    const row = (runs: RunView[]) => {
      const [a, b] = products(reportOf(runs));
      return pairOf([a, b], "default")[0].rows[0];
    };
    expect(row([at(first, 1_000), at(near, 1_020)]).difference).toBe("same within 3%");
    expect(row([at(first, 1_000), at(near, 1_100)])).toMatchObject({ ahead: 1, difference: "10% more" });
    const repeated = [
      at(first, 1_000),
      at(first, 1_200, "again"),
      at(near, 1_100),
      at(near, 1_150, "once more"),
    ];
    expect(row(repeated)).toMatchObject({ ahead: null, difference: "same within the repeats" });
  });
});

test("a page of one kind of run ranks nobody by accident", () => {
  const { entries } = ranking(fixtureReport());
  const stopped = entries.find(({ product }) => product.name === "Fixture Block 1000");
  expect(stopped?.rank ?? null).toBeNull();
});
