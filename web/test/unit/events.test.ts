import { describe, expect, test } from "vitest";
import { reportOf, runOf, SHAPES, type Shape } from "../../fixtures/report";
import { eventsOf } from "../../src/chart/events";
import { libraryOf } from "../../src/data/load";
import type { RunView } from "../../src/data/schema.gen";

const EVEN: Shape = { ...SHAPES[0], noise: 0.02 };

function events(shape: Shape, change: (view: RunView) => void = () => undefined) {
  const view = runOf(shape, 1);
  change(view);
  return eventsOf(libraryOf(reportOf([view])).runs[0]);
}

describe("events of a run", () => {
  test("an even drive falls and settles, and nothing else happens", () => {
    expect(events(EVEN).map(({ kind, second }) => [kind, second])).toEqual([
      ["fall", 312],
      ["steady", 720],
    ]);
  });

  test("seconds without a command are a stall, and the longest one is named", () => {
    const found = events(EVEN, ({ series }) => {
      for (const second of [900, 1_200, 1_201, 1_202]) {
        series.iops[second] = 0;
        series.telemetry.gc_moved_pages[second] = 0;
      }
    });
    const stall = found.find(({ kind }) => kind === "stall");
    expect(stall).toMatchObject({ second: 1_200, lasts: 3, label: "stall, 3\u202fs" });
    expect(stall?.text).toContain("the longest of 2");
  });

  test("slow seconds in which the drive cleans on are a reorganisation and no stall", () => {
    const found = events(EVEN, ({ series }) => {
      for (const second of [1_000, 1_001]) {
        series.iops[second] = 0;
        series.telemetry.gc_moved_pages[second] = 1e6;
      }
    });
    expect(found.find(({ kind }) => kind === "reorganisation")).toMatchObject({ second: 1_000, lasts: 2 });
    expect(found.some(({ kind }) => kind === "stall")).toBe(false);
  });

  test("the fast cache is full when it holds all that it ever holds", () => {
    const found = events(EVEN, ({ series }) => {
      series.telemetry.pslc_pages = series.time_s.map((second) => Math.min(1_000, second * 10));
    });
    expect(found[0]).toMatchObject({ kind: "cache-full", second: 97 });
  });

  /** A curve of these levels, each for so many seconds, with a steady second and cleaning from a second on. */
  function curve(levels: [number, number][], steady: number, cleansFrom: number) {
    const rates = levels.flatMap(([seconds, level]) => Array<number>(seconds).fill(level));
    const at = (second: number) => second >= cleansFrom;
    return events({ ...EVEN, length: rates.length }, ({ series, metrics }) => {
      series.iops = rates;
      series.waf = rates.map((_, second) => (at(second) ? 3 : 1));
      series.telemetry.gc_moved_pages = rates.map((_, second) => (at(second) ? 1_000 : 0));
      metrics.steady_start_s = steady;
    }).filter(({ kind }) => kind === "steady");
  }

  test("a fresh drive that never cleans has no steady state, at 0 s or later", () => {
    expect(curve([[60, 78_000]], 0, 1e9)).toEqual([]);
    expect(curve([[60, 78_000]], 5, 1e9)).toEqual([]);
  });

  test("a level that the rest of the curve leaves is no steady state, and one that it keeps is", () => {
    const before: [number, number][] = [
      [300, 80_000],
      [560, 12_000],
    ];
    expect(curve([...before, [300, 12_000], [300, 18_700], [540, 13_400]], 860, 300)).toEqual([]);
    expect(curve([...before, [1_140, 12_000]], 860, 300)).toMatchObject([{ second: 860 }]);
    expect(curve([...before, [4, 12_000]], 860, 300), "four seconds are no level").toEqual([]);
  });

  test("a mark that says so forbids the words, and a scale does not", () => {
    for (const [kind, count] of [
      ["not-steady", 0],
      ["two-regimes", 0],
      ["interrupted", 0],
      ["few-samples", 0],
      ["stopped", 0],
      ["scale", 1],
    ] as const) {
      const found = events(EVEN, (view) => {
        view.marks = [{ metric: "iops_steady_mean", kind, text: kind }];
      });
      expect(
        found.filter((one) => one.kind === "steady"),
        kind,
      ).toHaveLength(count);
    }
  });

  test("a fall without cleaning does not blame cleaning", () => {
    const [fall] = events(EVEN, ({ series }) => {
      series.waf = series.waf.map(() => 1);
      series.telemetry.gc_moved_pages = series.waf.map(() => 0);
    });
    expect(fall.text).toContain("cleans nothing");
  });

  test("a run without seconds has none", () => {
    expect(events({ ...EVEN, length: 0 })).toEqual([]);
  });
});
