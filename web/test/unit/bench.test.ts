import { describe, expect, test } from "vitest";
import { benchLibrary } from "../../fixtures/bench";
import { libraryRuns } from "../../fixtures/library";
import { BASKET_MAX, choiceOf, listHash } from "../../src/bench/address";
import { added } from "../../src/bench/basket";
import { figuresByWords, meantFigure, rankedBy } from "../../src/bench/figures";
import { filtered, optionsOf } from "../../src/bench/filter";
import { NOTHING, withRows, withSeconds } from "../../src/bench/live";
import { booksOf } from "../../src/bench/products";
import { progressOf } from "../../src/bench/progress";
import { viewsOf } from "../../src/bench/views";
import { HEADLINES } from "../../src/data/headlines";
import { rankingOf } from "../../src/data/ranking";
import type { RunView } from "../../src/data/schema.gen";

const views = libraryRuns(3, 60);

function books(runs: readonly RunView[]) {
  return booksOf(benchLibrary(runs));
}

/** The runs with other targets; a number counts the drives. */
function retargeted(
  change: (target: RunView["target"], drive: number) => Partial<RunView["target"]>,
): RunView[] {
  const names = [...new Set(views.map(({ target }) => target.name))];
  return views.map((view) => ({
    ...view,
    target: { ...view.target, ...change(view.target, names.indexOf(view.target.name)) },
  }));
}

function at(view: RunView, scale: string): RunView {
  const { target } = view;
  return {
    ...view,
    run_id: `${view.run_id}-${scale}`,
    target: { ...target, name: `${target.name} [scale=${scale}]`, capacity_bytes: 1e9, details: { scale } },
  };
}

describe("runs below full size", () => {
  const [first] = views;
  const sizes = (runs: readonly RunView[]) =>
    books(runs).products.map((product) => product.runs.map(({ view }) => view.target.details.scale ?? "1"));

  test("stand with the drive of full size, and behind its runs", () => {
    expect(sizes([at(first, "1/64"), first, at(first, "1/8")])).toEqual([["1", "1/8", "1/64"]]);
    const { products, scaled } = books([at(first, "1/64"), first]);
    expect(products.map(({ name }) => name)).toEqual([first.target.name]);
    expect([...scaled.values()].map((runs) => runs.length)).toEqual([1]);
  });

  test("stand with the largest one where nobody has the drive of full size", () => {
    expect(sizes([at(first, "1/64"), at(first, "1/8")])).toEqual([["1/8", "1/64"]]);
  });

  test("of a drive with other values stand apart from the model", () => {
    const other = at(first, "1/8");
    other.target.name = other.target.name.replace("[", "[gc.policy=greedy, ");
    expect(sizes([first, other])).toEqual([["1"], ["1/8"]]);
  });

  test("are not ranked beside full size, and the reason says so", () => {
    const [, second] = [first, views[19]];
    const { products } = books([first, at(second, "1/64")]);
    const { entries } = rankingOf(products, "consistency", "iops_steady_mean", "default", []);
    expect(entries.map(({ rank, reason }) => [rank, reason])).toEqual([
      [1, ""],
      [null, "simulated at 1/64 of full size, and the others at full size"],
    ]);
  });

  test("are ranked among themselves", () => {
    const { products } = books([at(first, "1/64"), at(views[19], "1/64")]);
    const { entries } = rankingOf(products, "consistency", "iops_steady_mean", "default", []);
    expect(entries.map(({ rank }) => rank)).toEqual([1, 2]);
  });
});

describe("choices", () => {
  test("the interface is that of the facts, else that of the simulated host", () => {
    const { products } = books(
      retargeted(({ details }, drive) =>
        drive === 0
          ? { facts: { interface: { value: "PCIe 4.0 x4, NVMe", from: "assumed: made up" } } }
          : { facts: {}, details: { ...details, host: drive === 1 ? "sata-2012" : "none" } },
      ),
    );
    expect(optionsOf(products, {}, "link").map(({ value, count }) => [value, count])).toEqual([
      ["NVMe", 1],
      ["SATA", 1],
    ]);
    expect(filtered(products, { link: "NVMe" })).toHaveLength(1);
  });

  test("a drive without a use is in no choice of one", () => {
    const uses = ["client", "data centre"] as const;
    const { products } = books(
      retargeted((_, drive) => ({
        facts: drive < uses.length ? { use: { value: uses[drive], from: "assumed: made up" } } : {},
      })),
    );
    expect(optionsOf(products, {}, "use").map(({ value, count }) => [value, count])).toEqual([
      ["client", 1],
      ["data centre", 1],
    ]);
    expect(filtered(products, { use: "client" })).toHaveLength(1);
    expect(filtered(products, {})).toHaveLength(3);
  });

  test("prices are ranges, in the order of amounts", () => {
    const cents = [120_000, 4_999, 10_000];
    const { products } = books(
      retargeted((_, drive) => ({
        facts: {
          price: { amount_cents: cents[drive], currency: "USD", date: "2013-06", from: "assumed: made up" },
        },
      })),
    );
    expect(optionsOf(products, {}, "price").map(({ value }) => value)).toEqual([
      "below 50 USD",
      "100 to 200 USD",
      "1,000 USD and more",
    ]);
  });

  test("a run below full size has the capacity of its drive", () => {
    const { products } = books([views[0], at(views[0], "1/64")]);
    expect(optionsOf(products, {}, "capacity").map(({ count }) => count)).toEqual([1]);
  });

  test("an address repeats every choice", () => {
    const choice = {
      filter: { find: "a b", link: "SATA", use: "data centre", price: "50 to 100 USD" },
      by: "corners:corners.random_read.iops",
      area: "25%",
      basket: ["one", "two,three"],
    };
    expect(choiceOf(listHash(choice))).toEqual(choice);
  });

  test("many keys at once fill the basket, and no more than that", () => {
    const many = Array.from({ length: 30 }, (_, key) => String(key));
    expect(added(["7", "a"], many.slice(0, 9))).toEqual(["7", "a", "0", "1", "2", "3", "4", "5", "6", "8"]);
    expect(added([], many)).toHaveLength(BASKET_MAX);
  });
});

describe("the ranked figure", () => {
  const { products } = books(views);
  const figures = figuresByWords(products);

  test("every figure has words of its own", () => {
    const all = new Set(
      products.flatMap(({ runs }) => runs.flatMap(({ view }) => Object.keys(view.metrics))),
    );
    expect(figures.size).toBeGreaterThanOrEqual(all.size);
    expect(new Set([...figures.values()].map(({ test, metric }) => `${test}:${metric}`)).size).toBe(
      figures.size,
    );
  });

  test("words find it by what it is called, or by its name", () => {
    const random = { test: "corners", metric: "corners.random_read.iops" };
    expect(meantFigure(figures, "Random reads · The four corners")).toEqual(random);
    expect(meantFigure(figures, "corners random_read.iops")).toEqual(random);
    expect(meantFigure(figures, "random banana")).toBeNull();
    expect(meantFigure(figures, " ")).toBeNull();
  });

  test("without a choice it is the first headline", () => {
    expect(rankedBy(products, "")).toMatchObject({ test: "consistency", metric: "iops_steady_mean" });
    expect(rankedBy([], "")).toBeNull();
  });

  test("a view needs two drives that have its figure", () => {
    const names = (runs: readonly RunView[]) => viewsOf(books(runs).products).map(({ name }) => name);
    expect(names(views)).toContain("Fastest sustained writes");
    expect(names(views)).not.toContain("Most even SATA");
    expect(names(views.slice(0, 19))).toEqual([]);
  });

  test("every view ranks by a headline", () => {
    const known = HEADLINES.map(({ test, metric }) => `${test}:${metric}`);
    for (const { by } of viewsOf(products)) expect(known).toContain(by);
  });
});

describe("a run in progress", () => {
  const phase = (name: string, seconds: number) => ({
    ...views[0].phases[0],
    ...{ name, duration_ns: seconds * 1e9 },
  });
  const planned = (name: string, seconds: number | null, more = {}) => ({
    ...{ name, duration_ns: seconds === null ? null : seconds * 1e9, is_estimate: false, is_optional: false },
    ...more,
  });
  const present = (name: string, seconds: number) => ({ phase: name, iops: Array<number>(seconds).fill(1) });

  test("the part that is done counts phases as they were, and the rest as it is planned", () => {
    const plan = [planned("purge", null), planned("fill", 30, { is_estimate: true }), planned("load", 100)];
    expect(progressOf([phase("purge", 0), phase("fill", 60)], plan, present("load", 40))).toEqual({
      share: 100 / 160,
      leftNs: 60e9,
      words: "",
    });
    expect(progressOf([], plan, NOTHING)).toEqual({ share: 0, leftNs: 130e9, words: "about" });
    expect(
      progressOf([phase("purge", 0)], plan, present("fill", 45)),
      "longer than it was guessed",
    ).toMatchObject({
      share: 45 / 145,
      leftNs: 100e9,
    });
  });

  test("rounds that may be left out give a bound", () => {
    const plan = [planned("load.r1", 10), planned("load.r2", 10, { is_optional: true })];
    expect(progressOf([phase("load.r1", 10)], plan, present("load.r1", 10))).toEqual({
      share: 0.5,
      leftNs: 10e9,
      words: "at most",
    });
  });

  test("without a plan nothing is said", () => {
    expect(progressOf([phase("fill", 60)], [], present("load", 40))).toBeNull();
  });

  test("seconds of another phase begin a new series, and a missing one is a gap", () => {
    const second = (phase: string, second: number) => ({ phase, second, iops: 7, latency_ns_p99: null });
    const fill = withRows({ phase: "fill", iops: [1, null], latency_ns_p99: [1, 2] });
    expect(fill).toEqual({ phase: "fill", iops: [1, Number.NaN], p99: 2 });
    const load = withSeconds(fill, [second("load", 0), second("load", 2)]);
    expect(load.iops).toEqual([7, Number.NaN, 7]);
  });
});
