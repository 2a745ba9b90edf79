import { describe, expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { felt, type Load, loadOf, savedInDay, savings, savingText, secondsText } from "../../src/data/felt";
import { figureOf } from "../../src/data/figures";
import { libraryOf } from "../../src/data/load";
import { productsOf } from "../../src/data/products";
import { rankingOf } from "../../src/data/ranking";
import { feltOf } from "../../src/data/tests";
import { daySentence } from "../../src/view/results/felt";

const made = library(3, 120);

/** Three drives with these times of a load, in seconds. */
function loadWith(times: number[], aDay: number | null, config: Record<string, unknown>[] = []): Load {
  const [first] = made.runs;
  const drives = [...new Set(made.runs.map(({ target }) => target.spec))];
  const runs = times.map((time, at) => ({
    ...(made.runs.find(({ target }) => target.spec === drives[at]) ?? first),
    test: "feel",
    config: config[at] ?? { part: "100%" },
    marks: [],
    metrics: { "feel.level_load.time_s": time },
  }));
  const products = productsOf(libraryOf({ ...made, runs }));
  const ranking = rankingOf(products, "feel", "feel.level_load.time_s", "default", []);
  return { name: "level load", aDay, ranking };
}

function savingOf(load: Load, time: number) {
  const own = load.ranking.entries.find(({ value }) => value === time)?.product;
  if (!own) throw new Error(`no drive takes ${time}`);
  return savings([load], own);
}

describe("work that people feel", () => {
  test("a difference below 0.1 s is none", () => {
    expect(felt(0.099)).toBe(0);
    expect(felt(-0.099)).toBe(0);
    expect(felt(1.1 - 1.0)).toBeCloseTo(0.1);
    expect(felt(-4.2)).toBe(-4.2);
    expect([savingText(0.05), savingText(-0.02), savingText(0)]).toEqual(Array(3).fill("the same"));
    expect(savingText(4.25)).toMatch(/^4\.3\Ws less$/u);
    expect(savingText(-0.2)).toMatch(/^0\.2\Ws more$/u);
    expect(secondsText(300)).toMatch(/^5\Wmin$/u);
  });

  test("a drive stands beside the slowest and the fastest", () => {
    const load = loadWith([6.5, 1.1, 1.15], 10);
    const [slow] = savingOf(load, 6.5);
    expect([slow.againstSlowestS, slow.againstFastestS]).toEqual([0, -5.4]);
    const [middle] = savingOf(load, 1.15);
    expect(middle.againstSlowestS).toBeCloseTo(5.35);
    expect(middle.againstFastestS).toBe(0);
  });

  test("what nobody feels counts never, however often it is done", () => {
    const often = savingOf(loadWith([1.05, 1.0, 1.02], 1_000), 1.0);
    expect(savedInDay(often, "slowest")).toBe(0);
    expect(daySentence("This one", savingOf(loadWith([6.5, 1.1, 1.15], null), 1.1))).toBe("");
    const rare = savingOf(loadWith([6.5, 1.1, 1.15], 2), 1.1);
    expect(savedInDay(rare, "slowest")).toBeCloseTo(10.8);
    expect(daySentence("This one", [...often, ...rare])).toMatch(
      /^In a day of such work This one takes 10\.8\Ws less than the slowest drives here and the same time as the fastest\.$/u,
    );
  });

  test("a drive alone, or under other conditions, saves nothing", () => {
    const load = loadWith([6.5, 1.1, 1.15], 1, [{ part: "10%" }]);
    expect(savingOf(load, 6.5)).toEqual([]);
    expect(savingOf(load, 1.1)).toHaveLength(1);
    expect(savingOf(loadWith([6.5], 1), 6.5)).toEqual([]);
  });

  test("the loads are the figures of time, without the day", () => {
    const names = ["feel.level_load.time_s", "feel.day.time_s", "feel.level_load.waits"];
    expect(names.map((name) => loadOf(figureOf(name)))).toEqual(["level load", null, null]);
    expect(feltOf("feel")).toEqual(["feel"]);
    expect(feltOf("latency")).toEqual([]);
  });
});
