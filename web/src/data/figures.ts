// The figures by their stable names, from the catalogue of metrics: their form, and the best run.

import {
  bytes,
  csvField,
  duration,
  iops,
  nameText,
  oneIn,
  percent,
  seconds,
  separated,
  significant,
  UNKNOWN,
  watts,
  withUnit,
} from "./format";
import { isImported, plainName, type Run, secondsAPoint, spareLabel } from "./load";
import { holds, marksOf, marksText, rankBarOf } from "./marks";
import { METRICS } from "./metrics.gen";
import { own } from "./words";

/** A row of the catalogue, or an unknown figure. */
export interface Figure {
  name: string;
  label: string;
  chapter: string;
  unit: Unit;
  better: "higher" | "lower" | null;
  explanation: string;
  /** Label of the row of the catalogue, if the figure is of a test or a step. */
  rowLabel?: string;
}

type Metric = (typeof METRICS)[number];
type Unit = Metric["unit"];

/** Figures of whole runs, in reading order. */
export const FIGURES: readonly Figure[] = METRICS.filter(({ name }) => !name.includes("."));

/** Figures of a test or a step. In a name, `<word>` stands for any text without a dot. */
const BY_STEP: readonly Figure[] = METRICS.filter(({ name }) => name.includes("."));

const OTHER = "Other";

/** The chapters of the catalogue in reading order; the last one is for unknown names. */
export const CHAPTERS: readonly string[] = [...new Set(METRICS.map(({ chapter }) => chapter)), OTHER];

const KNOWN = new Map(FIGURES.map((figure) => [figure.name, figure]));

function covers(row: string, name: string): boolean {
  const own = row.split(".");
  const other = name.split(".");
  return own.length === other.length && own.every((part, k) => part.startsWith("<") || part === other[k]);
}

/** The row of a figure. Figures of a test or a step have their names as labels. */
export function figureOf(name: string): Figure {
  const figure = KNOWN.get(name) ?? OF_STEPS.get(name) ?? stepFigure(name);
  OF_STEPS.set(name, figure);
  return figure;
}

/** Every name that was asked for: lists of figures ask for hundreds, again after each choice. */
const OF_STEPS = new Map<string, Figure>();

function stepFigure(name: string): Figure {
  const row = BY_STEP.find((row) => covers(row.name, name));
  if (row) return { ...row, name, label: nameText(name), rowLabel: row.label };
  return { name, label: nameText(name), chapter: OTHER, unit: "count", better: null, explanation: "" };
}

const SHOWN: Record<Unit, (value: number) => string> = {
  iops,
  ns: duration,
  s: seconds,
  share: percent,
  ratio: (value) => separated(value, value < 100 ? 2 : 0),
  mb_per_s: (value) => withUnit(significant(value), "MB/s"),
  us: (value) => duration(value * 1000),
  min: (value) => withUnit(separated(value), "min"),
  bytes,
  w: watts,
  j_per_gb: (value) => withUnit(value.toFixed(1), "J/GB"),
  iops_per_w: (value) => withUnit(separated(value), "IOPS/W"),
  mb_per_s_per_w: (value) => withUnit(significant(value), "MB/s/W"),
  celsius: (value) => withUnit(value.toFixed(0), "°C"),
  count: (value) => (Number.isInteger(value) ? separated(value) : significant(value, 4)),
};

export function shown(figure: Figure, value: number | null | undefined): string {
  return known(value) ? SHOWN[figure.unit](value) : UNKNOWN;
}

function known(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

export function metricOf(run: Run, name: string): number | null {
  const value = own(run.view.metrics, name);
  return known(value) ? value : null;
}

const FIRST_MINUTE = "iops_peak_mean_first_60s";

/** Seconds in the mean of the first minute: a run may have ended before. */
function firstSeconds({ columns: { second } }: Run): number {
  return second.length === 0 ? 60 : Math.min(60, second[second.length - 1] + 1);
}

/** The label of a figure for these runs; 25 s are no first minute. */
export function labelOf(figure: Figure, runs: readonly Run[]): string {
  if (figure.name !== FIRST_MINUTE) return figure.label;
  const lengths = new Set(runs.map(firstSeconds));
  if (lengths.size > 1) return "First minute or less, mean";
  const [length] = lengths;
  return length === undefined || length === 60 ? figure.label : `First ${seconds(length)}, mean`;
}

/** A figure of one run among those of others; a figure over a shorter time than its row says so. */
export function shownOf(figure: Figure, run: Run, runs: readonly Run[]): string {
  const text = shown(figure, metricOf(run, figure.name));
  const mixed = figure.name === FIRST_MINUTE && labelOf(figure, runs) !== labelOf(figure, [run]);
  return mixed && firstSeconds(run) < 60 ? `${text} (${seconds(firstSeconds(run))})` : text;
}

/** Figures of at least one run, in reading order; then those of tests and steps, and unknown ones. */
export function figuresIn(runs: readonly Run[]): Figure[] {
  const names = new Set(runs.flatMap((run) => Object.keys(run.view.metrics)));
  const others = [...names].filter((name) => !KNOWN.has(name)).sort();
  return [...FIGURES.filter((figure) => names.has(figure.name)), ...others.map(figureOf)];
}

/**
 * The best runs of each class under each load: a run of 15 s does not compete with one of 2,000 s, nor one command at
 * a time with 32.
 */
export function bestRuns(figure: Figure, classes: readonly (readonly Run[])[]): Set<Run> {
  return new Set(
    classes.flatMap(likeLoads).flatMap((runs) => {
      const best = bestValue(figure, runs);
      return best === null
        ? []
        : comparable(figure, runs).filter((run) => metricOf(run, figure.name) === best);
    }),
  );
}

function comparable(figure: Figure, runs: readonly Run[]): Run[] {
  return runs.filter((run) => !isImported(run) && rankBarOf(run, figure.name) === "");
}

/** An imported run is no winner, nor one whose figure a mark or its status bars; and a best needs one that is worse. */
export function bestValue(figure: Figure, runs: readonly Run[]): number | null {
  if (!figure.better) return null;
  const values = comparable(figure, runs)
    .map((run) => metricOf(run, figure.name))
    .filter((value) => value !== null);
  if (new Set(values).size < 2) return null;
  return values.reduce((a, b) => (figure.better === "higher" ? Math.max(a, b) : Math.min(a, b)));
}

/** The table for spreadsheets: raw values under the stable names, and behind them the marks of runs that have some. */
export function csv(runs: readonly Run[]): string {
  const marked = runs.filter(({ view }) => view.marks.length > 0);
  const titled = (run: Run) => `${plainName(run)}, ${spareLabel(run.variant)}`;
  const head = ["figure", "unit", ...runs.map(titled), ...marked.map((run) => `${titled(run)}: marks`)];
  const rows = figuresIn(runs).map((figure) => [
    figure.name,
    figure.unit,
    ...runs.map((run) => metricOf(run, figure.name)),
    ...marked.map((run) => marksText(run, figure.name)),
  ]);
  return [head, ...rows].map((row) => row.map(csvField).join(",")).join("\n");
}

/** Share of commands slower than each bin's lower edge. */
export interface Exceedance {
  ns: Float64Array;
  share: Float64Array;
  commands: number;
}

export function exceedance(bins: readonly (readonly [number, number])[]): Exceedance {
  const ns = new Float64Array(bins.length);
  const share = new Float64Array(bins.length);
  const commands = bins.reduce((sum, [, count]) => sum + count, 0);
  let left = commands;
  bins.forEach(([lower, count], i) => {
    ns[i] = lower;
    share[i] = left / commands;
    left -= count;
  });
  return { ns, share, commands };
}

/** Share of commands at or above a latency. */
export function shareAbove(curve: Exceedance, ns: number): number {
  let low = 0;
  let high = curve.ns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (curve.ns[middle] < ns) low = middle + 1;
    else high = middle;
  }
  return low < curve.share.length ? curve.share[low] : 0;
}

/** Parameters that define the classes, or appear with each run anyway. */
const OF_THE_CLASS = ["duration_s", "steady_from_s"];
const OF_THE_RUN = /^(span|spare|seed|capacity|variant|target)/;

/** The parameters of the load, without those that each run has of its own. */
export function loadParameters({ view }: Run): [string, unknown][] {
  return Object.entries(view.config)
    .filter(([key]) => !OF_THE_RUN.test(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Groups of runs in one version of the suite, on one host of simulated drives, with equal parameters: block size, queue
 * depth, rate, data, and preparation of the drive.
 */
export function likeLoads(runs: readonly Run[]): Run[][] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const { suite_version = 1, target } = run.view;
    const parameters = loadParameters(run).filter(([key]) => !OF_THE_CLASS.includes(key));
    const load = JSON.stringify([suite_version, target.details.host ?? "", ...parameters]);
    groups.set(load, [...(groups.get(load) ?? []), run]);
  }
  return [...groups.values()];
}

function differs(key: string, runs: readonly Run[]): boolean {
  const value = ({ view }: Run) => JSON.stringify(own(view.config, key) ?? null);
  return new Set(runs.map(value)).size > 1;
}

/** Whether the runs have the same parameters; readers must know before they compare. */
export function differingConfig(runs: readonly Run[], classes: readonly (readonly Run[])[]): string[] {
  const keys = new Set(runs.flatMap((run) => Object.keys(run.view.config)));
  return [...keys].filter((key) => {
    if (OF_THE_RUN.test(key)) return false;
    return OF_THE_CLASS.includes(key) ? classes.some((own) => differs(key, own)) : differs(key, runs);
  });
}

/** The value of a figure, if no mark bars it. */
export function heldOf(run: Run, name: string): number | null {
  return holds(run, name) ? metricOf(run, name) : null;
}

/** The whole run in one sentence, for readers who cannot see the graph. */
export function summary(run: Run): string {
  const { second, iops: rate } = run.columns;
  if (second.length === 0) return "Nothing was measured.";
  const last = second[second.length - 1] + secondsAPoint(run);
  const mean = heldOf(run, "iops_steady_mean");
  const first = heldOf(run, FIRST_MINUTE);
  const early = firstSeconds(run);
  const fall = heldOf(run, "fall_start_s");
  const parts = [
    `${plainName(run)}, ${spareLabel(run.variant)}: ${separated(rate.length)} points over ${seconds(last)}.`,
  ];
  if (first !== null)
    parts.push(`First ${early < 60 ? seconds(early) : "minute"} ${iops(first)} IOPS on average.`);
  if (fall !== null) parts.push(`The fall begins after ${seconds(fall)}.`);
  if (mean !== null) parts.push(`Steady state ${iops(mean)} IOPS.`);
  return parts.join(" ");
}

/** The reason for which a run has no steady state, and its pace in place of it. */
function unsteady(run: Run): string {
  const why = marksOf(run, "iops_steady_mean").join("; ");
  const fresh = metricOf(run, "iops_fresh_mean");
  const pace = fresh === null ? "" : ` On a fresh drive it did ${iops(fresh)} IOPS on average.`;
  return `no steady state was measured${why === "" ? "" : `: ${why}`}.${pace}`;
}

export function steadySummary(run: Run): string {
  const name = `${plainName(run)}, ${spareLabel(run.variant)}`;
  const [mean, min, max, cv, below] = [
    "iops_steady_mean",
    "iops_steady_min",
    "iops_steady_max",
    "iops_steady_cv",
    "seconds_below_half_mean_share",
  ].map((metric) => metricOf(run, metric));
  if (mean === null || min === null || max === null || !holds(run, "iops_steady_mean"))
    return `${name}: ${unsteady(run)}`;
  if (!holds(run, "iops_steady_cv"))
    return `${name}: mean ${iops(mean)} IOPS. Evenness ${marksOf(run, "iops_steady_cv").join("; ")}.`;
  const parts = [`${name}: between ${iops(min)} and ${iops(max)} IOPS, mean ${iops(mean)}.`];
  if (cv !== null) parts.push(`Coefficient of variation ${percent(cv)}.`);
  if (below !== null && below > 0) parts.push(`${percent(below)} of seconds fall below half the mean.`);
  return parts.join(" ");
}

/** A person sees lag from about 0.1 s on. */
export const FELT_NS = 1e8;

export function latencySummary(run: Run): string {
  const curve = exceedance(run.view.latency_bins);
  const name = `${plainName(run)}, ${spareLabel(run.variant)}`;
  if (curve.commands === 0) return `${name}: no latency distribution was recorded.`;
  if (!holds(run, "latency_ns_max")) return `${name}: latency ${marksOf(run, "latency_ns_max").join("; ")}.`;
  const felt = shareAbove(curve, FELT_NS);
  const longest = metricOf(run, "latency_ns_max");
  const parts = [
    felt === 0
      ? `${name}: no command took 0.1 s or longer.`
      : `${name}: ${oneIn(felt)} commands took 0.1 s or longer.`,
  ];
  if (longest !== null) parts.push(`The longest took ${duration(longest)}.`);
  return parts.join(" ");
}
