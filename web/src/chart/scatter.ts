// IOPS over time: the three graphs of the consistency test.

import { type App, color, type Shown } from "../app";
import { metricOf } from "../data/figures";
import { iops, separated, shortCount } from "../data/format";
import { describeSecond } from "../view/tooltip";
import type { LinearScale, Scale } from "./axis";
import { Graph, type Mark } from "./graph";
import type { Layer } from "./painter";
import { endOf, zoomed, zoomWithin } from "./scales";

export const GRAPH_HEIGHT = { whole: 360, steady: 290 };

/** A graph over seconds that takes part in the common cursor and the common zoom. */
export function timeGraph(
  app: App,
  spec: {
    id: string;
    name: string;
    height: number;
    axis: LinearScale;
    y: Scale;
    yLabel: (value: number) => string;
    yTicks?: number;
    bare?: boolean;
  },
): Graph {
  const graph: Graph = new Graph({
    id: spec.id,
    name: spec.name,
    height: spec.height,
    x: spec.axis,
    y: spec.y,
    xLabel: separated,
    yLabel: spec.yLabel,
    yTicks: spec.yTicks,
    xTitle: spec.bare ? null : "seconds under load",
    onPoint: (second) => app.hub.point(second),
    onZoom: (range) => app.store.set({ zoom: zoomWithin(app.scales.whole, range) }),
    describe: (second) => describeSecond(app, second),
  });
  app.hub.subscribe((second) => graph.pointAt(second));
  return graph;
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
  readonly graph: Graph;

  constructor(private app: App) {
    this.graph = timeGraph(app, {
      id: "graph-whole",
      name: "IOPS over the whole run, log scale",
      height: GRAPH_HEIGHT.whole,
      axis: app.scales.whole,
      y: app.scales.iopsWhole,
      yLabel: shortCount,
    });
  }

  draw(shown: readonly Shown[]): void {
    this.graph.draw({
      layers: iopsLayers(shown, false),
      marks: wholeMarks(shown),
      message: shown.some(({ run }) => run.columns.iops.length > 0) ? null : "Nothing was measured.",
      x: zoomed(this.app.scales.whole, this.app.store.state.zoom),
    });
  }
}

/** Moments are marked for one run alone; six sets of them would hide the points. */
function wholeMarks(shown: readonly Shown[]): Mark[] {
  if (shown.length !== 1) return [];
  const { run } = shown[0];
  const marks: Mark[] = [];
  const fall = metricOf(run, "fall_start_s");
  const steady = metricOf(run, "steady_start_s");
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
  readonly graph: Graph;

  constructor(
    private app: App,
    private log: boolean,
  ) {
    this.graph = timeGraph(app, {
      id: log ? "graph-steady-log" : "graph-steady-linear",
      name: `IOPS in steady state, ${log ? "log" : "linear"} scale`,
      height: GRAPH_HEIGHT.steady,
      axis: app.scales.steady,
      y: log ? app.scales.iopsSteadyLog : app.scales.iopsSteadyLinear,
      yLabel: shortCount,
    });
  }

  draw(shown: readonly Shown[]): void {
    this.graph.draw({
      layers: iopsLayers(shown, true),
      marks: this.log ? [] : steadyMarks(shown),
      message: missing(shown, this.app.scales.steady),
      x: zoomed(this.app.scales.steady, this.app.store.state.zoom),
    });
  }
}

function missing(shown: readonly Shown[], axis: LinearScale): string | null {
  if (shown.length === 0) return "No run chosen.";
  if (shown.some(({ run }) => endOf(run) > Math.max(axis.min, run.view.steady_from_s))) return null;
  const end = separated(Math.round(endOf(shown[0].run)));
  return `Ended after ${end} s, before the steady-state part begins at ${separated(axis.min)} s.`;
}

function steadyMarks(shown: readonly Shown[]): Mark[] {
  if (shown.length !== 1) return [];
  const mean = metricOf(shown[0].run, "iops_steady_mean");
  if (mean === null) return [];
  return [
    { axis: "y", value: mean, label: `mean ${iops(Math.round(mean))}` },
    { axis: "y", value: mean / 2, label: "half of it" },
  ];
}
