// The "why" under the whole run: telemetry of the simulated drive, one small graph per quantity.

import { type App, axesNow, color, type Shown } from "../app";
import { percent, seconds, separated, shortCount, significant, UNKNOWN, withUnit } from "../data/format";
import { h } from "../dom";
import { runName, swatch } from "../view/parts/name";
import { nearestIndex } from "./axis";
import { eventsOf, type RunEvent } from "./events";
import type { Graph } from "./graph";
import type { Mark } from "./marks";
import type { StripColumn } from "./scales";
import { TimeGraph } from "./scatter";

interface Quantity {
  column: StripColumn;
  label: string;
  unit: string;
  tick: (value: number) => string;
  text: (value: number) => string;
  /** Name of the top of the axis in a sentence, in place of a tick. */
  top?: (value: number) => string;
  height?: number;
}

function busy(column: StripColumn, label: string, unit: string): Quantity {
  return { column, label, unit, tick: (v) => `${Math.round(v * 100)}%`, text: percent };
}

const QUANTITIES: Quantity[] = [
  {
    column: "waf",
    label: "Write amplification",
    unit: "NAND pages programmed per host page, log scale",
    tick: shortCount,
    text: (v) => (v < 1_000 ? separated(v, 2) : separated(v)),
    height: 104,
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
    text: (v) => withUnit(significant(v), "MB"),
    top: (v) => withUnit(shortCount(v), "MB"),
  },
  {
    column: "gcMoved",
    label: "Cleaning",
    unit: "pages moved by garbage collection per second",
    tick: shortCount,
    text: (v) => `${separated(v)} pages/s`,
  },
  busy("controllerBusy", "Controller busy", "share of its time spent on commands and moved pages"),
  busy("channelBusy", "Channels busy", "share of channels carrying data"),
  busy("dieBusy", "Dies busy", "share of NAND dies at work"),
];

const ROW_HEIGHT = 74;

/** A line through all rows for each event of a single run; the first row names them. */
function eventMarks(events: readonly RunEvent[], isNamed: boolean): Mark[] {
  return events.map(({ second, label }) => ({ axis: "x", value: second, label: isNamed ? label : "" }));
}

class Row {
  readonly graph: Graph;
  readonly element: HTMLElement;
  private time: TimeGraph;
  private note = h("span", {});
  private value = h("span", { class: "strip-value" });
  private shown: readonly Shown[] = [];

  constructor(
    private app: App,
    private quantity: Quantity,
    private isFirst: boolean,
    private last: boolean,
  ) {
    const id = `graph-why-${quantity.column}`;
    const height = quantity.height ?? ROW_HEIGHT;
    this.time = new TimeGraph(app, {
      id,
      name: `${quantity.label}: ${quantity.unit}`,
      height: last ? height + 40 : height,
      axis: (scales) => scales.whole,
      y: (scales) => scales.strip[quantity.column].scale,
      yLabel: quantity.tick,
      yTicks: 2,
      own: [quantity.label, quantity.column, quantity.text],
      bare: !last,
    });
    this.graph = this.time.graph;
    this.element = h(
      "div",
      { class: "strip-row" },
      h(
        "p",
        { class: "strip-label", id: `${id}-summary` },
        h("b", {}, quantity.label),
        h("span", { class: "quiet" }, ` ${quantity.unit}`, this.note),
        this.value,
      ),
      this.graph.element,
    );
    app.hub.subscribe((second) => this.tell(second));
  }

  draw(shown: readonly Shown[], events: readonly RunEvent[]): void {
    this.shown = shown;
    // Runs of earlier versions did not count everything. The last row has the axis and stays.
    const { column, tick, top = tick } = this.quantity;
    this.element.hidden = !this.last && shown.every(({ run }) => run.columns[column].length === 0);
    const { scale, clipped } = axesNow(this.app).scales.strip[column];
    this.note.textContent = clipped ? `; what exceeds ${top(scale.max)} stands on the upper edge` : "";
    this.time.draw({
      layers: shown.map(({ run, color: slot }) => ({
        x: run.columns.second,
        y: run.columns[column],
        color: color(slot),
        style: "joined",
      })),
      marks: eventMarks(events, this.isFirst),
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

function eventItem({ kind, second, text }: RunEvent): HTMLElement {
  return h("li", { "data-event": kind }, h("b", {}, seconds(Math.round(second))), ` ${text}`);
}

export class Strip {
  readonly element = h("div", { class: "strip" });
  /** The events of the run, of several of the first one, in words and by time. */
  readonly events = h("ul", { class: "events" });
  readonly graphs: Graph[];
  private rows: Row[];

  constructor(app: App) {
    this.rows = QUANTITIES.map((quantity, k) => new Row(app, quantity, k === 0, k === QUANTITIES.length - 1));
    this.graphs = this.rows.map((row) => row.graph);
    this.element.append(...this.rows.map((row) => row.element));
  }

  /** Writes the events. */
  say([first, ...others]: readonly Shown[]): void {
    const events = first ? eventsOf(first.run) : [];
    this.events.hidden = events.length === 0;
    const whose = others.length > 0 && first ? [h("li", {}, swatch(first.color), runName(first.run))] : [];
    this.events.replaceChildren(...whose, ...events.map(eventItem));
  }

  /** Only runs with telemetry, which real drives do not report. */
  draw(shown: readonly Shown[]): void {
    const events = shown.length === 1 ? eventsOf(shown[0].run) : [];
    for (const row of this.rows) row.draw(shown, events);
  }
}
