// The first line of a page on which not every run is a whole one: what the others are, and that they rank nobody.

import { spareLabel } from "../../data/load";
import { hasMark, type Lack, lackOf, statusWord } from "../../data/marks";
import { type Product, runsOf } from "../../data/products";
import { h } from "../../dom";

/** More names than these are a number. */
const NAMES_MAX = 3;

const MEANING: Record<Lack, string> = {
  quick: "a fresh drive, most often a part of it, for a short time and not steady",
  "not-steady": "steady state was not reached",
  incomplete: "without an end",
};

interface Lacking {
  runs: number;
  drives: Set<string>;
  words: Set<string>;
}

function lacking(products: readonly Product[]): Map<Lack, Lacking> {
  const found = new Map<Lack, Lacking>();
  for (const { plain, runs } of products) {
    for (const run of runs) {
      const lack = lackOf(run);
      if (lack === null) continue;
      const known = found.get(lack) ?? { runs: 0, drives: new Set(), words: new Set() };
      known.runs += 1;
      known.drives.add(plain);
      known.words.add(lack === "incomplete" ? statusWord(run) : spareLabel(run.view.span.variant));
      found.set(lack, known);
    }
  }
  return found;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function namesOf(drives: ReadonlySet<string>): string {
  return drives.size > NAMES_MAX ? counted(drives.size, "drive") : [...drives].join(", ");
}

function leftOut(lack: Lack, { runs, drives, words }: Lacking): string {
  const kind = lack === "incomplete" ? [...words].join(" or ") : lack === "quick" ? "quick" : "not steady";
  return `${counted(runs, `${kind} run`)} of ${namesOf(drives)} (${MEANING[lack]})`;
}

/** Nothing if every run is whole. */
export function wholeNote(products: readonly Product[]): HTMLElement | null {
  const found = lacking(products);
  if (found.size === 0) return null;
  const total = products.reduce((sum, { runs }) => sum + runs.length, 0);
  const quick = found.get("quick");
  const note = (lack: Lack | "every-quick", ...text: (Node | string)[]) =>
    h("p", { class: "notice notice-warn", id: "whole-note", role: "note", "data-lack": lack }, text);
  if (quick && quick.runs === total) {
    const runs = products.flatMap((product) => runsOf(product, "consistency"));
    const isUnsteady = runs.every((run) => hasMark(run, "iops_steady_mean", "not-steady"));
    const parts = [...quick.words].filter((word) => word !== "as sold");
    const part = `used a part of the drive (${parts.join(", ")})`;
    const some = parts.length === 0 ? "" : `, and some ${part}`;
    const isSome = parts.length < quick.words.size;
    const how = isSome ? ` and took little time${some}` : `, took little time and ${part}`;
    return note(
      "every-quick",
      h("b", {}, "These are quick runs"),
      `: each began on a fresh drive${how}. `,
      `${isUnsteady ? "Steady state was not reached" : "They are short"}, so nothing here tells the pace that a drive keeps. `,
      h("code", {}, "ssdlab review --full"),
      " measures whole drives.",
    );
  }
  const [first] = found.keys();
  const texts = [...found].map(([lack, one]) => leftOut(lack, one)).join("; ");
  return note(first, h("b", {}, "Not every run is a whole one"), `: ${texts}. Only whole runs are ranked.`);
}
