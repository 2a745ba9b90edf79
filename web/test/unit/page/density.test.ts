import { describe, expect, test } from "vitest";
import { cellsOf, choiceSentence, densitySentence, opacity, yTicks } from "../../../src/view/results/density";

const view = {
  phase: "load",
  ios_lost: 0,
  column_ns: 1,
  columns: 2,
  latency_ns: [],
  offset_bytes: [],
  ops: [],
};

describe("densities of single commands", () => {
  test("turns of gaps and counts are cells, column by column", () => {
    expect(cellsOf([1, 5, 0, 6, 2, 7], 3)).toEqual([
      { column: 0, row: 1, count: 5 },
      { column: 0, row: 2, count: 6 },
      { column: 1, row: 2, count: 7 },
    ]);
    expect(cellsOf([], 3)).toEqual([]);
  });

  test("one command is visible, and many are more opaque", () => {
    expect(opacity(1, 1)).toBe(1);
    const [one, ten, most] = [1, 10, 1000].map((count) => opacity(count, 1000));
    expect(one).toBeGreaterThan(0.2);
    expect(ten).toBeGreaterThan(one);
    expect(most).toBe(1);
  });

  test("the axis of latencies has its decades, or its ends within one", () => {
    const decades = yTicks({ name: "latency", edges: [50_000, 300_000, 2_000_000] });
    expect(decades.map(({ label }) => label.replace(/\s/g, " "))).toEqual(["100 µs", "1 ms"]);
    expect(yTicks({ name: "latency", edges: [110_000, 200_000] }).map(({ at }) => at)).toEqual([0, 1]);
    expect(yTicks({ name: "offset", edges: [0, 1_000_000, 2_000_000] })).toHaveLength(5);
  });

  test("the sentence has the count, the middle and the slowest", () => {
    const op = { op: "read", ios: 10, by_latency: [0, 6, 0, 3, 3, 1], by_offset: [] };
    const plot = { name: "latency", title: "", unit: "", head: "", edges: [1000, 2000, 4000, 8000] } as const;
    const sentence = densitySentence(op, { ...plot, turns: (one) => one.by_latency }).replace(/\s/g, " ");
    expect(sentence).toBe("read: 10 commands: half within 2 µs, the slowest within 8 µs.");
  });

  test("the choice and its losses are said", () => {
    expect(choiceSentence([{ ...view, choice: "slowest:100" }])).toContain(
      "slowest 100 commands of each second",
    );
    const lost = choiceSentence([{ ...view, choice: "1%", ios_lost: 7 }]);
    expect(lost).toContain("random share of 1%");
    expect(lost).toContain("7 of them are missing");
  });
});
