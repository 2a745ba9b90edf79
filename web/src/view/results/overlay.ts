// The passes of all drives over their address spaces, one plot for each pass: drives of unlike sizes share the axis.

import type { Run } from "../../data/load";
import type { Pass } from "../../data/schema.gen";
import { h, lateFold } from "../../dom";
import { plainRunName } from "../parts/name";
import { COLORS, type Curve, curveGraph, type Many } from "./curves";
import { passName } from "./passes";

/** Parts of the address space: each is a point of a line. */
const PARTS = 50;

/** Mean rate of each part of the address space; null where no zone begins. */
export function byPart({ offset_bytes, mb_per_s }: Pass, parts = PARTS): (number | null)[] {
  const last = offset_bytes[offset_bytes.length - 1] ?? 0;
  const end = last + (offset_bytes[1] ?? 1) - (offset_bytes[0] ?? 0);
  const sums = Array.from({ length: parts }, () => ({ sum: 0, count: 0 }));
  offset_bytes.forEach((offset, at) => {
    const part = sums[Math.min(parts - 1, Math.floor((parts * offset) / end))];
    part.sum += mb_per_s[at] ?? 0;
    part.count += 1;
  });
  return sums.map(({ sum, count }) => (count === 0 ? null : sum / count));
}

function passOf({ view }: Run, phase: string): Pass | undefined {
  return view.passes.find((pass) => pass.phase === phase);
}

function linesOf(runs: readonly Run[], phase: string, { ownerOf }: Many): Curve[] {
  return runs.flatMap((run, slot) => {
    const pass = passOf(run, phase);
    if (!pass) return [];
    const color = (slot % COLORS) + 1;
    return [
      { name: plainRunName(run), values: byPart(pass), color, dashed: false, owner: ownerOf(run, runs) },
    ];
  });
}

function plot(runs: readonly Run[], phase: string, many: Many): HTMLElement {
  const labels = Array.from({ length: PARTS }, (_, at) => `${Math.round((100 * at) / PARTS)}%`);
  const title = passName(phase);
  const label = `${title}: ${runs.length} runs over the address space`;
  const curves = linesOf(runs, phase, many);
  return curveGraph(phase, { title, label, unit: "MB/s", rowName: "position", labels, curves }, many.recolor);
}

/** A fold with the plots, drawn when a reader opens it; nothing for a test without passes of several drives. */
export function passOverlay(runs: readonly Run[], many: Many): HTMLElement | null {
  const having = runs.filter(({ view }) => view.passes.length > 0);
  if (having.length < 2) return null;
  const phases = [...new Set(having.flatMap(({ view }) => view.passes.map(({ phase }) => phase)))];
  return lateFold("overlay", "All drives over the address space", () =>
    h(
      "div",
      { class: "curves-grid" },
      phases.map((phase) => plot(having, phase, many)),
    ),
  );
}
