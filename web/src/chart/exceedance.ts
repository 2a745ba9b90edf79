// Share of commands above a latency: the whole latency distribution as one falling line, log-log.

import { type App, axesNow, color, type Shown } from "../app";
import { type Exceedance, exceedance, FELT_NS, shareAbove } from "../data/figures";
import { shortDuration, shortOneIn } from "../data/format";
import type { Run } from "../data/load";
import { describeLatency } from "../view/graphs/tooltip";
import { Graph } from "./graph";

export class ExceedanceGraph {
  readonly graph: Graph;
  private shown: readonly Shown[] = [];
  private curves = new Map<Run, Exceedance>();

  constructor(private app: App) {
    const { latencyShareX, latencyShareY } = axesNow(app).scales;
    this.graph = new Graph({
      id: "graph-exceedance",
      name: "Share of commands that take longer than a given time, both axes log",
      height: 340,
      x: latencyShareX,
      y: latencyShareY,
      xLabel: shortDuration,
      yLabel: shortOneIn,
      gutter: 78,
      xTitle: "latency",
      describe: (ns) =>
        describeLatency(
          ns,
          this.shown.map((one) => ({ ...one, share: shareAbove(this.curve(one.run), ns) })),
        ),
    });
  }

  draw(shown: readonly Shown[]): void {
    this.shown = shown;
    const layers = shown.map(({ run, color: slot }) => {
      const { ns, share } = this.curve(run);
      return { x: ns, y: share, color: color(slot), style: "step" as const };
    });
    const { latencyShareX, latencyShareY } = axesNow(this.app).scales;
    this.graph.draw({
      layers,
      x: latencyShareX,
      y: latencyShareY,
      marks: [{ axis: "x", value: FELT_NS, label: "0.1 s: a person notices", foot: true }],
      message: layers.some(({ x }) => x.length > 0) ? null : "No latency distribution was recorded.",
    });
  }

  private curve(run: Run): Exceedance {
    const known = this.curves.get(run) ?? exceedance(run.view.latency_bins);
    this.curves.set(run, known);
    return known;
  }
}
