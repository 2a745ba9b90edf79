// The one module that uses uPlot. uPlot provides frame, scales, axes and the drag. Points, marks and the pointer are
// drawn here, because runs need not share their x values and there may be millions of them.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../dom";
import {
  linearTicks,
  logTicks,
  lowerBound,
  middleOf,
  projector,
  rangeWithin,
  type Scale,
  type Tick,
  wholeTicks,
} from "./axis";
import { paintGround, paintZeroNote } from "./ground";
import { type Mark, paintMarkLabels, paintMarkLines } from "./marks";
import { type Frame, type Layer, paintPoints } from "./painter";
import { type Ink, inkOf, type Sheet } from "./sheet";

export const GUTTER_LEFT = 58;
const GUTTER_RIGHT = 26;
const X_AXIS_HEIGHT = 26;
const X_TITLE_HEIGHT = 20;
const POINTER_REACH = 8;
const SMALLEST_DRAG = 5;

export interface GraphSpec {
  id: string;
  /** Name of the graph for screen readers. */
  name: string;
  height: number;
  x: Scale;
  y: Scale;
  xLabel: (value: number) => string;
  yLabel: (value: number) => string;
  xTitle: string | null;
  /** Room for the y labels, in pixels. */
  gutter?: number;
  /** About this many y ticks on a linear axis. */
  yTicks?: number;
  /** Meaning of the zero line of a log axis. */
  zeroNote?: string;
  onPoint?: (x: number | null, graph: Graph) => void;
  onZoom?: (range: [number, number] | null) => void;
  /** Text of the tooltip about a place on the x axis. */
  describe?: (x: number) => HTMLElement | null;
}

export interface Drawing {
  layers: Layer[];
  marks?: Mark[];
  /** Text in the middle of an empty plot. */
  message?: string | null;
  x?: Scale;
  y?: Scale;
}

export class Graph {
  readonly element: HTMLElement;
  readonly spec: GraphSpec;
  private plot: uPlot;
  private x: Scale;
  private y: Scale;
  private drawing: Drawing = { layers: [] };
  private ink: Ink;
  private line = h("div", { class: "graph-line", hidden: true });
  private tip = h("div", { class: "graph-tip", hidden: true });
  private note = h("p", { class: "graph-note", hidden: true });
  private spoken = h("div", { class: "sr-only", "aria-live": "polite" });
  private dots: HTMLElement[] = [];
  private held: number | null = null;

  constructor(spec: GraphSpec) {
    this.spec = spec;
    this.x = spec.x;
    this.y = spec.y;
    this.element = h("div", {
      class: "graph",
      id: spec.id,
      tabindex: "0",
      role: "application",
      "aria-roledescription": "graph",
      "aria-label": spec.name,
      "aria-describedby": `${spec.id}-summary`,
    });
    this.ink = inkOf(document.documentElement);
    this.plot = new uPlot(this.options(), this.frameData(), this.element);
    this.plot.over.append(this.line, this.note);
    this.element.append(this.tip, this.spoken);
    this.listen();
    this.publishScales();
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  draw(drawing: Drawing): void {
    this.drawing = drawing;
    this.x = drawing.x ?? this.spec.x;
    this.y = drawing.y ?? this.spec.y;
    this.note.textContent = drawing.message ?? "";
    this.note.hidden = !drawing.message;
    this.publishScales();
    this.plot.setData(this.frameData());
  }

  /** Takes the colours from the style sheet; call after a change of the theme. */
  recolor(): void {
    this.ink = inkOf(document.documentElement);
    this.plot.redraw(false, true);
  }

  /** A fixed width, independent of its place, until the next call: paper has its own width. */
  hold(width: number | null): void {
    this.held = width;
    this.fit();
  }

  fit(): void {
    const width = this.held ?? this.element.clientWidth;
    if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
  }

  /** Line and rings at a place on the x axis, or nothing. */
  pointAt(x: number | null): void {
    const shown = x !== null && x >= this.x.min && x <= this.x.max;
    this.line.hidden = !shown;
    this.showDots(shown ? x : null);
    if (!shown) {
      this.tip.hidden = true;
      return;
    }
    this.line.style.transform = `translateX(${this.plot.valToPos(x, "x")}px)`;
  }

  showTip(x: number | null): void {
    const content = x === null ? null : this.spec.describe?.(x);
    this.tip.hidden = !content;
    if (!content || x === null) return;
    this.tip.replaceChildren(content);
    const at = this.plot.over.offsetLeft + this.plot.valToPos(x, "x");
    const width = this.tip.offsetWidth;
    const room = this.element.clientWidth;
    const left = at + 14 + width <= room ? at + 14 : Math.max(0, at - 14 - width);
    this.tip.style.transform = `translateX(${Math.min(left, Math.max(0, room - width))}px)`;
  }

  private options(): uPlot.Options {
    const { spec } = this;
    const axis = {
      stroke: () => this.ink.text,
      grid: { stroke: () => this.ink.grid, width: 1 },
      ticks: { stroke: () => this.ink.axis, width: 1, size: 5 },
      font: `12px ${this.ink.font}`,
      gap: 6,
    };
    return {
      width: this.element.clientWidth || 640,
      height: spec.height,
      padding: [8, GUTTER_RIGHT, spec.xTitle === null ? 6 : 0, 0],
      legend: { show: false },
      series: [{}, { paths: () => null, points: { show: false } }],
      scales: {
        x: {
          time: false,
          distr: spec.x.kind === "log" ? 3 : 1,
          range: () => [this.x.min, this.x.max],
        },
        y: { distr: spec.y.kind === "log" ? 3 : 1, range: () => [this.y.min, this.y.max] },
      },
      axes: [
        {
          ...axis,
          show: spec.xTitle !== null,
          size: X_AXIS_HEIGHT,
          ...(spec.xTitle && {
            label: spec.xTitle,
            labelSize: X_TITLE_HEIGHT,
            labelFont: `12px ${this.ink.font}`,
            labelGap: 0,
          }),
          splits: (u) => this.xTicks(u).map((tick) => tick.value),
          values: (u) => this.xTicks(u).map((tick) => tick.label),
          filter: (_, splits) => splits,
        },
        {
          ...axis,
          size: spec.gutter ?? GUTTER_LEFT,
          splits: () => this.yTicks().map((tick) => tick.value),
          values: () => this.yTicks().map((tick) => tick.label),
          filter: (_, splits) => splits,
        },
      ],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { x: spec.onZoom !== undefined, y: false, setScale: false },
        bind: { dblclick: () => () => this.resetZoom() },
      },
      hooks: {
        drawClear: [() => this.paintUnder()],
        draw: [() => this.paint()],
        setSelect: [(u) => this.selected(u)],
      },
    };
  }

  /** uPlot needs data for its frame; the real columns stay here. */
  private frameData(): uPlot.AlignedData {
    return [
      [this.x.min, this.x.max],
      [null, null],
    ];
  }

  private xTicks(u: uPlot): Tick[] {
    const { xLabel } = this.spec;
    const scale = this.x;
    if (scale.kind === "log") return logTicks(scale, xLabel);
    return wholeTicks(scale, Math.max(2, Math.min(10, u.width / 90)), xLabel);
  }

  private yTicks(): Tick[] {
    const { yLabel, yTicks } = this.spec;
    if (this.y.kind === "linear") return linearTicks(this.y, yTicks ?? 5, yLabel);
    return logTicks(this.y, yLabel, this.plot.bbox.height / uPlot.pxRatio);
  }

  private frame(): Frame {
    const { left, top, width, height } = this.plot.bbox;
    return { box: { left, top, width, height }, x: this.x, y: this.y, pixelRatio: uPlot.pxRatio };
  }

  private sheet(): Sheet {
    return { ctx: this.plot.ctx, frame: this.frame(), ink: this.ink };
  }

  private paintUnder(): void {
    // Without its own axis, the graph still shows the seconds of its neighbour.
    const columns = this.spec.xTitle === null ? this.xTicks(this.plot).map(({ value }) => value) : [];
    paintGround(this.sheet(), columns);
  }

  private paint(): void {
    const marks = this.drawing.marks ?? [];
    const sheet = this.sheet();
    paintZeroNote(sheet, this.spec.zeroNote ?? "");
    paintMarkLines(sheet, marks);
    paintPoints(this.plot.ctx, this.drawing.layers, sheet.frame);
    paintMarkLabels(sheet, marks, this.drawing.layers);
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;
    if (width <= 0) return;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (width < SMALLEST_DRAG) return;
    this.spec.onZoom?.([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
  }

  private resetZoom(): null {
    this.spec.onZoom?.(null);
    return null;
  }

  private listen(): void {
    const { over } = this.plot;
    over.addEventListener("mousemove", (event) => {
      const place = over.getBoundingClientRect();
      this.lead(this.nearest(event.clientX - place.left, event.clientY - place.top));
    });
    over.addEventListener("mouseleave", () => this.lead(null));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("blur", () => this.lead(null));
  }

  /** This graph has the pointer: it shows the tooltip, the others follow. */
  private lead(x: number | null): void {
    this.led = x;
    this.spec.onPoint?.(x, this);
    this.pointAt(x);
    this.showTip(x);
  }

  private led: number | null = null;

  private key(event: KeyboardEvent): void {
    const stride = (event.shiftKey ? 10 : 1) * (event.key === "ArrowLeft" ? -1 : 1);
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.walk(stride),
      ArrowRight: () => this.walk(stride),
      Home: () => this.walk(Number.NEGATIVE_INFINITY),
      End: () => this.walk(Number.POSITIVE_INFINITY),
      "+": () => this.zoomBy(0.5),
      "=": () => this.zoomBy(0.5),
      "-": () => this.zoomBy(2),
      "0": () => this.resetZoom(),
      Escape: () => this.resetZoom(),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  }

  /** From point to point among the visible ones, of the run that has the most of them. */
  private walk(stride: number): void {
    const paths = this.drawing.layers.map((layer) => ({ x: layer.x, within: this.pointsInSight(layer) }));
    const length = ({ within: [first, last] }: (typeof paths)[number]) => last - first;
    const [longest] = paths.sort((a, b) => length(b) - length(a));
    if (!longest || length(longest) < 0) return;
    const { x, within } = longest;
    const at = lowerBound(x, this.led ?? middleOf(this.x)) + stride;
    this.lead(x[Math.min(within[1], Math.max(within[0], at))]);
    this.spoken.textContent = this.tip.hidden ? "" : spokenText(this.tip);
  }

  private pointsInSight({ x, startX }: Layer): [first: number, last: number] {
    return rangeWithin(x, { ...this.x, min: Math.max(this.x.min, startX ?? this.x.min) });
  }

  private zoomBy(factor: number): void {
    const middle = this.led ?? middleOf(this.x);
    const half = ((this.x.max - this.x.min) * factor) / 2;
    this.spec.onZoom?.([middle - half, middle + half]);
  }

  /** The point nearest to the pointer within reach, else the nearest second; outliers can be picked. */
  private nearest(left: number, top: number): number | null {
    const { plot } = this;
    const toX = projector(this.x, 0, plot.over.clientWidth);
    const toY = projector(this.y, plot.over.clientHeight, 0);
    let best = Number.POSITIVE_INFINITY;
    let found: number | null = null;
    for (const { x, y, startX } of this.drawing.layers) {
      const lowest = Math.max(startX ?? Number.NEGATIVE_INFINITY, plot.posToVal(left - POINTER_REACH, "x"));
      const from = lowerBound(x, lowest);
      const to = lowerBound(x, plot.posToVal(left + POINTER_REACH, "x"));
      for (let i = from; i < to; i++) {
        const distance = (toX(x[i]) - left) ** 2 + (Math.max(0, toY(y[i])) - top) ** 2;
        if (!(distance < best)) continue;
        best = distance;
        found = x[i];
      }
    }
    return found ?? this.nearestX(plot.posToVal(left, "x"));
  }

  private nearestX(value: number): number | null {
    let found: number | null = null;
    for (const { x } of this.drawing.layers) {
      const at = lowerBound(x, value);
      for (const candidate of [x[at - 1], x[at]]) {
        if (candidate === undefined) continue;
        if (found === null || Math.abs(candidate - value) < Math.abs(found - value)) found = candidate;
      }
    }
    return found;
  }

  private showDots(x: number | null): void {
    const { layers } = this.drawing;
    while (this.dots.length < layers.length) {
      const dot = h("div", { class: "graph-dot", hidden: true });
      this.dots.push(dot);
      this.plot.over.append(dot);
    }
    this.dots.forEach((dot, k) => {
      const y = x === null || !layers[k] ? Number.NaN : this.valueAt(layers[k], x);
      dot.hidden = Number.isNaN(y);
      if (x === null || dot.hidden) return;
      const top = projector(this.y, this.plot.over.clientHeight, 0)(y);
      dot.style.borderColor = layers[k].color;
      dot.style.transform = `translate(${this.plot.valToPos(x, "x")}px, ${Math.max(0, top)}px)`;
      dot.hidden = Number.isNaN(top);
    });
  }

  private valueAt(layer: Layer, x: number): number {
    const at = lowerBound(layer.x, x - 0.5);
    const near = at < layer.x.length && Math.abs(layer.x[at] - x) <= 0.5;
    if (!near || x < (layer.startX ?? Number.NEGATIVE_INFINITY)) return Number.NaN;
    return layer.y[at];
  }

  /** The content of the axes, for tests and for scripts. */
  private publishScales(): void {
    const { dataset } = this.element;
    dataset.xMin = String(this.x.min);
    dataset.xMax = String(this.x.max);
    dataset.yMin = String(this.y.min);
    dataset.yMax = String(this.y.max);
    dataset.yZero = this.y.kind === "log" && this.y.zeroAt !== null ? String(this.y.zeroAt) : "";
  }
}

/** Cells separated by commas; plain text content would join them. */
function spokenText(tip: HTMLElement): string {
  return [...tip.querySelectorAll("caption, th, td")].map((cell) => cell.textContent).join(", ");
}
