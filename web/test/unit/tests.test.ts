import { describe, expect, test } from "vitest";
import { GROUPS, HEADLINES, headlineOf } from "../../src/data/headlines";
import { curvesOf, hasPowerBars, heading, inOrder, isGraphed } from "../../src/data/tests";

describe("the tests of the suite", () => {
  test("a test has the heading that it declares, and an unknown one its own name", () => {
    expect(heading("pslc")).toBe("Fast cache");
    expect(heading("endurance")).toBe("Test: endurance");
  });

  test("tests stand in the order of the suite, each once, and unknown ones last", () => {
    const runs = ["endurance", "pts-iops", "trim", "pts-iops", "aging", "consistency"];
    expect(inOrder(runs)).toEqual(["consistency", "trim", "pts-iops", "endurance", "aging"]);
  });

  test("charts are those of the declaration", () => {
    expect(["consistency", "power", "endurance"].map(isGraphed)).toEqual([true, false, false]);
    expect(["consistency", "power", "endurance"].map(hasPowerBars)).toEqual([false, true, false]);
    expect(curvesOf("sweep")).toEqual([{ kind: "curves", table: "sizes", units: ["MB/s"], log_rows: true }]);
    expect(curvesOf("pts-dirth").map(({ table }) => table)).toEqual(["outstanding", "histogram"]);
    expect(curvesOf("endurance")).toEqual([]);
  });

  test("headlines are the figures that tests declare with a column, under their heads", () => {
    expect(GROUPS.map(({ name }) => name.replace("\u00ad", ""))).toEqual([
      "Pace",
      "Random, IOPS",
      "Sequential, MB/s",
      "Sustained, MB/s",
      "One command",
      "Felt",
      "Power",
      "Days of work, MB/s",
      "Light work",
    ]);
    // The heads of a table span the columns that follow each other.
    expect(GROUPS.flatMap(({ headlines }) => headlines)).toEqual(HEADLINES);
    expect(HEADLINES.filter(({ group }, at) => group !== HEADLINES[at - 1]?.group)).toHaveLength(
      GROUPS.length,
    );
    expect(headlineOf("consistency", "iops_steady_mean")?.title).toBe("Steady pace");
    expect(headlineOf("consistency", "waf_steady"), "of the card alone").toBeUndefined();
  });
});
