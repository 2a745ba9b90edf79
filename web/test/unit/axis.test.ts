import { describe, expect, test } from "vitest";
import {
  extend,
  linear,
  linearTicks,
  logFrom,
  logScale,
  logTicks,
  lowerBound,
  middleOf,
  minorTicks,
  NO_EXTENT,
  nearestIndex,
  niceTop,
  projector,
  rangeWithin,
  robustTop,
  weightedTop,
  wholeTicks,
} from "../../src/chart/axis";
import { shortCount } from "../../src/data/format";

describe("log scale", () => {
  test("begins at a decade and ends at 1, 2 or 5", () => {
    expect(logScale(1_830, 88_000, false)).toMatchObject({ low: 1_000, max: 100_000, min: 1_000 });
    expect(logScale(73, 130_000, false)).toMatchObject({ low: 10, max: 200_000 });
  });

  test("never shows less than two decades", () => {
    const scale = logScale(9_000, 11_000, false);
    expect(scale.max / scale.low).toBeGreaterThanOrEqual(100);
  });

  test("exact powers of ten stay where they are", () => {
    expect(logScale(1_000, 100_000, false)).toMatchObject({ low: 1_000, max: 100_000 });
    expect(logScale(1, 1_000_000, false)).toMatchObject({ low: 1, max: 1_000_000 });
  });

  test("keeps a band for zeros below the lowest decade", () => {
    const scale = logScale(100, 100_000, true);
    expect(scale.zeroAt).toBeLessThan(100);
    expect(scale.min).toBeLessThan(scale.zeroAt ?? 0);
    const place = projector(scale, 0, 1);
    expect(place(100)).toBeCloseTo(0.16, 6);
    expect(place(0)).toBeCloseTo(0.096, 6);
  });

  test("holds nothing at all without failing", () => {
    const scale = logScale(Number.POSITIVE_INFINITY, 0, false);
    expect(scale.max).toBeGreaterThan(scale.min);
  });

  test("ticks are decades in short form, zero first", () => {
    const labels = logTicks(logScale(3, 60_000, true), shortCount).map((tick) => tick.label);
    expect(labels).toEqual(["0", "1", "10", "100", "1K", "10K", "100K"]);
  });

  test("two decades also name 2 and 5", () => {
    const labels = logTicks(logScale(1_000, 90_000, false), shortCount).map((tick) => tick.label);
    expect(labels).toEqual(["1K", "2K", "5K", "10K", "20K", "50K", "100K"]);
  });

  test("a low axis names decades alone, and its end where there is room", () => {
    const labels = (pixels: number) =>
      logTicks(logScale(10, 50_000, false), shortCount, pixels).map((tick) => tick.label);
    expect(labels(200)).toEqual(["10", "100", "1K", "10K", "50K"]);
    expect(labels(60)).toEqual(["10", "100", "1K", "10K"]);
    const few = logTicks(logFrom(1, 50), shortCount, 40).map((tick) => tick.label);
    expect(few).toEqual(["1", "10", "50"]);
  });

  test("for ratios begins and ends close to the values", () => {
    expect(logFrom(1, 16)).toMatchObject({ low: 1, max: 20 });
    expect(logFrom(0.31, 4)).toMatchObject({ low: 0.2, max: 5 });
    expect(logFrom(1, 1)).toMatchObject({ low: 1, max: 2 });
  });

  test("minor lines stay inside", () => {
    const scale = logScale(100, 5_000, true);
    for (const value of minorTicks(scale)) {
      expect(value).toBeGreaterThanOrEqual(scale.low);
      expect(value).toBeLessThanOrEqual(scale.max);
    }
  });
});

describe("linear scale", () => {
  test.each([
    [39_200, 40_000],
    [40_000, 40_000],
    [9_812, 10_000],
    [1, 1],
    [0, 1],
    [0.83, 1],
  ])("the top for %d is %d", (highest, top) => expect(niceTop(highest)).toBe(top));

  test("ticks have clean values", () => {
    const ticks = linearTicks(linear(0, 0.5), 5, String);
    expect(ticks.map((tick) => tick.label)).toEqual(["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
  });

  test.each([
    [0, 25, 10, ["0", "5", "10", "15", "20", "25"]],
    [100, 104, 10, ["100", "101", "102", "103", "104"]],
    [100.3, 103.9, 10, ["101", "102", "103"]],
    [0, 250, 10, ["0", "25", "50", "75", "100", "125", "150", "175", "200", "225", "250"]],
  ])(
    "seconds from %d to %d have ticks at whole ones, each labelled with what it is",
    (min, max, count, labels) => {
      const ticks = wholeTicks(linear(min, max), count, String);
      expect(ticks.map((tick) => tick.label)).toEqual(labels);
      expect(ticks.every(({ value, label }) => value === Number(label))).toBe(true);
    },
  );

  test("a zoomed axis ticks inside its part", () => {
    const ticks = linearTicks(linear(1_501.3, 1_519.8), 6, String);
    expect(ticks[0].value).toBeGreaterThanOrEqual(1_501.3);
    expect(ticks.at(-1)?.value).toBeLessThanOrEqual(1_519.8);
  });
});

describe("projection", () => {
  test("zero without a zero line has no place, and neither has the unknown", () => {
    const place = projector(logScale(1, 100, false), 0, 100);
    expect(place(0)).toBeNaN();
    expect(place(Number.NaN)).toBeNaN();
    expect(place(10)).toBeCloseTo(50);
  });

  test("upside down for canvas rows", () => {
    const place = projector(linear(0, 10), 200, 0);
    expect(place(0)).toBe(200);
    expect(place(10)).toBe(0);
  });
});

test("the middle is where the eye finds it", () => {
  expect(middleOf(linear(0, 10))).toBe(5);
  expect(middleOf(logScale(1_000, 1e7, false))).toBeCloseTo(1e5);
});

describe("searching sorted columns", () => {
  const column = Float64Array.of(0, 1, 2, 5, 9);

  test("lower bound", () => {
    expect(lowerBound(column, -1)).toBe(0);
    expect(lowerBound(column, 2)).toBe(2);
    expect(lowerBound(column, 2.1)).toBe(3);
    expect(lowerBound(column, 10)).toBe(5);
  });

  test("within a scale", () => {
    expect(rangeWithin(column, linear(1, 5))).toEqual([1, 3]);
    expect(rangeWithin(column, linear(0.5, 8.9))).toEqual([1, 3]);
    expect(rangeWithin(column, linear(0, 2_000))).toEqual([0, 4]);
    const [first, last] = rangeWithin(column, linear(6, 8));
    expect(last).toBeLessThan(first);
  });

  test("nearest", () => {
    expect(nearestIndex(column, 3.4)).toBe(2);
    expect(nearestIndex(column, 3.6)).toBe(3);
    expect(nearestIndex(column, 99)).toBe(4);
    expect(nearestIndex(new Float64Array(0), 1)).toBe(-1);
  });
});

test("an extent counts zeros apart and skips the unknown", () => {
  const extent = extend(NO_EXTENT, Float64Array.of(0, 5, Number.NaN, 3, 0));
  expect(extent).toEqual({ lowest: 3, highest: 5, zeros: 2 });
});

test("one wild second does not flatten the strip", () => {
  const column = new Float64Array(2_000).fill(4);
  column[7] = 900;
  const { top, clipped } = robustTop([column]);
  expect(clipped).toBe(true);
  expect(top).toBeLessThan(10);
  expect(robustTop([new Float64Array(2_000).fill(4)])).toEqual({ top: 4, clipped: false });
});

describe("an axis on which the writes decide", () => {
  const tame = {
    values: new Float64Array(2_000).fill(4),
    weights: new Float64Array(2_000).fill(10_000),
  };
  const wild = {
    values: Float64Array.from({ length: 2_000 }, (_, i) =>
      i % 3 === 0 ? Number.NaN : i % 3 === 1 ? 8 : 88_000,
    ),
    weights: Float64Array.from({ length: 2_000 }, (_, i) => (i % 3 === 0 ? 0 : i % 3 === 1 ? 16_384 : 1)),
  };

  test("seconds with hardly a write have no say, however many they are", () => {
    expect(weightedTop([tame, wild])).toMatchObject({ lowest: 4, clipped: true });
    expect(weightedTop([tame, wild]).top).toBeCloseTo(9.2);
  });

  test("tame columns are held whole, and no column at all does not fail", () => {
    expect(weightedTop([tame])).toEqual({ lowest: 4, top: 4, clipped: false });
    expect(weightedTop([]).top).toBe(1);
  });
});
