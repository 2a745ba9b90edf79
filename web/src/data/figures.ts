// The figures by their stable names: what they are called, what they mean, and which of two is better.

import {
  bytes,
  csvField,
  duration,
  iops,
  oneIn,
  percent,
  seconds,
  separated,
  significant,
  UNKNOWN,
  watts,
  withUnit,
} from "./format";
import { plainName, type Run } from "./load";

export type Unit =
  | "iops"
  | "ns"
  | "us"
  | "s"
  | "min"
  | "share"
  | "ratio"
  | "mb_per_s"
  | "bytes"
  | "w"
  | "j_per_gb"
  | "count";
export type Group =
  | "Throughput"
  | "Evenness"
  | "Latency, steady state"
  | "Latency, whole run"
  | "When"
  | "Replay"
  | "Inside the drive"
  | "Other";

export interface Figure {
  name: string;
  label: string;
  group: Group;
  unit: Unit;
  better: "higher" | "lower" | null;
  meaning: string;
}

export const GROUPS: Group[] = [
  "Throughput",
  "Evenness",
  "Latency, steady state",
  "Latency, whole run",
  "When",
  "Replay",
  "Inside the drive",
  "Other",
];

type Row = [name: string, label: string, unit: Unit, better: Figure["better"], meaning: string];

function latencyRows(prefix: string): Row[] {
  const rows: [end: string, label: string, meaning: string][] = [
    [
      "mean",
      "Mean",
      "All latencies added up, divided by their number. At a fixed queue depth it mirrors the IOPS.",
    ],
    [
      "p50",
      "Median (p50)",
      "Half of all commands took no longer than this. At a fixed queue depth it mostly mirrors the IOPS.",
    ],
    ["p99", "p99", "99 of 100 commands took no longer than this; one in a hundred did."],
    ["p999", "p99.9", "One command in 1,000 took longer than this."],
    [
      "p9999",
      "p99.99",
      "One command in 10,000 took longer than this. A busy drive reaches it many times a minute.",
    ],
    ["max", "Longest", "The slowest single command. From about 0.1 s on a person can feel it as a hitch."],
  ];
  return rows.map(([end, label, meaning]) => [`${prefix}_${end}`, label, "ns", "lower", meaning]);
}

/** Figures that a replay has for all its commands, its reads and its writes. */
function replayRows(): Row[] {
  const rows: Row[] = [
    [
      "avg_data_rate_mb_per_s",
      "Average data rate",
      "mb_per_s",
      "higher",
      "Bytes moved divided by busy time: the pauses of the person at the keyboard do not count.",
    ],
    [
      "busy_time_s",
      "Busy time",
      "s",
      "lower",
      "Time with at least one command outstanding: how long the drive kept somebody waiting.",
    ],
    [
      "avg_service_time_us",
      "Average service time",
      "us",
      "lower",
      "Mean time from issue to completion; commands that wait in a queue weigh heavily.",
    ],
  ];
  const kinds: [end: string, label: string][] = [
    ["", ""],
    ["_read", ", reads"],
    ["_write", ", writes"],
  ];
  return rows.flatMap(([name, label, ...rest]) =>
    kinds.map(([end, words]): Row => [`${name}${end}`, `${label}${words}`, ...rest]),
  );
}

const TABLE: Record<Exclude<Group, "Other">, Row[]> = {
  Throughput: [
    [
      "iops_steady_mean",
      "Steady state, mean",
      "iops",
      "higher",
      "Commands completed per second, averaged over the steady-state part of the run: the pace the drive keeps for good.",
    ],
    [
      "iops_steady_min",
      "Steady state, slowest second",
      "iops",
      "higher",
      "The worst single second of the steady-state part. Zero means that for a whole second no command completed.",
    ],
    [
      "iops_steady_max",
      "Steady state, fastest second",
      "iops",
      null,
      "The best single second of the steady-state part. High is good only where the slowest second is near it.",
    ],
    [
      "iops_peak_mean_first_60s",
      "First minute, mean",
      "iops",
      "higher",
      "The pace of a fresh drive, while erased blocks are still at hand. Light use mostly sees this one.",
    ],
    [
      "iops_mean",
      "Whole load, mean",
      "iops",
      "higher",
      "All commands of the load divided by its length: the fresh minutes, the fall and the steady state together. It depends on how long the run is, so compare runs of one length only.",
    ],
  ],
  Evenness: [
    [
      "notice_waits",
      "Waits of 0.1 s or longer",
      "count",
      "lower",
      "Commands that took so long that a person would feel it. None is the good answer.",
    ],
    [
      "notice_waited_s",
      "Time in those waits",
      "s",
      "lower",
      "Time of all commands that took 0.1 s or longer, added up; commands that wait side by side count each.",
    ],
    [
      "notice_slow_seconds_share",
      "Seconds below 50 MB/s",
      "share",
      "lower",
      "50 MB/s of random writes serve a desktop, by the rule of thumb of the reviews of the time.",
    ],
    [
      "iops_steady_cv",
      "Coefficient of variation",
      "share",
      "lower",
      "Standard deviation divided by the mean, over the steady-state part: how far a typical second is from the mean, as a share of it. Comparable between fast and slow drives.",
    ],
    [
      "iops_steady_stddev",
      "Standard deviation",
      "iops",
      null,
      "How far the seconds of the steady-state part typically lie from their mean, in IOPS. Faster drives have larger ones; compare the coefficient of variation instead.",
    ],
    [
      "seconds_below_half_mean_share",
      "Seconds below half the mean",
      "share",
      "lower",
      "Share of steady-state seconds in which the drive did less than half of its own mean: how often it stumbles.",
    ],
    [
      "last400_stddev",
      "Last 400 s, standard deviation",
      "iops",
      null,
      "Standard deviation over the last 400 seconds of the run, one of the two consistency numbers reviews used from 2015 on.",
    ],
    [
      "last400_mean_over_stddev",
      "Last 400 s, mean over deviation",
      "ratio",
      "higher",
      "Mean divided by standard deviation over the last 400 seconds, the other of the two: larger is more even.",
    ],
  ],
  "Latency, steady state": latencyRows("latency_steady_ns"),
  "Latency, whole run": latencyRows("latency_ns"),
  When: [
    [
      "fall_start_s",
      "The fall begins",
      "s",
      "higher",
      "Seconds of full load until the pace first breaks: how long the erased blocks last. Later is better; a larger spare area moves it.",
    ],
    [
      "steady_start_s",
      "Steady state is reached",
      "s",
      null,
      "From here on the pace no longer drifts. Found by change-point detection, so it may differ from the second at which the steady-state graphs begin.",
    ],
  ],
  Replay: [
    ...replayRows(),
    [
      "queue_depth_mean",
      "Queue depth, mean",
      "ratio",
      null,
      "Commands outstanding at issue, the new one included.",
    ],
    [
      "queue_depth_1_share",
      "Issued to an idle drive",
      "share",
      null,
      "Share of commands that were the only one outstanding.",
    ],
    [
      "issue_lateness_ns_p99",
      "Lateness of issue, p99",
      "ns",
      "lower",
      "99 of 100 commands that had a time of their own were issued no later than this after it: how faithful the replay was.",
    ],
    [
      "address_folded_share",
      "On addresses of other data",
      "share",
      "lower",
      "Share of commands whose recorded address had no room on the target, so that they fell on addresses of other data. Above 0 the trace was too large for the target.",
    ],
  ],
  "Inside the drive": [
    [
      "waf_steady",
      "Write amplification, steady state",
      "ratio",
      "lower",
      "Pages programmed into NAND for each page the host wrote. 1 is ideal without compression; 4 means three of four writes are the drive cleaning up after itself, and wear is four times as fast.",
    ],
    [
      "controller_busy_steady_share",
      "Controller busy, steady state",
      "share",
      null,
      "Share of the time in which the controller worked on commands and on pages that are moved. At 100% it is what limits the drive.",
    ],
    [
      "channel_busy_steady_share",
      "Channels busy, steady state",
      "share",
      null,
      "Mean share of the channels that carried data between controller and dies.",
    ],
    [
      "die_busy_steady_share",
      "Dies busy, steady state",
      "share",
      null,
      "Mean share of the NAND dies that read, programmed or erased. At 100% they are what limits the drive.",
    ],
  ],
};

export const FIGURES: Figure[] = Object.entries(TABLE).flatMap(([group, rows]) =>
  rows.map(([name, label, unit, better, meaning]) => ({
    name,
    label,
    group: group as Group,
    unit,
    better,
    meaning,
  })),
);

const KNOWN = new Map(FIGURES.map((figure) => [figure.name, figure]));

/** Metrics of other tests carry their unit in the name; that is enough to show them well. */
export function figureOf(name: string): Figure {
  return (
    KNOWN.get(name) ?? { name, label: name, group: "Other", unit: unitOf(name), better: null, meaning: "" }
  );
}

/** In this order: the first one that fits. */
const UNITS_IN_NAMES: [RegExp, Unit][] = [
  [/_share$/, "share"],
  [/_ns(_|$)/, "ns"],
  [/_us(_|$)/, "us"],
  [/mb_per_s/, "mb_per_s"],
  [/_j_per_gb(_|$)/, "j_per_gb"],
  [/_bytes(_|$)/, "bytes"],
  [/_w(_mean|_max|_min)?$/, "w"],
  // The level at which a PTS test was steady is of what it tracks.
  [/^pts-throughput\.steady_mean$/, "mb_per_s"],
  [/^pts-latency\.steady_mean$/, "ns"],
  [/^pts-.*\.steady_mean$/, "iops"],
  // The test is called so, too: `pts-iops.rounds` is a count.
  [/(^|[._])iops(_|$)/, "iops"],
  [/[._]minutes$/, "min"],
  [/_s(_read|_write)?$/, "s"],
];

function unitOf(name: string): Unit {
  return UNITS_IN_NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? "count";
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
  count: (value) => (Number.isInteger(value) ? separated(value) : significant(value, 4)),
};

export function shown(figure: Figure, value: number | null | undefined): string {
  return known(value) ? SHOWN[figure.unit](value) : UNKNOWN;
}

function known(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

export function metricOf(run: Run, name: string): number | null {
  const value = run.view.metrics[name];
  return known(value) ? value : null;
}

/** What must be known of a figure before it is used, in words; empty where there is nothing. */
export function marksOf(run: Run, name: string): string[] {
  return run.view.marks.filter(({ metric }) => metric === name).map(({ text }) => text);
}

const FIRST_MINUTE = "iops_peak_mean_first_60s";

/** Seconds that the mean of the first minute is of: a run may have ended before. */
function firstSeconds({ columns: { second } }: Run): number {
  return second.length === 0 ? 60 : Math.min(60, second[second.length - 1] + 1);
}

/** What a figure is called for these runs; the first minute of 25 s is none. */
export function labelOf(figure: Figure, runs: readonly Run[]): string {
  if (figure.name !== FIRST_MINUTE) return figure.label;
  const lengths = new Set(runs.map(firstSeconds));
  if (lengths.size > 1) return "First minute or less, mean";
  const [length] = lengths;
  return length === undefined || length === 60 ? figure.label : `First ${seconds(length)}, mean`;
}

/** A figure of one run among those of others; what is of a shorter time than its row says so. */
export function shownOf(figure: Figure, run: Run, runs: readonly Run[]): string {
  const text = shown(figure, metricOf(run, figure.name));
  const mixed = figure.name === FIRST_MINUTE && labelOf(figure, runs) !== labelOf(figure, [run]);
  return mixed && firstSeconds(run) < 60 ? `${text} (${seconds(firstSeconds(run))})` : text;
}

/** Figures that at least one run names, in reading order, unknown names last. */
export function figuresIn(runs: readonly Run[]): Figure[] {
  const names = new Set(runs.flatMap((run) => Object.keys(run.view.metrics)));
  const others = [...names].filter((name) => !KNOWN.has(name)).sort();
  return [...FIGURES.filter((figure) => names.has(figure.name)), ...others.map(figureOf)];
}

/**
 * The best runs of each class under each load: what ran for 15 s does not compete with what ran for 2,000 s,
 * nor one command at a time with 32 of them.
 */
export function bestRuns(figure: Figure, classes: readonly (readonly Run[])[]): Set<Run> {
  return new Set(
    classes.flatMap(likeLoads).flatMap((runs) => {
      const best = bestValue(figure, runs);
      return best === null ? [] : complete(runs).filter((run) => metricOf(run, figure.name) === best);
    }),
  );
}

function complete(runs: readonly Run[]): Run[] {
  return runs.filter((run) => run.view.status === "complete");
}

/** A run that did not end properly is no winner, and a best needs at least one that is worse. */
export function bestValue(figure: Figure, runs: readonly Run[]): number | null {
  if (!figure.better) return null;
  const values = complete(runs)
    .map((run) => metricOf(run, figure.name))
    .filter((value) => value !== null);
  if (new Set(values).size < 2) return null;
  return values.reduce((a, b) => (figure.better === "higher" ? Math.max(a, b) : Math.min(a, b)));
}

/** The table for spreadsheets: raw values under the stable names. */
export function csv(runs: readonly Run[]): string {
  const head = ["figure", "unit", ...runs.map((run) => `${plainName(run)}, ${run.variant}`)];
  const rows = figuresIn(runs).map((figure) => [
    figure.name,
    figure.unit,
    ...runs.map((run) => metricOf(run, figure.name)),
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

/** What makes the classes, or is said of each run anyway. */
const OF_THE_CLASS = ["duration_s", "steady_from_s"];
const OF_THE_RUN = /^(span|spare|seed|capacity|variant|target)/;

/** Groups of runs of equal parameters: block size, queue depth, rate, data, and how the drive was prepared. */
export function likeLoads(runs: readonly Run[]): Run[][] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const parameters = Object.entries(run.view.config)
      .filter(([key]) => !OF_THE_RUN.test(key) && !OF_THE_CLASS.includes(key))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const load = JSON.stringify(parameters);
    groups.set(load, [...(groups.get(load) ?? []), run]);
  }
  return [...groups.values()];
}

function differs(key: string, runs: readonly Run[]): boolean {
  return new Set(runs.map((run) => JSON.stringify(run.view.config[key] ?? null))).size > 1;
}

/** Whether the runs were made alike; readers must know before they compare. */
export function differingConfig(runs: readonly Run[], classes: readonly (readonly Run[])[]): string[] {
  const keys = new Set(runs.flatMap((run) => Object.keys(run.view.config)));
  return [...keys].filter((key) => {
    if (OF_THE_RUN.test(key)) return false;
    return OF_THE_CLASS.includes(key) ? classes.some((own) => differs(key, own)) : differs(key, runs);
  });
}

/** The whole run in one sentence, for readers who do not see the graph. */
export function summary(run: Run): string {
  const { second, iops: rate } = run.columns;
  if (second.length === 0) return "Nothing was measured.";
  const last = second[second.length - 1] + 1;
  const mean = metricOf(run, "iops_steady_mean");
  const first = metricOf(run, FIRST_MINUTE);
  const early = firstSeconds(run);
  const fall = metricOf(run, "fall_start_s");
  const parts = [
    `${plainName(run)}, ${run.variant}: ${separated(rate.length)} points over ${seconds(last)}.`,
  ];
  if (first !== null)
    parts.push(`First ${early < 60 ? seconds(early) : "minute"} ${iops(first)} IOPS on average.`);
  if (fall !== null) parts.push(`The fall begins after ${seconds(fall)}.`);
  if (mean !== null) parts.push(`Steady state ${iops(mean)} IOPS.`);
  return parts.join(" ");
}

export function steadySummary(run: Run): string {
  const name = `${plainName(run)}, ${run.variant}`;
  const [mean, min, max, cv, below] = [
    "iops_steady_mean",
    "iops_steady_min",
    "iops_steady_max",
    "iops_steady_cv",
    "seconds_below_half_mean_share",
  ].map((metric) => metricOf(run, metric));
  if (mean === null || min === null || max === null) return `${name}: no steady state was measured.`;
  const parts = [`${name}: between ${iops(min)} and ${iops(max)} IOPS, mean ${iops(mean)}.`];
  if (cv !== null) parts.push(`Coefficient of variation ${percent(cv)}.`);
  if (below !== null && below > 0) parts.push(`${percent(below)} of seconds fall below half the mean.`);
  return parts.join(" ");
}

/** About 0.1 s is where a person sees lag. */
export const FELT_NS = 1e8;

export function latencySummary(run: Run): string {
  const curve = exceedance(run.view.latency_bins);
  const name = `${plainName(run)}, ${run.variant}`;
  if (curve.commands === 0) return `${name}: no latency distribution was recorded.`;
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
