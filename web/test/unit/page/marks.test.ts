import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { library } from "../../../fixtures/library";
import { type Kind, markedRun, quickRun, stoppedRun, TEXTS } from "../../../fixtures/marks";
import { reportOf, runOf, SHAPES } from "../../../fixtures/report";
import { bestRuns, csv, figureOf, steadySummary, summary } from "../../../src/data/figures";
import { isSpan, libraryOf, spareLabel, variantsTitle } from "../../../src/data/load";
import { barOf, lackOf, markLabels, wordsOfMark } from "../../../src/data/marks";
import { feltIn, pairOf } from "../../../src/data/pair";
import { type Product, productsOf } from "../../../src/data/products";
import { chosenRun, figuresOfTest, rankingOf } from "../../../src/data/ranking";
import type { RunView } from "../../../src/data/schema.gen";
import { verdict } from "../../../src/data/verdict";

const KINDS = Object.keys(TEXTS) as Kind[];
const disqualifying = KINDS.filter((kind) => wordsOfMark(kind).force === "disqualifies");
const [SHAPE] = SHAPES;

function products(runs: RunView[]): Product[] {
  return productsOf(libraryOf(reportOf(runs)));
}

/** Three drives; the first is the fastest by far, and has a mark of this kind. */
function three(kind: Kind): RunView[] {
  const fast = runOf({ ...SHAPE, name: "Fixture Marked", steady: 30_000 }, 1);
  const others = ["Fixture B", "Fixture C"].map((name, at) => runOf({ ...SHAPE, name }, 2 + at));
  return [markedRun(fast, kind), ...others];
}

function rank(runs: RunView[], metric = "iops_steady_mean") {
  return rankingOf(products(runs), "consistency", metric, "default", []);
}

function told(runs: RunView[], at = 0): string {
  const all = products(runs);
  const sentences = verdict(all[at], (test, metric) => rankingOf(all, test, metric, "default", []));
  return sentences
    .map((parts) => parts.map((one) => (typeof one === "string" ? one : one.text)).join(""))
    .join(" ");
}

describe("the table of marks", () => {
  const source = readFileSync(new URL("../../../../crates/result/src/schema.rs", import.meta.url), "utf8");
  const kebab = (name: string) => name.replace(/(?<!^)[A-Z]/g, "-$&").toLowerCase();
  const body = /fn disqualifies[\s\S]*?match self \{([\s\S]*?)\n {8}\}/.exec(source)?.[1] ?? "";
  const arms = [...body.matchAll(/((?:\s*\|?\s*Self::\w+)+)\s*=>\s*(true|false)/g)];
  const decided = arms.flatMap(([, names, answer]) =>
    [...names.matchAll(/Self::(\w+)/g)].map(([, name]): [string, boolean] => [
      kebab(name),
      answer === "true",
    ]),
  );

  test("disqualifies what the program disqualifies, and knows every kind of it", () => {
    expect(decided.length).toBeGreaterThan(8);
    for (const [kind, disqualifies] of decided) {
      expect([kind, wordsOfMark(kind).force === "disqualifies"]).toEqual([kind, disqualifies]);
      expect(wordsOfMark(kind).reason, kind).not.toBe(kind);
    }
  });

  test("a kind of a newer ssdlab, or a word that every object has, disqualifies", () => {
    expect(wordsOfMark("too-hot")).toEqual({ label: "too hot", reason: "too-hot", force: "disqualifies" });
    expect(wordsOfMark("constructor").label).toBe("constructor");
  });
});

describe.each(KINDS)("a figure that is %s", (kind) => {
  const runs = three(kind);
  const bars = disqualifying.includes(kind);
  const isRanked = !bars && wordsOfMark(kind).force !== "condition";

  test("has a rank only if the mark leaves it standing, and its label and reason in any case", () => {
    const entry = rank(runs).entries.find(({ product }) => product.name === "Fixture Marked");
    expect(entry?.rank).toBe(isRanked ? 1 : null);
    expect(entry?.label).toBe(wordsOfMark(kind).label);
    expect(entry?.reason).toBe(TEXTS[kind]);
    expect(rank(runs).ranked).toBe(isRanked ? 3 : 2);
    if (kind === "not-steady") expect(entry).toMatchObject({ value: null, text: "not steady" });
  });

  test("is not what the verdict says, nor the best, nor ahead", () => {
    const text = told(runs);
    expect(text.includes("keeps")).toBe(!bars);
    expect(text.includes("steady state was not reached")).toBe(kind === "not-steady");
    const place = isRanked ? "1st of 3; " : "";
    if (!bars) expect(text).toContain(`(${place}${wordsOfMark(kind).label})`);
    const all = products(runs);
    const best = bestRuns(figureOf("iops_steady_mean"), [all.flatMap((one) => one.runs)]);
    expect([...best].some(({ view }) => view.target.name === "Fixture Marked")).toBe(isRanked);
    const row = pairOf([all[0], all[1]], "default")[0].rows[0];
    expect(row.figure.name).toBe("iops_steady_mean");
    expect(row.ahead).toBe(bars ? null : 0);
    expect(row.texts[0]).toContain(`(${wordsOfMark(kind).label})`);
    expect(row.notes[0]).toContain(TEXTS[kind]);
    if (bars && kind !== "not-steady")
      expect(row.difference).toBe(`not compared: ${wordsOfMark(kind).label}`);
  });

  test("is in no sentence beside the graphs, and in the CSV with its mark", () => {
    const run = products(runs)[0].runs[0];
    const whole = summary(run) + steadySummary(run);
    expect(/Steady state [\d,]+ IOPS/.test(whole)).toBe(!bars);
    expect(/between .* IOPS, mean/.test(whole)).toBe(!bars);
    const [head, ...lines] = csv([run]).split("\n");
    expect(head).toBe(
      'figure,unit,"Fixture Marked (simulated), as sold","Fixture Marked (simulated), as sold: marks"',
    );
    const line = lines.find((one) => one.startsWith("iops_steady_mean,")) ?? "";
    expect(line).toContain(`${wordsOfMark(kind).label}: ${TEXTS[kind]}`);
  });
});

describe("quick and interrupted runs", () => {
  const whole = ["Fixture B", "Fixture C"].map((name, at) => runOf({ ...SHAPE, name }, 2 + at));
  const quick = quickRun("Fixture Quick", 78_000, 5);
  const stopped = stoppedRun("Fixture Stopped", 6);

  test("beside whole ones only these are ranked, whatever the order and the chosen part", () => {
    for (const variant of ["default", "4GiB"]) {
      for (const metric of ["iops_steady_mean", "latency_ns_max", "iops_mean"]) {
        const all = products([quick, stopped, ...whole]);
        const { entries, samples } = rankingOf(all, "consistency", metric, variant, []);
        const ranked = entries.filter(({ standing }) => standing === "ranked");
        expect(ranked.map(({ product }) => product.name).sort(), metric).toEqual(["Fixture B", "Fixture C"]);
        expect(samples[0]?.view.quick).toBeUndefined();
        const left = entries.filter(({ standing }) => standing !== "ranked");
        expect(left.map(({ reason }) => reason).every((reason) => reason !== "")).toBe(true);
      }
    }
  });

  test("the quick run of a drive gives way to its whole one", () => {
    const [both] = products(
      [quick, { ...runOf({ ...SHAPE, name: "Fixture Quick", kind: "block" }, 9) }].map((run) => ({
        ...run,
        target: quick.target,
      })),
    );
    expect(chosenRun(both, "consistency", "default", "iops_steady_mean")?.view.quick).toBeUndefined();
    const short = { ...quick, span: whole[0].span };
    const [same] = products([short, { ...whole[0], target: quick.target }]);
    expect(chosenRun(same, "consistency", "default", "iops_steady_mean")?.view.run_id).toBe(whole[0].run_id);
  });

  test("the verdict says what was measured and judges nothing", () => {
    expect(told([quick, ...whole]).replaceAll("\u202f", " ")).toMatch(
      /^In a quick run Fixture Quick wrote for 60 s on a fresh drive, in the last part at [\d,]+ IOPS; steady state was not reached\.$/,
    );
    const without = { ...quick, metrics: { ...quick.metrics, iops_fresh_mean: null } };
    expect(told([without]).replaceAll("\u202f", " ")).toContain(
      "Fixture Quick wrote for 60 s on a fresh drive; steady state was not reached.",
    );
    expect(told([stopped, ...whole]).replaceAll("\u202f", " ")).toBe(
      "Fixture Stopped: its run was interrupted after 12 s of random writes, and nothing is judged by it.",
    );
  });

  test("a fresh drive tells nothing of waits, and a part of a drive says so", () => {
    const waits = (view: RunView) => ({ ...view, metrics: { ...view.metrics, notice_waits: 0 } });
    expect(told([waits(whole[0])])).toContain("Under random writes no command waits 0.1 s, which");
    expect(told([waits(quick)])).not.toContain("waits");
    expect(told([markedRun(waits(whole[0]), "not-steady")].map(waits))).not.toContain("waits");
    const part = markedRun(waits(whole[0]), "part-of-drive");
    expect(told([part])).toContain("no command waits 0.1 s (part of drive), which");
  });

  test("a status alone bars every figure of an old run", () => {
    const old: RunView = { ...runOf({ ...SHAPE, stopAt: 300 }, 1), marks: [] };
    const [run] = products([old])[0].runs;
    expect(barOf(run, "iops_steady_mean")).toBe("the run is interrupted");
    expect(told([old])).not.toContain("keeps");
    const replay = (name: string, status: RunView["status"]): RunView => ({
      ...runOf({ ...SHAPE, name }, 1),
      ...{ test: "heavy", run_id: `heavy-${name}`, status },
      metrics: { busy_time_s: 100, latency_ns_max: 1, notice_waits: 0 },
    });
    const pair = products([replay("A", "complete"), replay("B", "interrupted")]) as [Product, Product];
    expect(feltIn(pair, "default")).toEqual([]);
  });

  test("each lacks what makes a run whole", () => {
    const of = (view: RunView) => lackOf(products([view])[0].runs[0]);
    expect([quick, stopped, whole[0], markedRun(whole[0], "not-steady")].map(of)).toEqual([
      "quick",
      "incomplete",
      null,
      "not-steady",
    ]);
  });

  test("a part of a drive is no spare area", () => {
    expect(variantsTitle(["4GiB"])).toBe("Part of the drive");
    expect(variantsTitle(["default", "25%"])).toBe("Spare area");
    expect(variantsTitle(["default", "4GiB"])).toBe("Spare area or part");
    expect([isSpan("default #2"), isSpan("25%"), isSpan("100GB")]).toEqual([false, false, true]);
    expect(spareLabel("4GiB")).toBe("first 4GiB");
  });
});

test("a main figure that every run lacks stays among the figures, with its mark", () => {
  const all = products([quickRun("Fixture A", 7e4, 1), quickRun("Fixture B", 8e4, 2)]);
  expect(figuresOfTest(all, "consistency")).toContain("iops_steady_mean");
  const { entries } = rankingOf(all, "consistency", "iops_steady_mean", "4GiB", []);
  expect(entries.map(({ label, value }) => [label, value])).toEqual(Array(2).fill(["not steady", null]));
});

test("figures of a library without marks have no labels", () => {
  const [first] = productsOf(libraryOf(library(1, 60)));
  expect(first.runs.every((run) => markLabels(run, "iops_steady_mean") === "" && lackOf(run) === null)).toBe(
    true,
  );
});
