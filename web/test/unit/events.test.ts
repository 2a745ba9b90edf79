import { describe, expect, test } from "vitest";
import { reportOf, runOf, SHAPES, type Shape } from "../../fixtures/report";
import { eventsOf } from "../../src/data/events";
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

  test("a run without seconds has none", () => {
    expect(events({ ...EVEN, length: 0 })).toEqual([]);
  });
});
