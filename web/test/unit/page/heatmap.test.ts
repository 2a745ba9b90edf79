import { describe, expect, test } from "vitest";
import type { Table } from "../../../src/data/schema.gen";
import { heatMapsOf } from "../../../src/data/tests";
import { cellTexts, extremes, shade } from "../../../src/view/results/heatmap";

function table(rows: (number | null)[][]): Table {
  const columns = (rows[0] ?? []).map((_, at) => ({ name: `${at}`, unit: "ns" }));
  return {
    name: "mean",
    title: "Mean",
    row_name: "writes \\ reads",
    columns,
    rows: rows.map((values, at) => ({ label: `${at}`, values })),
    conditions: {},
  };
}

describe("a heat map", () => {
  test("shades by the logarithm between the smallest value and the largest", () => {
    expect(shade(100, 100, 10_000)).toBe(0);
    expect(shade(1_000, 100, 10_000)).toBeCloseTo(0.5);
    expect(shade(10_000, 100, 10_000)).toBe(1);
    expect(shade(5, 5, 5)).toBe(0);
  });

  test("leaves cells without a value out of the range", () => {
    expect(
      extremes(
        table([
          [null, 300],
          [20, null],
        ]),
      ),
    ).toEqual([20, 300]);
    expect(extremes(table([[null, null]]))).toBeNull();
  });

  test("is of the tables that the test declares", () => {
    expect(heatMapsOf("matrix")).toEqual(["mean", "p99"]);
    expect(heatMapsOf("consistency")).toEqual([]);
  });
});

test("the cells of a heat map have all of their numbers, with as many digits as fit, or none", () => {
  const plain = (width: number) => {
    const texts = cellTexts([437_000, 2_710_000], "ns", width);
    return texts && [437_000, 2_710_000].map((value) => texts(value).replaceAll("\u202f", " "));
  };
  expect(plain(60)).toEqual(["437 µs", "2.71 ms"]);
  expect(plain(40)).toEqual(["440 µs", "2.7 ms"]);
  expect(plain(25)).toBeNull();
});
