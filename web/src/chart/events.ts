// The events of a run, found in its seconds: the annotations of the "why" strip.

import { metricOf } from "../data/figures";
import { seconds, separated } from "../data/format";
import { isSmall, type Run } from "../data/load";
import { marksOn, wordsOfMark } from "../data/marks";
import { median } from "../data/median";
import type { Mark } from "../data/schema.gen";

export type EventKind = "fall" | "steady" | "cache-full" | "reorganisation" | "stall";

export interface RunEvent {
  kind: EventKind;
  /** First second. */
  second: number;
  /** Seconds that it lasts; 0 for a moment. */
  lasts: number;
  /** Two or three words beside a line. */
  label: string;
  /** The event and its cause in a sentence. */
  text: string;
}

/** Below this share of the median second a stretch is slow; below the second one it stalls. */
const SLOW = 0.5;
const STALLED = 0.1;
/** In a reorganisation cleaning goes on at this share of its median or above, while the host waits. */
const CLEANING = 0.9;
/** The cache counts as full at this share of its highest level. */
const FULL = 0.97;

/** The fast cache fills and is not merely in use: it must be this much fuller than at the start. */
const FILLED_FROM = 0.5;

interface Stretch {
  from: number;
  to: number;
}

/** Unbroken stretches of rows, from the first to the one after the last. */
function stretches(length: number, from: number, isIn: (row: number) => boolean): Stretch[] {
  const found: Stretch[] = [];
  for (let row = from; row < length; row++) {
    if (!isIn(row)) continue;
    const last = found.at(-1);
    if (last && last.to === row) last.to = row + 1;
    else found.push({ from: row, to: row + 1 });
  }
  return found;
}

/** The longest one, of equal ones the first; null if there is none. */
function longest(all: readonly Stretch[]): Stretch | null {
  return all.reduce<Stretch | null>(
    (best, one) => (best && best.to - best.from >= one.to - one.from ? best : one),
    null,
  );
}

function moment(kind: EventKind, second: number, label: string, text: string): RunEvent {
  return { kind, second, lasts: 0, label, text };
}

/** Parts of the curve behind a second that must agree on its level, as the five rounds of the SNIA PTS. */
const PARTS = 5;
/** Largest range of their means, and largest rise or fall of the line through them, as shares of their mean. */
const RANGE_MAX = 0.2;
const DRIFT_MAX = 0.1;
/** Fewer points than these are no level. */
const POINTS_MIN = 2 * PARTS;

function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at];
  return sum / values.length;
}

/** Whether the curve keeps its level to its end, by the rule of the PTS on five parts of it. */
export function keepsLevel(iops: Float64Array): boolean {
  if (iops.length < POINTS_MIN) return false;
  const cut = (part: number) => Math.round((part * iops.length) / PARTS);
  const means = Array.from({ length: PARTS }, (_, part) => mean(iops.subarray(cut(part), cut(part + 1))));
  const level = mean(means);
  const middle = (PARTS - 1) / 2;
  const slope = means.reduce((sum, value, part) => sum + (part - middle) * value, 0) / 10;
  const range = Math.max(...means) - Math.min(...means);
  return range <= RANGE_MAX * level && Math.abs(slope) * (PARTS - 1) <= DRIFT_MAX * level;
}

/** Above this write amplification the drive cleans, whatever it counts. */
const CLEAN_WAF = 1.05;

/** Whether the drive cleaned from a row on; null if it does not tell. */
function cleansFrom({ columns: { waf, gcMoved } }: Run, row: number): boolean | null {
  if (waf.length === 0 && gcMoved.length === 0) return null;
  return (
    gcMoved.subarray(row).some((value) => value > 0) || waf.subarray(row).some((value) => value > CLEAN_WAF)
  );
}

function rowAt({ columns: { second } }: Run, wanted: number): number {
  const row = second.findIndex((value) => value >= wanted);
  return row < 0 ? second.length : row;
}

function fall(run: Run): RunEvent[] {
  const second = metricOf(run, "fall_start_s");
  if (second === null) return [];
  const text =
    cleansFrom(run, rowAt(run, second)) === false
      ? "The fall. The drive cleans nothing from here on, so its erased superblocks are not the reason."
      : "The fall. The erased superblocks of the fresh drive are used up; from here on every write waits for cleaning.";
  return [moment("fall", second, `falls at ${separated(second)} s`, text)];
}

/** Whether no second is the begin of steady state under a mark; a scale moves that second and leaves the state. */
function isUnsteady({ kind }: Mark): boolean {
  return kind === "two-regimes" || (kind !== "scale" && wordsOfMark(kind).force === "disqualifies");
}

/** The second from which the run keeps a level on a drive that cleans; null if there is none. */
export function steadySecond(run: Run): number | null {
  const second = metricOf(run, "steady_start_s");
  if (second === null || second <= 0) return null;
  const marks = ["steady_start_s", "iops_steady_mean"].flatMap((metric) => marksOn(run, metric));
  if (marks.some(isUnsteady)) return null;
  const row = rowAt(run, second);
  return cleansFrom(run, row) !== false && keepsLevel(run.columns.iops.subarray(row)) ? second : null;
}

function steady(run: Run): RunEvent[] {
  const second = steadySecond(run);
  if (second === null) return [];
  const text =
    "Steady state. Cleaning moves as much as the writes need, and the pace no longer changes its level.";
  return [moment("steady", second, `steady at ${separated(second)} s`, text)];
}

/** The first second at which the fast cache holds all that it ever holds. */
function cacheFull({ columns: { second, pslc } }: Run): RunEvent[] {
  const top = pslc.reduce((most, value) => (value > most ? value : most), 0);
  if (top <= 0 || pslc[0] > FILLED_FROM * top) return [];
  const row = pslc.findIndex((value) => value >= FULL * top);
  const text =
    "The fast cache is full. From here on writes go to slower cells, or wait until the cache is emptied.";
  return [moment("cache-full", second[row], `cache full at ${separated(Math.round(second[row]))} s`, text)];
}

/** Rows from the fall on: before it nothing needs cleaning. */
function firstRow(run: Run): number {
  const second = metricOf(run, "fall_start_s");
  const from = second ?? run.view.steady_from_s;
  const row = run.columns.second.findIndex((value) => value > from);
  return row < 0 ? run.columns.second.length : row;
}

interface Slow {
  all: Stretch[];
  pace: number;
  from: number;
}

/** Stretches far below the pace of the run after its fall. */
function slowStretches(run: Run): Slow {
  const { iops } = run.columns;
  const from = firstRow(run);
  const pace = median([...iops.subarray(from)]);
  return { all: stretches(iops.length, from, (row) => iops[row] < SLOW * pace), pace, from };
}

function isCleaning(run: Run, { from, to }: Stretch, usual: number): boolean {
  const moved = run.columns.gcMoved.subarray(from, to);
  return usual > 0 && moved.some((value) => value >= CLEANING * usual);
}

function lasting(kind: EventKind, run: Run, stretch: Stretch, count: number): RunEvent {
  const second = run.columns.second[stretch.from];
  const lasts = stretch.to - stretch.from;
  const name = kind === "stall" ? "stall" : "reorganisation";
  const times = count > 1 ? `, the longest of ${separated(count)}` : "";
  const why =
    kind === "stall"
      ? "The host gets hardly a command done."
      : "The drive cleans on at its usual pace or above, and the host waits for it.";
  return {
    kind,
    second,
    lasts,
    label: `${name}, ${seconds(lasts)}`,
    text: `A ${name} of ${seconds(lasts)}${times}. ${why}`,
  };
}

function slowEvents(run: Run): RunEvent[] {
  const { iops, gcMoved } = run.columns;
  const { all, pace, from } = slowStretches(run);
  const usual = median([...gcMoved.subarray(from)]);
  const cleaning = all.filter((stretch) => isCleaning(run, stretch, usual));
  const stalls = all.filter(
    (stretch) =>
      !cleaning.includes(stretch) &&
      iops.subarray(stretch.from, stretch.to).some((value) => value < STALLED * pace),
  );
  const event = (kind: EventKind, some: readonly Stretch[]) => {
    const worst = longest(some);
    return worst ? [lasting(kind, run, worst, some.length)] : [];
  };
  return [...event("reorganisation", cleaning), ...event("stall", stalls)];
}

/** The fall, the steady state, the full cache, and the longest reorganisation and stall, by time. */
export function eventsOf(run: Run): RunEvent[] {
  if (run.columns.second.length === 0) return [];
  const events = [...fall(run), ...steady(run), ...cacheFull(run), ...(isSmall(run) ? [] : slowEvents(run))];
  return events.sort((a, b) => a.second - b.second);
}
