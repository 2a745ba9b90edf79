// Power of drives: bars for their states, and power beside IOPS second by second.

import { iops as iopsText, watts } from "../../data/format";
import type { Run } from "../../data/load";
import type { PowerSeries } from "../../data/schema.gen";
import { h } from "../../dom";
import { type TableData, withTools } from "../parts/chart-tools";
import { plainRunName, runName } from "../parts/name";
import { passName, roundTop } from "./passes";
import { drawing, svg, textWidth } from "./svg";

const STATES: [string, string][] = [
  ["slumber", "Slumber"],
  ["idle", "Idle, awake"],
  ["sequential_write", "Sequential write"],
  ["random_write", "Random write"],
];

const LEFT = 58;
const RIGHT = 14;
const TOP = 18;
const PANEL = 120;
const GAP = 26;
/** Names of states use two rows if one is too narrow. */
const ROWS = 2;
const ROW = 15;
const HEIGHT = TOP + 2 * PANEL + GAP + 11 + ROWS * ROW;
const COLORS = 6;

function metric({ view }: Run, state: string, end: string): number | null {
  return view.metrics[`power.${state}.${end}`] ?? null;
}

function highest(runs: readonly Run[]): number {
  const powers = runs.flatMap((run) =>
    STATES.flatMap(([state]) => [metric(run, state, "power_w_mean"), metric(run, state, "power_w_max")]),
  );
  return Math.max(...powers.map((power) => power ?? 0), 1e-3);
}

function barText(run: Run, state: string): string {
  const mean = metric(run, state, "power_w_mean");
  if (mean === null) return "not measured";
  const max = metric(run, state, "power_w_max");
  const energy = metric(run, state, "energy_j_per_gb");
  const peak = max !== null && max > mean * 1.005 ? `, peak ${watts(max)}` : "";
  return `${watts(mean)}${peak}${energy === null ? "" : `, ${energy.toFixed(1)} J/GB`}`;
}

function bar(run: Run, state: string, color: number, top: number): HTMLElement {
  const mean = metric(run, state, "power_w_mean");
  const max = metric(run, state, "power_w_max") ?? mean;
  const share = (power: number | null) => `${((100 * (power ?? 0)) / top).toFixed(1)}%`;
  return h(
    "div",
    { class: "power-bar", style: `--color: var(--run-${color})` },
    h(
      "span",
      { class: "power-track", "aria-hidden": "true" },
      h("span", { class: "power-fill", style: `width: ${share(mean)}` }),
      mean !== null && h("span", { class: "power-peak", style: `left: ${share(max)}` }),
    ),
    h("span", { class: "power-text" }, barText(run, state)),
  );
}

/** One group of bars per state, one bar per drive, all on one scale. */
export function powerBars(runs: readonly Run[]): HTMLElement {
  const top = highest(runs);
  const group = ([state, label]: [string, string]) =>
    h(
      "div",
      { class: "power-state", "data-state": state },
      h("h4", {}, label),
      runs.map((run, slot) => [
        runs.length > 1 && h("p", { class: "power-name small" }, runName(run)),
        bar(run, state, (slot % COLORS) + 1, top),
      ]),
    );
  return h(
    "figure",
    { class: "chart power", "aria-label": `What it draws: ${runs.map(plainRunName).join("; ")}` },
    h(
      "div",
      { class: "chart-head" },
      h("h3", {}, "What it draws"),
      h("span", { class: "quiet chart-unit" }, "mean power, the mark is the highest reading"),
    ),
    STATES.map(group),
    h("p", { class: "quiet small" }, "500 to 1,000 mW of slumber power are what hurts a notebook."),
  );
}

/** One of the two graphs above each other. */
interface Panel {
  top: number;
  most: number;
  unit: string;
  tick: (value: number) => string;
}

interface Line {
  panel: Panel;
  values: (one: PowerSeries) => (number | null)[];
  class: string;
}

/** The begin of each state on the common axis, and the end of the last one, in seconds. */
function starts(series: readonly PowerSeries[]): { begin: number[]; end: number } {
  let end = 0;
  const begin = series.map(({ time_s }) => {
    const at = end;
    end += (time_s[time_s.length - 1] ?? 0) + 1;
    return at;
  });
  return { begin, end: Math.max(end, 1) };
}

function most(values: (number | null)[]): number {
  return roundTop(values.reduce((top: number, value) => Math.max(top, value ?? 0), 0));
}

function linesOf(series: readonly PowerSeries[]): Line[] {
  const power: Panel = {
    top: TOP,
    most: most(series.flatMap(({ power_w_max }) => power_w_max)),
    unit: "W",
    tick: (value) => value.toFixed(1),
  };
  const commands: Panel = {
    top: TOP + PANEL + GAP,
    most: most(series.flatMap(({ iops }) => iops)),
    unit: "IOPS",
    tick: iopsText,
  };
  return [
    { panel: power, values: (one) => one.power_w_max, class: "passes-line power-max" },
    { panel: power, values: (one) => one.power_w, class: "passes-line" },
    { panel: commands, values: (one) => one.iops, class: "passes-line" },
  ];
}

function grid({ top, most: value, unit, tick }: Panel, width: number): SVGElement[] {
  const ticks = [0, 0.5, 1].flatMap((share) => {
    const y = top + PANEL * (1 - share);
    return [
      svg("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "passes-grid" }),
      svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, tick(value * share)),
    ];
  });
  return [...ticks, svg("text", { x: width - RIGHT, y: top - 5, "text-anchor": "end" }, unit)];
}

/** Unbroken runs of points; a second without a reading is a gap. */
function stretches(points: (string | null)[]): string[] {
  const joined = points.map((point) => point ?? "|").join(" ");
  return joined
    .split("|")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Places of the names of the states: near their begin, in the first row with room, inside the drawing. */
export function stateLabels(names: readonly string[], from: readonly number[], width: number) {
  const free: number[] = Array(ROWS).fill(0);
  return names.flatMap((name, at) => {
    const left = Math.max(0, Math.min((from[at] ?? 0) + 4, width - textWidth(name)));
    const row = free.findIndex((end) => left >= end);
    if (row < 0) return [];
    free[row] = left + textWidth(name) + 8;
    return [{ name, left, row }];
  });
}

function draw(series: readonly PowerSeries[], slot: number, width: number): SVGElement[] {
  const { begin, end } = starts(series);
  const x = (second: number) => LEFT + ((width - LEFT - RIGHT) * second) / end;
  const lines = linesOf(series);
  const style = `stroke: var(--run-${(slot % COLORS) + 1})`;
  const bottom = TOP + 2 * PANEL + GAP;
  const line = (one: PowerSeries, from: number, { panel, values, class: name }: Line) => {
    const y = (value: number) => (panel.top + PANEL * (1 - value / panel.most)).toFixed(1);
    const at = (k: number) => x(from + (one.time_s[k] ?? 0) + 0.5).toFixed(1);
    const points = values(one).map((value, k) => (value === null ? null : `${at(k)},${y(value)}`));
    return stretches(points).map((stretch) => svg("polyline", { points: stretch, class: name, style }));
  };
  const states = series.flatMap((one, at) => {
    const from = begin[at] ?? 0;
    return [
      svg("line", { x1: x(from), x2: x(from), y1: TOP, y2: bottom, class: "passes-grid" }),
      ...lines.flatMap((each) => line(one, from, each)),
    ];
  });
  const names = series.map(({ phase }) => passName(phase));
  const labels = stateLabels(names, begin.map(x), width).map(({ name, left, row }) =>
    svg("text", { x: left, y: bottom + 14 + row * ROW, class: "state-label" }, name),
  );
  return [...lines.slice(1).flatMap(({ panel }) => grid(panel, width)), ...states, ...labels];
}

export function powerGraph(series: readonly PowerSeries[], slot: number, whose: string): HTMLElement {
  const chart = h(
    "figure",
    { class: "chart passes power-graph", "aria-label": `Power beside IOPS: ${whose}` },
    h(
      "div",
      { class: "chart-head" },
      h("h3", {}, "Power beside IOPS"),
      h("span", { class: "quiet chart-unit" }, "mean of each second; the thin line is its highest reading"),
    ),
    drawing(HEIGHT, (width) => draw(series, slot, width)),
    h(
      "ul",
      { class: "passes-legend" },
      series.map((one) => h("li", {}, powerSentence(one))),
    ),
  );
  return withTools(chart, `Power beside IOPS: ${whose}`, () => powerTable(series));
}

function powerTable(series: readonly PowerSeries[]): TableData {
  const text = (value: number | null | undefined) => String(value ?? "");
  return {
    heads: ["State", "Second", "Mean power (W)", "Highest power (W)", "IOPS"],
    rows: series.flatMap((one) =>
      one.time_s.map((second, at) => [
        passName(one.phase),
        String(second),
        text(one.power_w[at]),
        text(one.power_w_max[at]),
        text(one.iops[at]),
      ]),
    ),
  };
}

/** The sentence in place of the graph of one state. */
export function powerSentence({ phase, power_w }: PowerSeries): string {
  const known = power_w.filter((power) => power !== null);
  if (known.length === 0) return `${passName(phase)}: nothing was read.`;
  const [low, high] = [Math.min(...known), Math.max(...known)].map(watts);
  const range = low === high ? `${low} in every second` : `${low} to ${high} from second to second`;
  return `${passName(phase)}: ${range}.`;
}
