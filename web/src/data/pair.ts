// Two drives, figure by figure: the one that is ahead, the difference, and whether the two runs may be compared.

import { type Figure, figureOf, heldOf, metricOf, shown } from "./figures";
import { separated } from "./format";
import { headlinesOf, mainFigures, titleOf } from "./headlines";
import type { Run } from "./load";
import { barLabel, barOf, lackOf, marksText } from "./marks";
import { type Product, runsOf } from "./products";
import { chosenRun, figuresOfTest, unlikeIn } from "./ranking";
import { inOrder } from "./tests";

/** Closer than this, one run each proves nothing. */
export const SAME = 0.03;

/** Closer than this, repeats without noise, such as those of a simulated drive, differ and nobody minds. */
const NEGLIGIBLE = 0.01;

export interface PairRow {
  figure: Figure;
  title: string;
  texts: [string, string];
  /** The marks of both in full; empty ones if there are none. */
  notes: [string, string];
  /** The exact values of both. */
  values: [number | null, number | null];
  /** The one that is ahead; null if nobody is, or the values may not be compared. */
  ahead: 0 | 1 | null;
  difference: string;
  /** Whether it answers the question of its test: the others are for those who ask for every figure. */
  isMain: boolean;
}

export interface PairTest {
  test: string;
  rows: PairRow[];
  /** The differences between the conditions of the two runs; empty for equal ones. */
  unlike: string[];
}

/** Below a factor of 2 the part of the worse one, "14% more"; from there on the factor, "2.1× higher". */
export function differenceText(ahead: number, behind: number, better: "higher" | "lower"): string {
  const [large, small] = better === "higher" ? [ahead, behind] : [behind, ahead];
  if (small <= 0) return better === "higher" ? "the other has none" : "none";
  const ratio = large / small;
  if (ratio >= 2) return `${timesText(ratio)} ${better}`;
  const [share, word] = better === "higher" ? [ratio - 1, "more"] : [1 - small / large, "less"];
  return `${(share * 100).toFixed(0)}% ${word}`;
}

function timesText(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(1) : separated(ratio)}\u00d7`;
}

/** The smallest and the largest value of repeated runs, if there are several under the same conditions. */
function interval(product: Product, run: Run, metric: string): [number, number] | null {
  const alike = runsOf(product, run.view.test).filter(
    (one) => barOf(one, metric) === "" && unlikeIn(one, run).length === 0,
  );
  const values = alike.map((one) => metricOf(one, metric)).filter((value) => value !== null);
  return values.length < 2 ? null : [Math.min(...values), Math.max(...values)];
}

function overlap(a: [number, number], b: [number, number]): boolean {
  return a[0] <= b[1] && b[0] <= a[1];
}

type Outcome = Pick<PairRow, "ahead" | "difference">;

/** Repeated runs decide by their intervals from 1% on; single ones by 3%. */
function outcome(products: [Product, Product], runs: [Run, Run], figure: Figure): Outcome {
  const [a, b] = runs.map((run) => metricOf(run, figure.name));
  if (a === null || b === null) return { ahead: null, difference: "" };
  const barred = runs.find((run) => barOf(run, figure.name) !== "");
  if (barred) return { ahead: null, difference: `not compared: ${barLabel(barred, figure.name)}` };
  if (!figure.better) return { ahead: null, difference: "" };
  const ranges = runs.map((run, at) => interval(products[at], run, figure.name));
  if (ranges[0] && ranges[1] && overlap(ranges[0], ranges[1])) {
    return { ahead: null, difference: "same within the repeats" };
  }
  const limit = ranges[0] && ranges[1] ? NEGLIGIBLE : SAME;
  if (Math.abs(a - b) <= limit * Math.max(Math.abs(a), Math.abs(b)))
    return { ahead: null, difference: a === b ? "same" : `same within ${limit * 100}%` };
  const ahead = a > b === (figure.better === "higher") ? 0 : 1;
  const [front, back] = ahead === 0 ? [a, b] : [b, a];
  return { ahead, difference: differenceText(front, back, figure.better) };
}

function valueText(product: Product, run: Run, figure: Figure): string {
  const range = interval(product, run, figure.name);
  const label = barLabel(run, figure.name);
  const text = `${shown(figure, metricOf(run, figure.name))}${label === "" ? "" : ` (${label})`}`;
  return range ? `${text} (${shown(figure, range[0])} to ${shown(figure, range[1])})` : text;
}

function rowOf(
  products: [Product, Product],
  runs: [Run, Run],
  metric: string,
  isMain: boolean,
  unlike: readonly string[],
): PairRow {
  const figure = figureOf(metric);
  const { test } = runs[0].view;
  const result = outcome(products, runs, figure);
  return {
    figure,
    title: titleOf(test, figure),
    texts: [valueText(products[0], runs[0], figure), valueText(products[1], runs[1], figure)],
    notes: [marksText(runs[0], metric), marksText(runs[1], metric)],
    values: [metricOf(runs[0], metric), metricOf(runs[1], metric)],
    ...(unlike.length > 0 ? { ahead: null, difference: "not compared" } : result),
    isMain,
  };
}

/** All tests that both drives have, in the order of the suite. */
export function pairOf(products: [Product, Product], variant: string): PairTest[] {
  const tests = inOrder(products[0].runs.map(({ view }) => view.test));
  return tests.flatMap((test) => {
    const [a, b] = products.map((product) => chosenRun(product, test, variant));
    if (!a || !b) return [];
    const unlike = unlikeIn(a, b);
    const broken = [a, b]
      .filter(({ view }) => view.status !== "complete")
      .map(({ view }) => `status (${view.status})`);
    const differing = [...unlike, ...broken];
    const names = figuresOfTest(products, test).filter((name) =>
      [a, b].some((run) => metricOf(run, name) !== null || marksText(run, name) !== ""),
    );
    const headlines = headlinesOf(test, names);
    const main = headlines.length > 0 ? headlines : mainFigures(test, names, 2);
    const rows = [...main, ...names.filter((name) => !main.includes(name))].map((name) =>
      rowOf(products, [a, b], name, main.includes(name), differing),
    );
    return rows.length === 0 ? [] : [{ test, rows, unlike: differing }];
  });
}

/** A day of work that a replay stands for, as its users would feel it. */
export interface Felt {
  test: string;
  /** Seconds of waiting that the faster drive saves. */
  savedS: number;
  faster: 0 | 1;
  /** The longest command of each drive; null if unknown. */
  longestNs: [number | null, number | null];
  /** The commands of each drive that take 0.1 s or longer; null if unknown. */
  waits: [number | null, number | null];
}

/** "Would I notice" for the replays that both drives have under equal conditions. */
export function feltIn(products: [Product, Product], variant: string): Felt[] {
  const tests = inOrder(products[0].runs.map(({ view }) => view.test));
  return tests.flatMap((test) => {
    const [a, b] = products.map((product) => chosenRun(product, test, variant));
    if (!a || !b || unlikeIn(a, b).length > 0) return [];
    if (lackOf(a) === "incomplete" || lackOf(b) === "incomplete") return [];
    const [busyA, busyB] = [heldOf(a, "busy_time_s"), heldOf(b, "busy_time_s")];
    if (busyA === null || busyB === null) return [];
    const longestNs: Felt["longestNs"] = [heldOf(a, "latency_ns_max"), heldOf(b, "latency_ns_max")];
    const waits: Felt["waits"] = [heldOf(a, "notice_waits"), heldOf(b, "notice_waits")];
    return [{ test, savedS: Math.abs(busyA - busyB), faster: busyA <= busyB ? 0 : 1, longestNs, waits }];
  });
}
