// Passes over the address space: MB/s against position, all passes of a run on the same axes.

import type { Pass } from "../data/schema.gen";
import { h } from "../dom";

const WIDTH = 720;
const HEIGHT = 220;
const LEFT = 52;
const BOTTOM = 30;
const TOP = 8;
const RIGHT = 10;

const SVG = "http://www.w3.org/2000/svg";

function svg(tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** A round number not below `value`: 1, 2 or 5 times a power of ten. */
export function roundTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}

/** `after_trim` as people write it. */
export function passName(phase: string): string {
  return phase.replaceAll("_", " ");
}

/** The slowest zone and the mean of zones, for the sentence that stands for the graph. */
export function passSentence(pass: Pass): string {
  const rates = pass.mb_per_s;
  // Zones are of one size, so the mean over the whole pass is the harmonic one.
  const mean = rates.length / rates.reduce((sum, rate) => sum + 1 / Math.max(rate, 1e-9), 0);
  return `${passName(pass.phase)}: ${mean.toFixed(0)} MB/s on average, slowest zone ${Math.min(...rates).toFixed(0)}.`;
}

export function passGraph(passes: readonly Pass[], title: string): HTMLElement {
  const most = roundTop(Math.max(...passes.flatMap((pass) => pass.mb_per_s)));
  const end = Math.max(...passes.map((pass) => pass.offset_bytes[pass.offset_bytes.length - 1] ?? 0), 1);
  const x = (offset: number) => LEFT + ((WIDTH - LEFT - RIGHT) * offset) / end;
  const y = (rate: number) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * rate) / most;
  const plot = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "passes-plot", "aria-hidden": "true" });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const rate = most * share;
    plot.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(rate), y2: y(rate), class: "passes-grid" }));
    const label = rate > 0 && rate < 10 ? rate.toFixed(1) : rate.toFixed(0);
    plot.append(svg("text", { x: LEFT - 6, y: y(rate) + 4, "text-anchor": "end" }, label));
    const at = x(end * share);
    const anchor = share === 1 ? "end" : "middle";
    plot.append(
      svg(
        "text",
        { x: at, y: HEIGHT - 10, "text-anchor": anchor },
        `${((end * share) / 1e9).toFixed(end < 2e10 ? 1 : 0)} GB`,
      ),
    );
  }
  passes.forEach((pass, slot) => {
    const points = pass.offset_bytes.map(
      (offset, at) => `${x(offset).toFixed(1)},${y(pass.mb_per_s[at] ?? 0).toFixed(1)}`,
    );
    plot.append(
      svg("polyline", {
        points: points.join(" "),
        class: "passes-line",
        style: `stroke: var(--run-${(slot % 4) + 1})`,
      }),
    );
  });
  return h(
    "figure",
    { class: "chart passes" },
    h(
      "div",
      { class: "chart-head" },
      h("h3", {}, title),
      h("span", { class: "quiet chart-unit" }, "MB/s by position"),
    ),
    plot,
    h(
      "ul",
      { class: "passes-legend" },
      passes.map((pass, slot) =>
        h(
          "li",
          {},
          h("span", { class: "passes-swatch", style: `background: var(--run-${(slot % 4) + 1})` }),
          passSentence(pass),
        ),
      ),
    ),
  );
}
