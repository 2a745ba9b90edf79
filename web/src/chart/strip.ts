// The "why" under the whole run: what the simulated drive did inside, one small graph a quantity.

import { type App, color, type Shown } from "../app";
import { metricOf } from "../data/figures";
import { percent, separated, shortCount, significant, UNKNOWN } from "../data/format";
import { h } from "../dom";
import { swatch } from "../view/name";
import { nearestIndex } from "./axis";
import type { Graph, Mark } from "./graph";
import { type StripColumn, zoomed } from "./scales";
import { timeGraph } from "./scatter";

interface Quantity {
  column: StripColumn;
  label: string;
  unit: string;
  tick: (value: number) => string;
  text: (value: number) => string;
}

const QUANTITIES: Quantity[] = [
  {
    column: "waf",
    label: "Write amplification",
    unit: "NAND pages programmed per host page",
    tick: (v) => significant(v, 2).replace(/\.0$/, ""),
    text: (v) => separated(v, 2),
  },
  {
    column: "freeSuperblocks",
    label: "Free superblocks",
    unit: "erased, ready for writing",
    tick: shortCount,
    text: (v) => separated(v),
  },
  {
    column: "bufferMb",
    label: "Write buffer",
    unit: "MB waiting for NAND",
    tick: shortCount,
    text: (v) => `${significant(v)} MB`,
  },
  {
    column: "gcMoved",
    label: "Cleaning",
    unit: "pages moved by garbage collection per second",
    tick: shortCount,
    text: (v) => `${separated(v)} pages/s`,
  },
  {
    column: "dieBusy",
    label: "Dies busy",
    unit: "share of NAND dies at work",
    tick: (v) => `${Math.round(v * 100)}%`,
    text: percent,
  },
];

const ROW_HEIGHT = 74;

/** The line of the graph above goes on through the rows: what happens at the fall is the point. */
function fallMarks(shown: readonly Shown[]): Mark[] {
  const fall = shown.length === 1 ? metricOf(shown[0].run, "fall_start_s") : null;
  return fall === null ? [] : [{ axis: "x", value: fall, label: "" }];
}

class Row {
  readonly graph: Graph;
  readonly element: HTMLElement;
  private value = h("span", { class: "strip-value" });
  private shown: readonly Shown[] = [];

  constructor(
    private app: App,
    private quantity: Quantity,
    last: boolean,
  ) {
    const { scale, clipped } = app.scales.strip[quantity.column];
    const id = `graph-why-${quantity.column}`;
    this.graph = timeGraph(app, {
      id,
      name: `${quantity.label}: ${quantity.unit}`,
      height: last ? ROW_HEIGHT + 40 : ROW_HEIGHT,
      axis: app.scales.whole,
      y: scale,
      yLabel: quantity.tick,
      yTicks: 2,
      bare: !last,
    });
    const note = clipped ? "; rare spikes stand on the upper edge" : "";
    this.element = h(
      "div",
      { class: "strip-row" },
      h(
        "p",
        { class: "strip-label", id: `${id}-summary` },
        h("b", {}, quantity.label),
        h("span", { class: "quiet" }, ` ${quantity.unit}${note}`),
        this.value,
      ),
      this.graph.element,
    );
    app.hub.subscribe((second) => this.tell(second));
  }

  draw(shown: readonly Shown[]): void {
    this.shown = shown;
    const { column } = this.quantity;
    this.graph.draw({
      layers: shown.map(({ run, color: slot }) => ({
        x: run.columns.second,
        y: run.columns[column],
        color: color(slot),
        style: "joined",
      })),
      marks: fallMarks(shown),
      x: zoomed(this.app.scales.whole, this.app.store.state.zoom),
    });
  }

  private tell(second: number | null): void {
    const { column, text } = this.quantity;
    this.value.replaceChildren(
      ...(second === null ? [] : this.shown).map(({ run, color: slot }) => {
        const at = nearestIndex(run.columns.second, second ?? 0);
        const value = at < 0 ? Number.NaN : run.columns[column][at];
        return h(
          "span",
          {},
          this.shown.length > 1 && swatch(slot),
          Number.isFinite(value) ? text(value) : UNKNOWN,
        );
      }),
    );
  }
}

export class Strip {
  readonly element = h("div", { class: "strip" });
  readonly graphs: Graph[];
  private rows: Row[];

  constructor(app: App) {
    this.rows = QUANTITIES.map((quantity, k) => new Row(app, quantity, k === QUANTITIES.length - 1));
    this.graphs = this.rows.map((row) => row.graph);
    this.element.append(...this.rows.map((row) => row.element));
  }

  /** Only runs that tell; a real drive keeps this to itself. */
  draw(shown: readonly Shown[]): void {
    for (const row of this.rows) row.draw(shown);
  }
}
