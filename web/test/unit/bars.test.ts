import { describe, expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { libraryOf } from "../../src/data/load";
import { productsOf } from "../../src/data/products";
import { rankingOf } from "../../src/data/ranking";
import type { Report, RunView } from "../../src/data/schema.gen";
import { fitted } from "../../src/view/bars/figure";
import { barLayout } from "../../src/view/bars/layout";

const made = library(5, 120);

function ranking(report: Report, metric = "iops_steady_mean") {
  return rankingOf(productsOf(libraryOf(report)), "consistency", metric, "default", []);
}

/** The report with changes to the consistency run of the first drive. */
function changed(change: Partial<RunView>): Report {
  const [first, ...rest] = made.runs;
  return { ...made, runs: [{ ...first, ...change }, ...rest] };
}

describe("bars", () => {
  test("begin at zero, and a value without a rank has no say in their scale", () => {
    const layout = barLayout(ranking(made));
    expect(layout.rows[0].length).toBe(1);
    const [best, , third] = layout.rows;
    expect(third.length).toBeCloseTo((third.entry.value ?? 0) / (best.entry.value ?? 1), 6);
    const text = "at scale 1/32";
    const marks: RunView["marks"] = [{ metric: "iops_steady_mean", kind: "scale", text }];
    const metrics = { ...made.runs[0].metrics, iops_steady_mean: 1e6 };
    const cut = barLayout(ranking(changed({ marks, metrics })));
    expect(cut.rows.map(({ length }) => length > 0 && length <= 1)).toEqual(Array(5).fill(true));
    expect(cut.rows[0].length).toBe(1);
    expect(cut.rows.map(({ isBroken }) => isBroken)).toEqual([false, false, false, false, true]);
    expect(cut.divider).toBeGreaterThan(cut.rows[3].y);
  });

  test("names above the bars take a row of their own", () => {
    const [beside, above] = [barLayout(ranking(made)), barLayout(ranking(made), true)];
    expect(above.nameRow).toBeGreaterThan(0);
    expect(above.height).toBeGreaterThan(beside.height);
    expect(above.rows.map(({ length }) => length)).toEqual(beside.rows.map(({ length }) => length));
  });

  test("waits over decades are dots on a log scale", () => {
    const runs = made.runs.map((run, at) => ({
      ...run,
      metrics: { ...run.metrics, latency_ns_max: 10 ** (6 + (at % 7)) },
    }));
    const layout = barLayout(ranking({ ...made, runs }, "latency_ns_max"));
    expect(layout.isLog).toBe(true);
    expect(layout.rows.every(({ length }) => length >= 0 && length <= 1)).toBe(true);
  });

  test("a long name keeps its end", () => {
    expect(fitted("Samsung SSD 840 Pro 256 GB", 130)).toBe("Samsun…ro 256 GB");
    expect(fitted("Short", 130)).toBe("Short");
  });
});
