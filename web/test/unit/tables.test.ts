import { describe, expect, test } from "vitest";
import { labelNumber, places, yAxis } from "../../src/view/results/curves";
import { byPart } from "../../src/view/results/overlay";
import { passName, passSentence, placeText, roundTop } from "../../src/view/results/passes";
import { powerSentence, stateLabels } from "../../src/view/results/power";
import { cellText } from "../../src/view/results/tables";

describe("cells", () => {
  test.each([
    [12_345.6, "IOPS", "12,346"],
    [527.12, "MB/s", "527.1"],
    [99.96, "%", ">99.9"],
    [100, "%", "100.0"],
    [0.04, "%", "<0.1"],
    [0, "%", "0.0"],
    [0.04, "MB/s", "0.040"],
    [0.0423, "W", "0.042"],
    [3.604, "W", "3.60"],
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
    [338, 400],
    [557, 600],
    [2_100, 3000],
    [120_000, 120_000],
  ])("the axis above %d ends at %d", (value, top) => expect(roundTop(value)).toBe(top));

  test("a sentence stands for the graph", () => {
    const pass = { phase: "after_trim", offset_bytes: [0, 1, 2], mb_per_s: [500, 400, 300] };
    expect(passName(pass.phase)).toBe("after trim");
    expect(passName("after_trim.r1")).toBe("after trim, round 1");
    expect(passSentence(pass)).toBe("after trim: 383 MB/s on average, slowest zone 300.");
    const slow = { ...pass, mb_per_s: [500, 0.4, 0.4] };
    expect(passSentence(slow)).toBe("after trim: 0.60 MB/s on average, slowest zone 0.40.");
  });

  test.each([
    [32e6, "0 MB|16 MB|32 MB"],
    [4e9, "0.0 GB|2.0 GB|4.0 GB"],
    [480e9, "0 GB|240 GB|480 GB"],
    [2e12, "0.0 TB|1.0 TB|2.0 TB"],
  ])("places up to %d bytes are told in a unit that suits them", (end, texts) => {
    const places = [0, end / 2, end].map((offset) => placeText(offset, end).replace(/\s/g, " "));
    expect(places.join("|")).toBe(texts);
  });
});

describe("curves", () => {
  test("labels carry numbers of their own", () => {
    expect(["512B", "4KiB", "8MiB", "32", "65%", "5 s"].map(labelNumber)).toEqual([
      512,
      4_096,
      8_388_608,
      32,
      65,
      null,
    ]);
  });

  test("what doubles stands evenly, what is counted by its number, the rest in order", () => {
    expect(places(true, ["512B", "1KiB", "2KiB"])).toEqual([0, 0.5, 1]);
    expect(places(true, ["1", "4", "16"])).toEqual([0, 0.5, 1]);
    expect(places(false, ["1", "2", "5"])).toEqual([0, 0.25, 1]);
    expect(places(false, ["50us", "100us", "1ms"])).toEqual([0, 0.5, 1]);
    expect(places(true, ["32"])).toEqual([0.5]);
  });

  test("latencies are drawn over decades, rates from zero", () => {
    const latency = yAxis([20_000, 3_000_000], "ns");
    expect(latency.ticks).toEqual([1e4, 1e5, 1e6, 1e7]);
    expect(latency.place(1e7)).toBe(1);
    const rate = yAxis([557], "MB/s");
    expect([rate.place(0), rate.place(600)]).toEqual([0, 1]);
  });
});

describe("power", () => {
  test("names of states never run together", () => {
    const names = ["slumber", "idle", "sequential write", "random write"];
    for (const width of [260, 320, 390, 900]) {
      const from = [0, 1, 2, 3].map((k) => 58 + ((width - 72) * k) / 4);
      const labels = stateLabels(names, from, width);
      expect(labels.map(({ name }) => name)).toEqual(names);
      for (const { name, left, row } of labels) {
        expect(left + name.length * 6.5).toBeLessThanOrEqual(width);
        const next = labels.find((other) => other.row === row && other.left > left);
        if (next) expect(left + name.length * 6.5).toBeLessThan(next.left - 8);
      }
    }
  });

  test("a sentence stands for the graph", () => {
    const series = { phase: "random_write", time_s: [0, 1, 2], iops: [], power_w_max: [] };
    const say = (power_w: (number | null)[]) => powerSentence({ ...series, power_w }).replace(/\s/g, " ");
    expect(say([2, null, 3])).toBe("random write: 2.00 W to 3.00 W from second to second.");
    expect(say([null])).toBe("random write: nothing was read.");
  });
});

test("drives of unlike sizes share an axis: the mean of each part of the address space", () => {
  const small = { phase: "write", offset_bytes: [0, 10, 20, 30], mb_per_s: [400, 300, 200, 100] };
  expect(byPart(small, 2)).toEqual([350, 150]);
  expect(byPart(small, 8)).toEqual([400, null, 300, null, 200, null, 100, null]);
});
