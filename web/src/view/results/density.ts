// Single commands as densities: latency over time and place over time, with a colour for each kind. A cell is the more
// opaque the more commands it holds, by logarithms.

import { separated, shortDuration } from "../../data/format";
import type { Library, Run } from "../../data/load";
import type { IosView } from "../../data/schema.gen";
import { heading } from "../../data/tests";
import { h, lateFold } from "../../dom";
import { type TableData, withTools } from "../parts/chart-tools";
import { plainRunName, runName } from "../parts/name";
import { passName, placeText } from "./passes";
import { drawing, svg } from "./svg";

const HEIGHT = 250;
const LEFT = 64;
const RIGHT = 14;
const TOP = 8;
const BOTTOM = 28;
/** Opacity of a cell with one command, among cells with many. */
const FAINTEST = 0.28;
/** Runs up to this number are open; of more, each is a fold. */
const OPEN_MAX = 2;

/** One of the two charts of a phase. */
interface Plot {
  name: "latency" | "offset";
  title: string;
  unit: string;
  /** Head of the column of the table. */
  head: string;
  edges: readonly number[];
  turns: (op: IosView["ops"][number]) => readonly number[];
}

export interface Cell {
  column: number;
  row: number;
  count: number;
}

/** The cells with commands of a grid whose columns have this many rows: gaps and counts by turns. */
export function cellsOf(turns: readonly number[], rows: number): Cell[] {
  const cells: Cell[] = [];
  let at = 0;
  for (let turn = 0; turn + 1 < turns.length; turn += 2) {
    at += turns[turn];
    cells.push({ column: Math.floor(at / rows), row: at % rows, count: turns[turn + 1] });
    at += 1;
  }
  return cells;
}

/** Opacity of a cell, from the faintest to 1. */
export function opacity(count: number, most: number): number {
  return most <= 1 ? 1 : FAINTEST + ((1 - FAINTEST) * Math.log(count)) / Math.log(most);
}

function plotsOf(view: IosView): Plot[] {
  const latency: Plot = {
    name: "latency",
    title: `Latency over time: ${passName(view.phase)}`,
    unit: "log scale",
    head: "Latency from (ns)",
    edges: view.latency_ns,
    turns: (op) => op.by_latency,
  };
  const place: Plot = {
    name: "offset",
    title: `LBA over time: ${passName(view.phase)}`,
    unit: "first byte",
    head: "Place from (bytes)",
    edges: view.offset_bytes,
    turns: (op) => op.by_offset,
  };
  return view.ops.some((op) => op.by_offset.length > 0) ? [latency, place] : [latency];
}

/** An image of one pixel a cell, white with the opacity of the cell: a mask for any colour. */
function maskImage(cells: readonly Cell[], columns: number, rows: number): string {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  if (!context) return "";
  const image = context.createImageData(columns, rows);
  const most = cells.reduce((top, { count }) => Math.max(top, count), 1);
  for (const { column, row, count } of cells) {
    const at = 4 * ((rows - 1 - row) * columns + column);
    image.data.set([255, 255, 255, Math.round(255 * opacity(count, most))], at);
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL("image/png");
}

let masks = 0;

/** The commands of one kind, in its colour. */
function layer(op: string, href: string, width: number): SVGElement[] {
  masks += 1;
  const id = `density-mask-${masks}`;
  const box = { x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
  const image = { ...box, href, preserveAspectRatio: "none", "image-rendering": "pixelated" };
  return [
    svg("mask", { id, maskUnits: "userSpaceOnUse", ...box }, svg("image", image)),
    svg("rect", { ...box, class: `density-${op}`, mask: `url(#${id})` }),
  ];
}

/** Ticks of the y axis with their places, 0 at the bottom and 1 at the top. */
export function yTicks({ name, edges }: Pick<Plot, "name" | "edges">): { at: number; label: string }[] {
  const [low, high] = [edges[0], edges[edges.length - 1]];
  if (name === "offset") {
    return [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, label: placeText(high * at, high) }));
  }
  const place = (value: number) => Math.log(value / low) / Math.log(high / low);
  const decades = Array.from({ length: 16 }, (_, power) => 10 ** power);
  const within = decades.filter((value) => value >= low && value <= high);
  // Within one decade there is at most one round number: the edges say more.
  const values = within.length > 1 ? within : [low, high];
  return values.map((value) => ({ at: place(value), label: shortDuration(value) }));
}

function axes(plot: Plot, view: IosView, width: number): SVGElement[] {
  const bottom = HEIGHT - BOTTOM;
  const inner = width - LEFT - RIGHT;
  const rows = yTicks(plot).flatMap(({ at, label }) => {
    const y = bottom - (bottom - TOP) * at;
    return [
      svg("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "passes-grid" }),
      svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, label),
    ];
  });
  const end = view.column_ns * view.columns;
  const columns = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const anchor = share === 1 ? "end" : "middle";
    const x = LEFT + inner * share;
    return svg(
      "text",
      { x, y: bottom + 18, "text-anchor": anchor },
      share === 0 ? "0" : shortDuration(end * share),
    );
  });
  return [...rows, ...columns];
}

/** Commands of each row, of all columns. */
function byRow(turns: readonly number[], rows: number): number[] {
  const sums = Array<number>(rows).fill(0);
  for (const { row, count } of cellsOf(turns, rows)) sums[row] += count;
  return sums;
}

/** The sentence in place of the chart. */
export function densitySentence(op: IosView["ops"][number], { name, edges, turns }: Plot): string {
  const rows = byRow(turns(op), edges.length - 1);
  const used = rows.flatMap((count, row) => (count > 0 ? [row] : []));
  if (used.length === 0) return `${op.op}: ${separated(op.ios)} commands.`;
  const [first, last] = [used[0], used[used.length - 1]];
  const start = `${op.op}: ${separated(op.ios)} commands`;
  if (name === "offset") {
    const end = edges[edges.length - 1];
    return `${start}, from ${placeText(edges[first], end)} to ${placeText(edges[last + 1], end)}.`;
  }
  let left = op.ios / 2;
  const middle = rows.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return `${start}: half within ${shortDuration(edges[middle + 1])}, the slowest within ${shortDuration(edges[last + 1])}.`;
}

function tableOf(plot: Plot, view: IosView): TableData {
  const rows = plot.edges.length - 1;
  return {
    heads: ["Command", "Time from (s)", plot.head, "Commands"],
    rows: view.ops.flatMap((op) =>
      cellsOf(plot.turns(op), rows).map(({ column, row, count }) => [
        op.op,
        ((column * view.column_ns) / 1e9).toFixed(6),
        String(plot.edges[row]),
        String(count),
      ]),
    ),
  };
}

function densityChart(plot: Plot, view: IosView, whose: string): HTMLElement {
  const rows = plot.edges.length - 1;
  const drawn = view.ops.filter((op) => plot.turns(op).length > 0);
  const layers = drawn.map((op) => ({
    op: op.op,
    href: maskImage(cellsOf(plot.turns(op), rows), view.columns, rows),
  }));
  const title = `${plot.title}, ${whose}`;
  const figure = h(
    "figure",
    { class: "chart density", "data-plot": plot.name, "aria-label": title },
    h(
      "div",
      { class: "chart-head" },
      h("h4", {}, plot.title),
      h("span", { class: "quiet chart-unit" }, plot.unit),
    ),
    drawing(HEIGHT, (width) => [
      ...axes(plot, view, width),
      ...layers.flatMap(({ op, href }) => layer(op, href, width)),
    ]),
    h(
      "ul",
      { class: "passes-legend" },
      drawn.map((op) =>
        h("li", {}, h("span", { class: `passes-swatch density-swatch-${op.op}` }), densitySentence(op, plot)),
      ),
    ),
  );
  return withTools(figure, title, () => tableOf(plot, view));
}

const CHOICES: [RegExp, (rest: string) => string][] = [
  [/^all$/, () => "Every command has a point."],
  [/^slowest:(\d+)$/, (most) => `The slowest ${most} commands of each second have a point.`],
  [/^(.*)$/, (share) => `A random share of ${share} of the commands has a point.`],
];

/** The choice of commands in words, with those that got lost. */
export function choiceSentence(views: readonly IosView[]): string {
  const choice = views[0]?.choice ?? "";
  const [pattern, words] = CHOICES.find(([form]) => form.test(choice)) ?? CHOICES[0];
  const lost = views.reduce((sum, view) => sum + view.ios_lost, 0);
  const missing = lost > 0 ? ` ${separated(lost)} of them are missing, because they ended too fast.` : "";
  const read =
    "A command stands at the time of its end; the stronger the colour of a place, the more commands it has.";
  return `${words(pattern.exec(choice)?.[1] ?? "")}${missing} ${read} The rows are in ios.parquet of the run.`;
}

function chartsOf(run: Run): HTMLElement[] {
  const views = run.view.ios ?? [];
  const whose = plainRunName(run);
  const charts = views.map((view) =>
    h(
      "div",
      { class: "curves-grid" },
      plotsOf(view).map((plot) => densityChart(plot, view, whose)),
    ),
  );
  return [h("p", { class: "quiet" }, choiceSentence(views)), ...charts];
}

/** The section of all runs with single commands; null without any. */
export function commandsSection({ runs, others }: Library): HTMLElement | null {
  const having = [...runs, ...others].filter(({ view }) => (view.ios ?? []).length > 0);
  if (having.length === 0) return null;
  const open = having.length <= OPEN_MAX;
  return h(
    "section",
    { id: "commands", "aria-labelledby": "commands-title" },
    h("h2", { id: "commands-title" }, "Single commands"),
    having.map((run) =>
      open
        ? h("article", {}, h("h3", {}, `${heading(run.view.test)}: `, runName(run)), chartsOf(run))
        : lateFold("record", [`${heading(run.view.test)}: `, runName(run)], () =>
            h("div", {}, chartsOf(run)),
          ),
    ),
  );
}
