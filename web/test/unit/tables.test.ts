import { describe, expect, test } from "vitest";
import { passName, passSentence, roundTop } from "../../src/view/passes";
import { cellText } from "../../src/view/tables";

describe("cells", () => {
  test.each([
    [12_345.6, "IOPS", "12,346"],
    [527.12, "MB/s", "527.1"],
    [99.96, "%", "100.0"],
  ])("%d %s", (value, unit, text) => expect(cellText(value, unit)).toBe(text));

  test("latencies and sizes bring their unit", () => {
    expect(cellText(1_500_000, "ns").replace(/\s/g, " ")).toBe("1.50 ms");
    expect(cellText(8e9, "bytes").replace(/\s/g, " ")).toMatch(/^8(\.0+)? GB$/);
  });
});

describe("passes", () => {
  test.each([
    [0, 1],
    [1, 1],
    [338, 500],
    [557, 1000],
    [2_100, 5000],
  ])("the axis above %d ends at %d", (value, top) => expect(roundTop(value)).toBe(top));

  test("a sentence stands for the graph", () => {
    const pass = { phase: "after_trim", offset_bytes: [0, 1, 2], mb_per_s: [500, 400, 300] };
    expect(passName(pass.phase)).toBe("after trim");
    expect(passSentence(pass)).toBe("after trim: 383 MB/s on average, slowest zone 300.");
  });
});
