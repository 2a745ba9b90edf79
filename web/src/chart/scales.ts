// Axes of a class of runs. All drives and variants in it share them; otherwise a comparison at a glance would
// mislead.

import type { ColumnName, Run } from "../data/load";
import {
  extend,
  type LinearScale,
  type LogScale,
  linear,
  logFrom,
  logScale,
  lowerBound,
  NO_EXTENT,
  niceTop,
  robustTop,
  type Scale,
  weightedTop,
} from "./axis";

export interface StripScale {
  scale: Scale;
  /** Spikes beyond the top are drawn on the upper edge. */
  clipped: boolean;
}

export const STRIP_COLUMNS = [
  "waf",
  "freeSuperblocks",
  "bufferMb",
  "gcMoved",
  "controllerBusy",
  "channelBusy",
  "dieBusy",
] as const;
export type StripColumn = (typeof STRIP_COLUMNS)[number];
const SHARES: readonly StripColumn[] = ["controllerBusy", "channelBusy", "dieBusy"];

export interface SetScales {
  whole: LinearScale;
  steady: LinearScale;
  iopsWhole: LogScale;
  iopsSteadyLog: LogScale;
  iopsSteadyLinear: LinearScale;
  latency: LogScale;
  latencyShareX: LogScale;
  latencyShareY: LogScale;
  strip: Record<StripColumn, StripScale>;
}

export function endOf(run: Run): number {
  const { second } = run.columns;
  return second.length === 0 ? 0 : second[second.length - 1] + 1;
}

function logOver(runs: readonly Run[], columns: readonly ColumnName[], from: (run: Run) => number): LogScale {
  let extent = NO_EXTENT;
  for (const run of runs) {
    for (const name of columns) extent = extend(extent, run.columns[name], from(run));
  }
  return logScale(extent.lowest, extent.highest, extent.zeros > 0);
}

/**
 * The figures of a run that ended early come from the part that it reached. They must not extend the common axis, so
 * complete runs decide if there is one.
 */
function steadyAxis(runs: readonly Run[]): LinearScale {
  const complete = runs.filter(
    (run) => run.view.status === "complete" && endOf(run) > run.view.steady_from_s,
  );
  const counted = complete.length > 0 ? complete : runs;
  const from = Math.min(...counted.map((run) => run.view.steady_from_s));
  return linear(from, Math.max(from + 1, ...counted.map(endOf)));
}

function steadyTop(runs: readonly Run[], from: (run: Run) => number): LinearScale {
  let extent = NO_EXTENT;
  for (const run of runs) extent = extend(extent, run.columns.iops, from(run));
  return linear(0, niceTop(extent.highest));
}

/** From this value on a ratio counts as 1: rounding of one second into the next causes the rest. */
const RATIO_ONE = 0.98;

/**
 * In a second with hardly any host write, the write amplification has any value, up to tens of thousands. The writes
 * therefore determine the axis, not the seconds. It is a ratio, so the axis is logarithmic.
 */
function wafScale(runs: readonly Run[]): StripScale {
  const columns = runs.map(({ columns: { waf, iops } }) => ({ values: waf, weights: iops }));
  const { lowest, top, clipped } = weightedTop(columns);
  return { scale: logFrom(lowest < RATIO_ONE ? lowest : 1, top), clipped };
}

function stripScale(runs: readonly Run[], name: StripColumn): StripScale {
  if (name === "waf") return wafScale(runs);
  if (SHARES.includes(name)) return { scale: linear(0, 1), clipped: false };
  const { top, clipped } = robustTop(runs.map((run) => run.columns[name]));
  return { scale: linear(0, top), clipped };
}

function shareScales(runs: readonly Run[]): [LogScale, LogScale] {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  let rarest = 0.01;
  for (const { view } of runs) {
    const bins = view.latency_bins;
    if (bins.length === 0) continue;
    const commands = bins.reduce((sum, [, count]) => sum + count, 0);
    lowest = Math.min(lowest, Math.max(1, bins[0][0]));
    highest = Math.max(highest, bins[bins.length - 1][0] * 1.01);
    rarest = Math.min(rarest, 1 / commands);
  }
  return [logScale(lowest, highest, false), logScale(rarest, 1, false)];
}

/** Time belongs to `own` alone; the values of `guests` must have a place, too. */
export function setScales(own: readonly Run[], guests: readonly Run[] = []): SetScales {
  const runs = [...own, ...guests];
  const fromStart = () => 0;
  const steady = steadyAxis(own);
  const fromSteady = (run: Run) =>
    lowerBound(run.columns.second, Math.max(steady.min, run.view.steady_from_s));
  const [latencyShareX, latencyShareY] = shareScales(runs);
  return {
    whole: linear(0, Math.max(1, ...own.map(endOf))),
    steady,
    iopsWhole: logOver(runs, ["iops"], fromStart),
    iopsSteadyLog: logOver(runs, ["iops"], fromSteady),
    iopsSteadyLinear: steadyTop(runs, fromSteady),
    latency: logOver(runs, ["p50", "p99", "max"], fromStart),
    latencyShareX,
    latencyShareY,
    strip: Object.fromEntries(STRIP_COLUMNS.map((name) => [name, stripScale(runs, name)])) as Record<
      StripColumn,
      StripScale
    >,
  };
}

/** Shortest range for a zoom, in seconds. */
const ZOOM_MIN = 4;

/** The zoomed part of an axis; without an overlap, the axis stays whole. */
export function zoomed(axis: LinearScale, zoom: [number, number] | null): LinearScale {
  if (!zoom) return axis;
  const min = Math.max(axis.min, zoom[0]);
  const max = Math.min(axis.max, zoom[1]);
  return max - min >= Math.min(ZOOM_MIN, axis.max - axis.min) ? linear(min, max) : axis;
}

/** A zoom that stays on the axis, and is neither tiny nor the whole. */
export function zoomWithin(axis: LinearScale, range: [number, number] | null): [number, number] | null {
  if (!range) return null;
  const middle = (range[0] + range[1]) / 2;
  const half = Math.max(ZOOM_MIN, range[1] - range[0]) / 2;
  const min = Math.max(axis.min, middle - half);
  const max = Math.min(axis.max, middle + half);
  return min <= axis.min && max >= axis.max ? null : [min, max];
}
