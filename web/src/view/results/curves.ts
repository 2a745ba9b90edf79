// Tables as curves: one line per column, all runs of a test on the same axes.

import { tick } from "../../data/format";
import type { Run } from "../../data/load";
import { plainName, spareLabel } from "../../data/load";
import type { Source } from "../../data/products";
import type { Table } from "../../data/schema.gen";
import type { Curves } from "../../data/tests";
import { h } from "../../dom";
import { type TableData, withTools } from "../parts/chart-tools";
import { plainRunName } from "../parts/name";
import { sourceSign } from "../parts/source";
import { roundTop } from "./passes";
import { drawing, svg, textWidth } from "./svg";
import { cellText } from "./tables";

const HEIGHT = 200;
/** A level, and one of several small plots, need less. */
const HEIGHT_LEVEL = 180;
const TOP = 10;
const RIGHT = 14;
const BOTTOM = 44;
const LEFT = 58;
/** Distance between two labels of the x axis. */
const GAP = 12;
/** More points than these are drawn without dots. */
const DOTTED_MAX = 40;

export interface Curve {
  name: string;
  /** One value a label of the x axis. */
  values: (number | null)[];
  /** Number of its colour, from 1. */
  color: number;
  dashed: boolean;
  /** Its drive among several, which then gives the colour. */
  owner?: Owner;
  /** The column of its drive, where the plot has several. */
  column?: string;
}

/** The drive of a curve, as the legend names it. */
export interface Owner {
  product: string;
  name: string;
  source: Source;
}

/** A part of the x axis with its level: the steady rounds. */
export interface Level {
  from: number;
  to: number;
  mean: number;
}

export interface CurvePlot {
  title: string;
  /** The title with the name of the run. */
  label?: string;
  unit: string;
  rowName: string;
  labels: string[];
  curves: Curve[];
  level?: Level | null;
  /** Whether each row has about twice the value of the one before. */
  isLog?: boolean;
}

const SIZES: Record<string, number> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** The number in a label: `4KiB`, `32`, `65%`; null if it has none. */
export function labelNumber(label: string): number | null {
  const parts = /^(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|%)?$/.exec(label);
  return parts ? Number(parts[1]) * (SIZES[parts[2] ?? ""] ?? 1) : null;
}

/** Places of the labels along the axis, 0 to 1: by their numbers if they have some, else evenly. */
export function places(isLog: boolean, labels: readonly string[]): number[] {
  const numbers = labels.map(labelNumber);
  const evenly = labels.map((_, at) => (labels.length > 1 ? at / (labels.length - 1) : 0.5));
  if (labels.length < 2 || numbers.some((number) => number === null)) return evenly;
  const of = (value: number) => (isLog ? Math.log2(Math.max(value, 1)) : value);
  const values = numbers.map((number) => of(number ?? 0));
  const [first, last] = [values[0], values[values.length - 1]];
  return first === last ? evenly : values.map((value) => (value - first) / (last - first));
}

interface YAxis {
  ticks: number[];
  /** 0 at the bottom, 1 at the top. */
  place: (value: number) => number;
}

/** Rates from zero; latencies over decades, because they span several. */
export function yAxis(values: readonly number[], unit: string): YAxis {
  const most = Math.max(...values, 0);
  const positive = values.filter((value) => value > 0);
  if (unit === "ns" && positive.length > 0) {
    const low = Math.floor(Math.log10(Math.min(...positive)));
    const high = Math.max(low + 1, Math.ceil(Math.log10(most)));
    const ticks = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
    return { ticks, place: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low) };
  }
  const top = roundTop(most);
  return { ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * top), place: (value) => value / top };
}

function tickText(value: number, unit: string): string {
  if (unit === "ns" || unit === "bytes") return cellText(value, unit);
  return tick(value);
}

function path(points: readonly ([number, number] | null)[]): string {
  let gap = true;
  return points
    .map((point) => {
      const step = point && `${gap ? "M" : "L"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
      gap = point === null;
      return step ?? "";
    })
    .join("");
}

/** The labels with enough room, the first ones first. */
function xLabels(
  labels: readonly string[],
  x: (at: number) => number,
  width: number,
  height: number,
): SVGElement[] {
  let free = 0;
  return labels.flatMap((label, at) => {
    const half = textWidth(label) / 2;
    // A label at the edge ends there, for any width of its letters.
    const atEdge = x(at) + half > width;
    const left = atEdge ? width - 2 * half : Math.max(0, x(at) - half);
    if (left < free) return [];
    free = left + 2 * half + GAP;
    const place = atEdge ? { x: width, "text-anchor": "end" } : { x: left + half, "text-anchor": "middle" };
    return [svg("text", { ...place, y: height - BOTTOM + 17 }, label)];
  });
}

function draw(plot: CurvePlot, width: number, height: number): SVGElement[] {
  const { labels, curves, unit } = plot;
  const known = curves.flatMap(({ values }) => values.filter((value) => value !== null));
  const axis = yAxis(known, unit);
  const across = places(plot.isLog ?? false, labels);
  const x = (at: number) => LEFT + (width - LEFT - RIGHT) * across[at];
  const y = (value: number) => height - BOTTOM - (height - BOTTOM - TOP) * axis.place(value);
  const isDotted = labels.length <= DOTTED_MAX && curves.length <= 2 * COLORS;
  const drawn: SVGElement[] = axis.ticks.flatMap((tick) => [
    svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: "passes-grid" }),
    svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick, unit)),
  ]);
  drawn.push(...xLabels(labels, x, width, height));
  const middle = (LEFT + width - RIGHT) / 2;
  drawn.push(svg("text", { x: middle, y: height - 6, "text-anchor": "middle" }, plot.rowName));
  if (plot.level) drawn.push(...levelMarks(plot.level, x, y));
  for (const curve of curves) {
    const points = curve.values.map((value, at): [number, number] | null =>
      value === null ? null : [x(at), y(value)],
    );
    const dots = points.flatMap((point, at) => {
      if (!isDotted || !point) return [];
      const text = `${curve.name}, ${labels[at]}: ${cellText(curve.values[at] ?? 0, unit)} ${unit === "ns" ? "" : unit}`;
      const dot = { cx: point[0], cy: point[1], r: 3, style: `fill: ${inkOf(curve)}` };
      return [svg("circle", dot, svg("title", {}, text.trim()))];
    });
    drawn.push(...lineOf(curve, path(points), dots));
  }
  return drawn;
}

function inkOf({ owner, color }: Curve): string {
  return owner ? "var(--slot)" : `var(--run-${color})`;
}

/** A line of a drive among several has a wider one around it for the pointer. */
function lineOf(curve: Curve, d: string, dots: readonly SVGElement[]): SVGElement[] {
  const { owner, name, dashed } = curve;
  const look = `passes-line${dashed ? " dashed" : ""}`;
  if (!owner) return [svg("path", { d, class: look, style: `stroke: ${inkOf(curve)}` }), ...dots];
  const reach = svg("path", { d, class: "many-reach" });
  const drawn = [svg("title", {}, name), reach, svg("path", { d, class: look }), ...dots];
  return [svg("g", { class: "many-line", "data-product": owner.product }, ...drawn)];
}

/** The window of steady state: its mean, and the permitted 10% to either side. */
function levelMarks(level: Level, x: (at: number) => number, y: (value: number) => number): SVGElement[] {
  const [from, to] = [x(level.from), x(level.to)];
  const [high, low] = [y(level.mean * 1.1), y(level.mean * 0.9)];
  return [
    svg("rect", { x: from, y: high, width: to - from, height: low - high, class: "level-band" }),
    svg("line", { x1: from, x2: to, y1: y(level.mean), y2: y(level.mean), class: "level-mean" }),
  ];
}

/** A key for each curve; of several drives one for each, and then one for each of their columns. */
function legend(curves: readonly Curve[]): HTMLElement[] {
  const line = (isDashed: boolean, ink: string) =>
    h("span", { class: isDashed ? "curve-key dashed" : "curve-key", style: `border-color: ${ink}` });
  const firsts = curves.filter(
    ({ owner }, at) => !owner || curves.findIndex((one) => one.owner?.product === owner.product) === at,
  );
  const drives = firsts.map((curve) => {
    const { owner } = curve;
    const name = owner ? [sourceSign(owner.source), owner.name] : curve.name;
    const of = { "data-product": owner?.product, class: owner ? "signed" : null };
    return h("li", of, line(!owner && curve.dashed, inkOf(curve)), name);
  });
  const columns = curves.filter(
    ({ column }, at) => column !== undefined && curves.findIndex((one) => one.column === column) === at,
  );
  return [
    ...drives,
    ...columns.map(({ column, dashed }) => h("li", {}, line(dashed, "var(--ink-2)"), column ?? "")),
  ];
}

export function curveGraph(
  name: string,
  plot: CurvePlot,
  recolor: (within: HTMLElement) => void = () => undefined,
): HTMLElement {
  const many = plot.curves.some(({ owner }) => owner !== undefined);
  const height = plot.level === undefined && !many ? HEIGHT : HEIGHT_LEVEL;
  const scale = plot.unit === "ns" ? "latency, log scale" : plot.unit;
  const band = "The band lies 10% to either side of the mean of the five rounds that are steady.";
  return withTools(
    h(
      "figure",
      { class: "chart curves", "data-plot": name, "aria-label": plot.label ?? plot.title },
      h(
        "div",
        { class: "chart-head" },
        h("h3", {}, plot.title),
        h("span", { class: "quiet chart-unit" }, `${scale} by ${plot.rowName}`),
      ),
      drawing(height, (width) => draw(plot, width, height), recolor),
      h("ul", { class: many ? "passes-legend many-legend" : "passes-legend" }, legend(plot.curves)),
      plot.level && h("figcaption", { class: "quiet" }, band),
    ),
    plot.label ?? plot.title,
    () => curveTable(plot),
  );
}

function curveTable({ rowName, labels, curves, unit }: CurvePlot): TableData {
  const text = (value: number | null | undefined) => (typeof value === "number" ? String(value) : "");
  return {
    heads: [rowName, ...curves.map(({ name }) => (unit === "" ? name : `${name} (${unit})`))],
    rows: labels.map((label, at) => [label, ...curves.map(({ values }) => text(values[at]))]),
  };
}

/** Colours distinguish runs if there are several, else columns. */
export const COLORS = 6;

/** Of several runs, more columns than these in one plot could not be told apart. */
const COLUMNS_MAX = 2;

/** One column of a table, a line for each drive. */
function columnLines(runs: readonly Run[], name: string, at: number, { ownerOf }: Many): Curve[] {
  return runs.map((run, slot) => {
    const table = run.view.tables.find((one) => one.name === name);
    const values = table?.rows.map(({ values }) => values[at] ?? null) ?? [];
    const color = (slot % COLORS) + 1;
    return { name: plainRunName(run), values, color, dashed: false, owner: ownerOf(run, runs) };
  });
}

interface Shape {
  color: number;
  dashed: boolean;
}

/**
 * A shape for each column of one run, all different: where reads and writes have the same columns, a colour for each
 * pair, and dashes for the writes.
 */
export function columnShapes(names: readonly string[]): Shape[] {
  const told = names.map((name) => name.replace(/^(read|write) /, ""));
  const pairs = [...new Set(told)];
  if (names.length > COLORS && pairs.length <= COLORS) {
    return names.map((name, at) => ({
      color: pairs.indexOf(told[at]) + 1,
      dashed: name.startsWith("write "),
    }));
  }
  return names.map((_, at) => ({ color: (at % COLORS) + 1, dashed: at >= COLORS }));
}

function linesOf(runs: readonly Run[], name: string, unit: string, { ownerOf }: Many): Curve[] {
  return runs.flatMap((run, slot) => {
    const table = run.view.tables.find((one) => one.name === name);
    const columns = columnsOf(table, unit);
    const shapes = columnShapes(columns.map((column) => column.name));
    return columns.map((column, order) => ({
      name: runs.length > 1 ? `${plainRunName(run)}: ${column.name}` : column.name,
      values: table?.rows.map(({ values }) => values[column.at] ?? null) ?? [],
      ...(runs.length > 1 ? { color: (slot % COLORS) + 1, dashed: order > 0 } : shapes[order]),
      owner: ownerOf(run, runs),
      column: columns.length > 1 && ownerOf(run, runs) ? column.name : undefined,
    }));
  });
}

/** The columns of a unit, with their places. */
function columnsOf(table: Table | undefined, unit: string): (Table["columns"][number] & { at: number })[] {
  const columns = table?.columns.map((column, at) => ({ ...column, at })) ?? [];
  return columns.filter((column) => column.unit === unit);
}

/** The drives of curves, and their colours on this page. */
export interface Many {
  /** The drive of one of these runs; missing for a single one, and where a drive has several of them. */
  ownerOf: (run: Run, runs: readonly Run[]) => Owner | undefined;
  recolor: (within: HTMLElement) => void;
}

/**
 * A plot for each unit of a table that is curves, all runs together where their rows are the same. More runs than
 * colours have a plot for each column.
 */
export function curveGraphs(curves: Curves, runs: readonly Run[], many: Many): HTMLElement[] {
  const having = runs.filter(({ view }) => view.tables.some((table) => table.name === curves.table));
  return having.length === 0 ? [] : curves.units.flatMap((unit) => plotsOf(having, curves, unit, many));
}

/** Without unmeasured rows at either end: the axis need not cover them. */
function measuredOnly(plot: CurvePlot): CurvePlot {
  const known = plot.labels.map((_, at) => plot.curves.some(({ values }) => (values[at] ?? null) !== null));
  const [from, to] = [known.indexOf(true), known.lastIndexOf(true) + 1];
  const curves = plot.curves.map((curve) => ({ ...curve, values: curve.values.slice(from, to) }));
  return { ...plot, labels: plot.labels.slice(from, to), curves };
}

/** A small plot for each column, with a line for each drive. */
function columnPlots(runs: readonly Run[], drawn: Curves, unit: string, many: Many): HTMLElement[] {
  const table = runs[0].view.tables.find((one) => one.name === drawn.table);
  return columnsOf(table, unit).flatMap(({ name, at }) => {
    const curves = columnLines(runs, drawn.table, at, many);
    const known = curves.some(({ values }) => values.some((value) => value !== null));
    if (!table || !known) return [];
    const title = `${table.title}: ${name}`;
    const label = `${title}, ${runs.length} drives`;
    const labels = table.rows.map((row) => row.label);
    const whole = { title, label, unit, rowName: table.row_name, labels, curves, isLog: drawn.log_rows };
    const plot = measuredOnly(whole);
    // Points above a single label are no curves.
    return plot.labels.length < 2 ? [] : [curveGraph(drawn.table, plot, many.recolor)];
  });
}

function plotsOf(runs: readonly Run[], drawn: Curves, unit: string, many: Many): HTMLElement[] {
  const { table: name, log_rows: isLog } = drawn;
  const tables = runs.map(({ view }) => view.tables.find((table) => table.name === name));
  const labels = (table: Table | undefined) => table?.rows.map(({ label }) => label) ?? [];
  const same = tables.every((table) => labels(table).join() === labels(tables[0]).join());
  const columns = columnsOf(tables[0], unit).length;
  if (same && (runs.length > COLORS || (runs.length > 1 && columns > COLUMNS_MAX)))
    return columnPlots(runs, drawn, unit, many);
  const groups = same ? [runs] : runs.map((run) => [run]);
  return groups.flatMap((group) => {
    const table = group[0].view.tables.find((one) => one.name === name);
    const curves = linesOf(group, name, unit, many);
    const known = curves.some(({ values }) => values.some((value) => value !== null));
    if (!table || !known) return [];
    const whose = same ? "" : `: ${plainName(group[0])}, ${spareLabel(group[0].variant)}`;
    const title = `${table.title}${whose}`;
    const what = unit === "ns" ? "latency" : unit;
    const label = `${table.title}, ${what}: ${group.map(plainRunName).join("; ")}`;
    const rowName = table.row_name;
    const plot = measuredOnly({ title, label, unit, rowName, labels: labels(table), curves, isLog });
    return plot.labels.length < 2 ? [] : [curveGraph(name, plot, many.recolor)];
  });
}

/** The rounds of a PTS test up to steady state. */
export function convergence(run: Run): HTMLElement[] {
  const rounds = run.view.tables.filter(({ name }) => name.startsWith("rounds"));
  return rounds
    .filter(({ rows }) => rows.length > 0)
    .map((table) => {
      const column = table.columns[0];
      const values = table.rows.map((row) => row.values[0] ?? null);
      const curve = { name: column.name, values, color: 1, dashed: false };
      const labels = table.rows.map(({ label }) => label);
      const { title, row_name: rowName } = table;
      const label = `${title}: ${plainRunName(run)}`;
      const plot = { title, label, unit: column.unit, rowName, labels, curves: [curve] };
      return curveGraph(table.name, { ...plot, level: steadyLevel(run, table) });
    });
}

/** Rounds in the window of the specification. */
const WINDOW = 5;

export function steadyLevel({ view }: Run, table: Table): Level | null {
  const stage = table.name.replace(/^rounds_?/, "");
  const metric = (name: string) => view.metrics[[view.test, stage, name].filter(Boolean).join(".")];
  const [from, mean] = [metric("steady_from_round"), metric("steady_mean")];
  if (typeof from !== "number" || typeof mean !== "number") return null;
  return { from: from - 1, to: Math.min(from - 1 + WINDOW, table.rows.length) - 1, mean };
}
