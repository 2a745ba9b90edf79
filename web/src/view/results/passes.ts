// Passes over the address space: MB/s against position, all passes of a run on the same axes.

import { byteStep, significant, withUnit } from "../../data/format";
import type { Pass } from "../../data/schema.gen";
import { h } from "../../dom";
import { type TableData, withTools } from "../parts/chart-tools";
import { drawing, svg } from "./svg";

const HEIGHT = 180;
const LEFT = 52;
const BOTTOM = 30;
const TOP = 8;
const RIGHT = 14;

/** Tops of an axis whose quarters are round as well. */
const TOPS = [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10];

/** A round number not below `value`. */
export function roundTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  // Sums of floats: 1.2 x 100,000 is a hair below 120,000.
  return power * (TOPS.find((step) => step * power >= value * (1 - 1e-9)) ?? 10);
}

/** `after_trim.r1` for people. */
export function passName(phase: string): string {
  return phase.replaceAll("_", " ").replace(/\.r(\d+)$/, ", round $1");
}

/** Whole numbers, but a slow zone must not read as one at rest. */
function rateText(rate: number): string {
  return rate < 10 ? significant(rate, 2) : rate.toFixed(0);
}

/** The slowest zone and the mean of zones, for the sentence in place of the graph. */
export function passSentence(pass: Pass): string {
  const rates = pass.mb_per_s;
  // Zones have one size, so the mean over the whole pass is the harmonic one.
  const mean = rates.length / rates.reduce((sum, rate) => sum + 1 / Math.max(rate, 1e-9), 0);
  const slowest = rateText(Math.min(...rates));
  const each = pass.zones_a_point ?? 1;
  const low = each > 1 ? `lowest median of ${each} zones ${slowest}` : `slowest zone ${slowest}`;
  return `${passName(pass.phase)}: ${rateText(mean)} MB/s on average, ${low}.`;
}

/** A place on an axis that ends there, in the unit of the end. */
export function placeText(offset: number, end: number): string {
  const [size, unit] = byteStep(end);
  return withUnit((offset / size).toFixed(end < 20 * size ? 1 : 0), unit);
}

function draw(passes: readonly Pass[], width: number): SVGElement[] {
  const most = roundTop(Math.max(...passes.flatMap((pass) => pass.mb_per_s)));
  const end = Math.max(...passes.map((pass) => pass.offset_bytes[pass.offset_bytes.length - 1] ?? 0), 1);
  const x = (offset: number) => LEFT + ((width - LEFT - RIGHT) * offset) / end;
  const y = (rate: number) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * rate) / most;
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const rate = most * share;
    const label = rate > 0 && rate < 10 ? rate.toFixed(1) : rate.toFixed(0);
    const anchor = share === 1 ? "end" : "middle";
    return [
      svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(rate), y2: y(rate), class: "passes-grid" }),
      svg("text", { x: LEFT - 6, y: y(rate) + 4, "text-anchor": "end" }, label),
      svg("text", { x: x(end * share), y: HEIGHT - 10, "text-anchor": anchor }, placeText(end * share, end)),
    ];
  });
  const lines = passes.map((pass, slot) => {
    const points = pass.offset_bytes.map(
      (offset, at) => `${x(offset).toFixed(1)},${y(pass.mb_per_s[at] ?? 0).toFixed(1)}`,
    );
    const style = `stroke: var(--run-${colorOf(slot)})`;
    return svg("polyline", { points: points.join(" "), class: "passes-line", style });
  });
  return [...ticks, ...lines];
}

/** Colour of a run, from 1; the page has six distinguishable ones. */
function colorOf(slot: number): number {
  return (slot % 6) + 1;
}

export function passGraph(passes: readonly Pass[], title: string, whose: string): HTMLElement {
  const chart = h(
    "figure",
    { class: "chart passes", "aria-label": `${title}: ${whose}` },
    h(
      "div",
      { class: "chart-head" },
      h("h3", {}, title),
      h("span", { class: "quiet chart-unit" }, "MB/s by position"),
    ),
    drawing(HEIGHT, (width) => draw(passes, width)),
    h(
      "ul",
      { class: "passes-legend" },
      passes.map((pass, slot) =>
        h(
          "li",
          {},
          h("span", { class: "passes-swatch", style: `background: var(--run-${colorOf(slot)})` }),
          passSentence(pass),
        ),
      ),
    ),
  );
  return withTools(chart, `${title}: ${whose}`, () => passTable(passes));
}

function passTable(passes: readonly Pass[]): TableData {
  const offsets = [...new Set(passes.flatMap(({ offset_bytes }) => offset_bytes))].sort((a, b) => a - b);
  const rates = passes.map(
    (pass) => new Map(pass.offset_bytes.map((offset, at) => [offset, pass.mb_per_s[at]])),
  );
  return {
    heads: ["Position (bytes)", ...passes.map(({ phase }) => `${passName(phase)} (MB/s)`)],
    rows: offsets.map((offset) => [String(offset), ...rates.map((one) => String(one.get(offset) ?? ""))]),
  };
}
