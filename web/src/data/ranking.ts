// All drives in the order of one figure. Only equal conditions are ranked; everything else has a reason in words.

import { type Figure, figureOf, loadParameters, metricOf, shown } from "./figures";
import { headlineOf } from "./headlines";
import { isImported, isSpan, type Run, scaleOf, spareLabel } from "./load";
import { barLabel, lackOf, markLabels, marksOf, rankBarOf } from "./marks";
import { type Product, runsOf } from "./products";
import type { Target } from "./schema.gen";
import { own, wordOf } from "./words";

/** `unlike` has a value under other conditions than most; `missing` has none. */
export type Standing = "ranked" | "unlike" | "missing";

export interface Entry {
  product: Product;
  run: Run | null;
  value: number | null;
  /** The value for people; for a missing one the reason in short. */
  text: string;
  standing: Standing;
  /** From 1; null without a rank. Equal values share one. */
  rank: number | null;
  /** The reason for a missing rank or value, or a mark of the value; empty if there is none. */
  reason: string;
  /** The marks of the figure in two or three words each; empty if there are none. */
  label: string;
}

export interface Ranking {
  test: string;
  figure: Figure;
  /** Best first; then the unlike ones, then the missing ones. */
  entries: Entry[];
  /** Number of ranked drives. */
  ranked: number;
  /** Runs under the conditions that are ranked, one for each host; empty if there are none. */
  samples: Run[];
}

/**
 * The run with the wanted spare area, or the first one. A complete run goes before others, and one whose figure stands
 * before a run of the same spare area whose figure does not.
 */
export function chosenRun(product: Product, test: string, variant: string, metric?: string): Run | null {
  const runs = runsOf(product, test);
  const complete = runs.filter(({ view }) => view.status === "complete");
  const standing = complete.filter((run) => metric === undefined || stands(run, metric));
  const of = (some: readonly Run[]) => some.find((run) => run.variant === variant);
  const repeat = standing.find(({ view }) => view.span.variant === variant);
  return of(standing) ?? repeat ?? of(complete) ?? of(runs) ?? complete[0] ?? runs[0] ?? null;
}

/** Whether a run has a figure that may be ranked. */
function stands(run: Run, metric: string): boolean {
  return metricOf(run, metric) !== null && rankBarOf(run, metric) === "";
}

/**
 * Equal for runs whose figures may be ranked: parameters, spare area, version of the suite, and the host and the size
 * of a simulated drive. The conditions of an imported run are equal to no others.
 */
function conditions(run: Run): [string, unknown][] {
  const { span, target } = run.view;
  return [
    ...loadParameters(run),
    ["spare_area", span.variant],
    ["host", target.details.host ?? ""],
    ["scale", scaleOf(run)],
    ["suite_version", run.view.suite_version ?? 1],
    ["origin", isImported(run) ? run.id : ""],
  ];
}

const keys = new WeakMap<Run, string>();

/** The conditions as a text: equal ones have equal texts. */
function conditionsKey(run: Run): string {
  const key = keys.get(run) ?? JSON.stringify(conditions(run));
  keys.set(run, key);
  return key;
}

/** The link of a drive by its facts, or by its simulated host; empty if nobody told it. */
export function linkOf({ facts, details }: Target): string {
  const link = facts?.interface?.value ?? details.host ?? "";
  return /nvme|pcie/i.test(link) ? "NVMe" : /sata/i.test(link) ? "SATA" : "";
}

/** Whether two drives must have unlike hosts: none takes the links of both. */
function needOwnHosts(a: Run, b: Run): boolean {
  const [left, right] = [linkOf(a.view.target), linkOf(b.view.target)];
  return left !== "" && right !== "" && left !== right;
}

/** The entries that have a rank, the best first. */
export function rankedIn(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ standing }) => standing === "ranked");
}

/** The names of the conditions that differ. */
function unlikeKeys(a: Run, b: Run): string[] {
  if (conditionsKey(a) === conditionsKey(b)) return [];
  const [left, right] = [new Map(conditions(a)), new Map(conditions(b))];
  const names = [...new Set([...left.keys(), ...right.keys()])];
  return names.filter((key) => JSON.stringify(left.get(key)) !== JSON.stringify(right.get(key)));
}

/** The differences between the conditions of two runs, in words. */
export function unlikeIn(a: Run, b: Run): string[] {
  return unlikeKeys(a, b)
    .filter((key) => key !== "host" || !needOwnHosts(a, b))
    .map((key) => wordOf(key).toLowerCase());
}

/** Whether a run of the reference library may stand beside a run of the page: each drive has a host of its own. */
export function isAlike(run: Run, own: Run): boolean {
  return unlikeKeys(run, own).every((key) => key === "host");
}

/**
 * A run for each host of the drives that may be ranked together: whole ones go first, then those of full size, then
 * those with the wanted spare area, then the largest group.
 */
function samplesOf(runs: readonly Run[], variant: string): Run[] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const key = conditionsKey(run);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const isWhole = ([run]: Run[]) => (lackOf(run) === "quick" ? 0 : 1);
  const isFull = ([run]: Run[]) => (scaleOf(run) === "" ? 1 : 0);
  const isWanted = ([run]: Run[]) => (run.variant === variant ? 1 : 0);
  const sorted = [...groups.values()].sort(
    (a, b) =>
      isWhole(b) - isWhole(a) || isFull(b) - isFull(a) || isWanted(b) - isWanted(a) || b.length - a.length,
  );
  const samples: Run[] = [];
  for (const [run] of sorted) {
    if (samples.every((one) => unlikeIn(run, one).length === 0)) samples.push(run);
  }
  return samples;
}

function sizeWords(run: Run): string {
  const scale = scaleOf(run);
  return scale === "" ? "full size" : `${scale} of full size`;
}

/** The reason for which a value has no rank; empty if it has one. */
function obstacle(run: Run, figure: Figure, samples: readonly Run[]): string {
  const barred = rankBarOf(run, figure.name);
  if (barred !== "") return barred;
  const { origin } = run.view;
  if (origin) return `imported from ${origin.tool}, unknown: ${origin.unknown.join(", ")}`;
  const link = linkOf(run.view.target);
  const sample = samples.find((one) => linkOf(one.view.target) === link) ?? samples[0];
  const differing = sample ? unlikeIn(run, sample) : [];
  if (differing.length === 0) return "";
  if (sample && lackOf(run) === "quick" && lackOf(sample) !== "quick")
    return "a quick run, and the others are whole ones";
  if (sample && scaleOf(run) !== scaleOf(sample))
    return `simulated at ${sizeWords(run)}, and the others at ${sizeWords(sample)}`;
  if (!differing.includes("spare area")) return `other conditions: ${differing.join(", ")}`;
  const label = spareLabel(run.variant);
  if (isSpan(run.variant)) return `the ${label} of the drive, not the part of the others`;
  const area = run.variant.startsWith("default") ? "spare area as sold" : `${label} area`;
  return `${area}, not that of the others`;
}

/** The reason for a missing value: the review omitted the test, the drive cannot do the step, or nobody tried. */
function absence(product: Product, test: string, run: Run | null, leftOut: readonly string[], name: string) {
  if (!run) {
    const specs = new Set(product.runs.map(({ view }) => view.target.spec));
    const said = leftOut.find((reason) => [...specs].some((spec) => reason.startsWith(`${spec}: ${test}: `)));
    if (!said) return { text: "no run", reason: "no run" };
    const [spec] = [...specs].filter((one) => said.startsWith(`${one}: `));
    return { text: "cannot", reason: said.slice(`${spec}: ${test}: `.length) };
  }
  const marks = marksOf(run, name).join("; ");
  if (marks !== "") return { text: markLabels(run, name), reason: marks };
  // A step that the target cannot do has its figure without a value, and a warning with the reason.
  const listed = Object.hasOwn(run.view.metrics, name);
  const warning = run.view.warnings.join("; ");
  if (listed && warning !== "") return { text: "cannot", reason: warning };
  return { text: "–", reason: listed ? "the run has no value" : "this run did not measure it" };
}

function entryOf(
  product: Product,
  run: Run | null,
  figure: Figure,
  test: string,
  samples: readonly Run[],
  leftOut: readonly string[],
): Entry {
  const value = run ? metricOf(run, figure.name) : null;
  if (!run || value === null) {
    const { text, reason } = absence(product, test, run, leftOut, figure.name);
    const label = run ? markLabels(run, figure.name) : "";
    return { product, run, value: null, text, standing: "missing", rank: null, reason, label };
  }
  const label = barLabel(run, figure.name);
  const barred = obstacle(run, figure, samples);
  const standing = barred === "" ? "ranked" : "unlike";
  const reason = barred || marksOf(run, figure.name).join("; ");
  return { product, run, value, text: shown(figure, value), standing, rank: null, reason, label };
}

const ORDER: Record<Standing, number> = { ranked: 0, unlike: 1, missing: 2 };

/** Without the order of letters of a language, which takes longer to load than a page of drives to sort. */
function byName(a: Product, b: Product): number {
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return left === right ? 0 : left < right ? -1 : 1;
}

function inOrder({ better }: Figure, a: Entry, b: Entry): number {
  const direction = better === "lower" ? 1 : -1;
  const byStanding = ORDER[a.standing] - ORDER[b.standing];
  const byValue = direction * ((a.value ?? 0) - (b.value ?? 0));
  return byStanding || byValue || byName(a.product, b.product);
}

/** One figure of a test, all drives, at the wanted spare area where the test has it. */
export function rankingOf(
  products: readonly Product[],
  test: string,
  metric: string,
  variant: string,
  leftOut: readonly string[],
): Ranking {
  const figure = figureOf(metric);
  const runs = products.map((product) => chosenRun(product, test, variant, metric));
  const able = runs.filter((run): run is Run => run !== null && !isImported(run) && stands(run, metric));
  const samples = samplesOf(able, variant);
  const entries = products
    .map((product, at) => entryOf(product, runs[at], figure, test, samples, leftOut))
    .sort((a, b) => inOrder(figure, a, b));
  const ranked = rankedIn(entries);
  if (figure.better) {
    ranked.forEach((entry, at) => {
      const before = ranked[at - 1];
      entry.rank = before && before.text === entry.text ? before.rank : at + 1;
    });
  }
  return { test, figure, entries, ranked: ranked.length, samples };
}

/** A ranking with the drives of the reference library that ran under its conditions; they have a place and no rank. */
export function amongContext(own: Ranking, context: readonly Product[]): Ranking {
  const { test, figure, samples } = own;
  const entries = context.flatMap((product): Entry[] => {
    const run = samples[0] && chosenRun(product, test, samples[0].variant, figure.name);
    const value = run && stands(run, figure.name) ? metricOf(run, figure.name) : null;
    if (!run || value === null || !samples.some((sample) => isAlike(run, sample))) return [];
    const isStale = product.context?.isStale;
    const reason = isStale ? "of an earlier model or simulator" : "of the reference library";
    const label = isStale ? "stale" : "";
    return [
      { product, run, value, text: shown(figure, value), standing: "ranked", rank: null, reason, label },
    ];
  });
  // A single drive of the page is the first of one: no rank among the others.
  const ranked = own.ranked > 1 ? own.entries : own.entries.map((entry) => ({ ...entry, rank: null }));
  return { ...own, entries: [...ranked, ...entries].sort((a, b) => inOrder(figure, a, b)) };
}

/** The figures that at least one run of a test has, in the order of its runs; a main figure also if a mark is all there is. */
export function figuresOfTest(products: readonly Product[], test: string): string[] {
  const names = new Set<string>();
  for (const product of products) {
    for (const { view } of runsOf(product, test)) {
      for (const { metric } of view.marks) if (headlineOf(test, metric)) names.add(metric);
      // Tens of thousands in a library: no list of pairs for each run.
      for (const name in view.metrics) if (own(view.metrics, name) !== null) names.add(name);
    }
  }
  return [...names];
}
