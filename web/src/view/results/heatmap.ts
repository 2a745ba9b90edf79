// A table as a heat map: a cell for each value, darker the larger its logarithm; one map for each run.

import type { Run } from "../../data/load";
import type { Table } from "../../data/schema.gen";
import { h } from "../../dom";
import { type TableData, withTools } from "../parts/chart-tools";
import { plainRunName } from "../parts/name";
import { drawing, svg, textWidth } from "./svg";
import { cellText } from "./tables";

const ROW_HEIGHT = 26;
/** Room for the labels of rows; on a phone the cells need it more. */
const LEFT = 64;
const LEFT_NARROW = 46;
const NARROW = 480;
const BOTTOM = 44;
/** Width of a letter in the cells, of 11 px. */
const LETTER = 6.3;
/** Opacity of the smallest value and of the largest: text stays readable on both. */
const SHADES: [number, number] = [0.08, 0.62];
const MISSING = "not measured, or its rates were not kept";

/** Place of a value between the extremes, 0 to 1, by logarithms. */
export function shade(value: number, least: number, most: number): number {
  if (value <= 0 || least <= 0 || most <= least) return 0;
  return (Math.log(value) - Math.log(least)) / (Math.log(most) - Math.log(least));
}

/** The smallest and the largest positive value; null without any. */
export function extremes(table: Table): [number, number] | null {
  const values = table.rows.flatMap(({ values }) => values.filter((value) => value !== null && value > 0));
  const known = values.map((value) => value ?? 0);
  return known.length > 0 ? [Math.min(...known), Math.max(...known)] : null;
}

/**
 * The texts of the cells: whole, else with two digits; null where they do not fit, since a map with some of its numbers
 * would mislead.
 */
export function cellTexts(
  values: readonly number[],
  unit: string,
  width: number,
): ((value: number) => string) | null {
  const short = (value: number) =>
    cellText(Number(value.toPrecision(2)), unit).replace(/\.(\d)\d(?=\D)/, ".$1");
  const fits = (text: (value: number) => string) =>
    values.every((value) => text(value).length * LETTER <= width);
  return [(value: number) => cellText(value, unit), short].find(fits) ?? null;
}

function cell(
  value: number | null,
  unit: string,
  box: Record<string, number>,
  range: [number, number],
  texts: ((value: number) => string) | null,
) {
  if (value === null) {
    const text = svg("text", { x: box.x + box.width / 2, y: box.y + 17, "text-anchor": "middle" }, "–");
    return [svg("rect", { ...box, class: "heat-none" }, svg("title", {}, MISSING)), text];
  }
  const opacity = SHADES[0] + (SHADES[1] - SHADES[0]) * shade(value, ...range);
  const rect = svg(
    "rect",
    { ...box, class: "heat-cell", "fill-opacity": opacity.toFixed(3) },
    svg("title", {}, cellText(value, unit)),
  );
  if (!texts) return [rect];
  const place = { x: box.x + box.width / 2, y: box.y + 17, "text-anchor": "middle", class: "heat-text" };
  return [rect, svg("text", place, texts(value))];
}

/** Rows upwards, as on the axis of a graph. */
function draw(table: Table, range: [number, number], width: number): SVGElement[] {
  const [rows, columns] = [[...table.rows].reverse(), table.columns];
  const left = width < NARROW ? LEFT_NARROW : LEFT;
  const step = (width - left) / Math.max(columns.length, 1);
  const bottom = rows.length * ROW_HEIGHT;
  const [rowName, columnName] = table.row_name.split(" \\ ");
  const known = rows.flatMap(({ values }) => values.filter((value) => value !== null));
  const texts = cellTexts(known, columns[0]?.unit ?? "", step - 1);
  const cells = rows.flatMap(({ label, values }, row) => [
    svg("text", { x: left - 6, y: row * ROW_HEIGHT + 17, "text-anchor": "end" }, label),
    ...values.flatMap((value, at) => {
      const box = { x: left + at * step, y: row * ROW_HEIGHT, width: step - 1, height: ROW_HEIGHT - 1 };
      return cell(value, columns[at]?.unit ?? "", box, range, texts);
    }),
  ]);
  // Only as many labels as there is room for.
  const every = Math.ceil((Math.max(...columns.map(({ name }) => textWidth(name))) + 6) / step);
  const heads = columns.flatMap(({ name }, at) =>
    at % every === 0
      ? [svg("text", { x: left + (at + 0.5) * step, y: bottom + 17, "text-anchor": "middle" }, name)]
      : [],
  );
  const axes = columnName ? `${columnName} across, ${rowName} upwards` : rowName;
  const middle = (left + width) / 2;
  return [...cells, ...heads, svg("text", { x: middle, y: bottom + 38, "text-anchor": "middle" }, axes)];
}

function data({ row_name, columns, rows }: Table): TableData {
  return {
    heads: [row_name, ...columns.map(({ name, unit }) => (unit === "" ? name : `${name} (${unit})`))],
    rows: rows.map(({ label, values }) => [
      label,
      ...values.map((value) => (value === null ? "" : String(value))),
    ]),
  };
}

/** The heat map of a table of one run, or null if it has no values. */
function heatMap(run: Run, name: string): HTMLElement | null {
  const table = run.view.tables.find((one) => one.name === name);
  const range = table ? extremes(table) : null;
  if (!table || !range) return null;
  const label = `${table.title}: ${plainRunName(run)}`;
  const unit = table.columns[0]?.unit ?? "";
  const scale = `${cellText(range[0], unit)} to ${cellText(range[1], unit)}, shades on a log scale`;
  const figure = h(
    "figure",
    { class: "chart heat-map", "data-plot": name, "aria-label": label },
    h(
      "div",
      { class: "chart-head" },
      h("h3", {}, table.title),
      h("span", { class: "quiet chart-unit" }, scale),
    ),
    drawing(table.rows.length * ROW_HEIGHT + BOTTOM, (width) => draw(table, range, width)),
    h("figcaption", { class: "quiet" }, plainRunName(run)),
  );
  return withTools(figure, label, () => data(table));
}

/** The heat maps of these tables, run by run. */
export function heatMaps(names: readonly string[], runs: readonly Run[]): HTMLElement[] {
  return runs.flatMap((run) => names.flatMap((name) => heatMap(run, name) ?? []));
}
