// IOPS over time: the three graphs of the consistency test.

import { type App, axesNow, color, type Shown } from "../app";
import { heldOf, metricOf } from "../data/figures";
import { iops, separated, shortCount } from "../data/format";
import { describeSecond, type TipRow } from "../view/graphs/tooltip";
import type { LinearScale, Scale } from "./axis";
import { steadySecond } from "./events";
import { type Drawing, Graph } from "./graph";
import type { Mark } from "./marks";
import type { Layer } from "./painter";
import { endOf, type SetScales, zoomed, zoomWithin } from "./scales";

export const GRAPH_HEIGHT = { whole: 360, steady: 290 };
export const ZERO_NOTE = "no command completed";

interface TimeSpec {
  id: string;
  name: string;
  height: number;
  axis: (scales: SetScales) => LinearScale;
  y: (scales: SetScales) => Scale;
  yLabel: (value: number) => string;
  yTicks?: number;
  zeroNote?: string;
  bare?: boolean;
  /** First value of the tooltip, if it is not among the usual ones. */
  own?: TipRow;
}

/** A graph over seconds, on the axes of the selected runs, with the common cursor and the common zoom. */
export class TimeGraph {
  readonly graph: Graph;

  constructor(
    private app: App,
    private spec: TimeSpec,
  ) {
    const { scales } = axesNow(app);
    this.graph = new Graph({
      id: spec.id,
      name: spec.name,
      height: spec.height,
      x: spec.axis(scales),
      y: spec.y(scales),
      xLabel: (second) => separated(second),
      yLabel: spec.yLabel,
      yTicks: spec.yTicks,
      zeroNote: spec.zeroNote,
      xTitle: spec.bare ? null : "seconds under load",
      onPoint: (second) => app.hub.point(second),
      onZoom: (range) => app.store.set({ zoom: zoomWithin(axesNow(app).scales.whole, range) }),
      describe: (second) => describeSecond(app, second, spec.own),
    });
    app.hub.subscribe((second) => this.graph.pointAt(second));
  }

  draw(drawing: Drawing): void {
    const { scales } = axesNow(this.app);
    const x = zoomed(this.spec.axis(scales), this.app.store.state.zoom);
    this.graph.draw({ ...drawing, x, y: this.spec.y(scales) });
  }
}

export function iopsLayers(shown: readonly Shown[], steadyOnly: boolean): Layer[] {
  return shown.map(({ run, color: slot }) => ({
    x: run.columns.second,
    y: run.columns.iops,
    color: color(slot),
    startX: steadyOnly ? run.view.steady_from_s : undefined,
  }));
}

export class WholeRun {
  readonly time: TimeGraph;

  constructor(app: App) {
    this.time = new TimeGraph(app, {
      id: "graph-whole",
      name: "IOPS over the whole run, log scale",
      height: GRAPH_HEIGHT.whole,
      axis: (scales) => scales.whole,
      y: (scales) => scales.iopsWhole,
      yLabel: shortCount,
      zeroNote: ZERO_NOTE,
    });
  }

  draw(shown: readonly Shown[]): void {
    this.time.draw({
      layers: iopsLayers(shown, false),
      marks: wholeMarks(shown),
      message: shown.some(({ run }) => run.columns.iops.length > 0) ? null : "Nothing was measured.",
    });
  }
}

/** Marks appear for a single run only; six sets of them would hide the points. */
function wholeMarks(shown: readonly Shown[]): Mark[] {
  if (shown.length !== 1) return [];
  const { run } = shown[0];
  const marks: Mark[] = [];
  const fall = metricOf(run, "fall_start_s");
  const steady = steadySecond(run);
  const from = run.view.steady_from_s;
  if (fall !== null) marks.push({ axis: "x", value: fall, label: `falls at ${separated(fall)} s` });
  if (steady !== null && steady !== from) {
    marks.push({ axis: "x", value: steady, label: `steady at ${separated(steady)} s` });
  }
  if (from > 0 && from < endOf(run)) {
    marks.push({ axis: "x", value: from, label: `figures from ${separated(from)} s` });
  }
  return marks;
}

export class SteadyRun {
  readonly time: TimeGraph;

  constructor(
    private app: App,
    private log: boolean,
  ) {
    this.time = new TimeGraph(app, {
      id: log ? "graph-steady-log" : "graph-steady-linear",
      name: `IOPS of the last part of the load, ${log ? "log" : "linear"} scale`,
      height: GRAPH_HEIGHT.steady,
      axis: (scales) => scales.steady,
      y: (scales) => (log ? scales.iopsSteadyLog : scales.iopsSteadyLinear),
      yLabel: shortCount,
      zeroNote: ZERO_NOTE,
    });
  }

  draw(shown: readonly Shown[]): void {
    this.time.draw({
      layers: iopsLayers(shown, true),
      marks: this.log ? [] : steadyMarks(shown),
      message: missing(shown, axesNow(this.app).scales.steady),
    });
  }
}

function missing(shown: readonly Shown[], axis: LinearScale): string | null {
  if (shown.length === 0) return "No run chosen.";
  if (shown.some(({ run }) => endOf(run) > Math.max(axis.min, run.view.steady_from_s))) return null;
  const end = separated(Math.round(endOf(shown[0].run)));
  return `Ended after ${end} s, before the part of these graphs begins at ${separated(axis.min)} s.`;
}

function steadyMarks(shown: readonly Shown[]): Mark[] {
  if (shown.length !== 1) return [];
  const mean = heldOf(shown[0].run, "iops_steady_mean");
  if (mean === null) return [];
  return [
    { axis: "y", value: mean, label: `mean ${iops(Math.round(mean))}` },
    { axis: "y", value: mean / 2, label: "half of it" },
  ];
}
