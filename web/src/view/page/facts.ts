// The drives' facts as a table: a row for each fact, a column for each drive.

import { UNKNOWN } from "../../data/format";
import type { Library } from "../../data/load";
import { aside, h, lateFold, scroller } from "../../dom";
import { term } from "../parts/hint";
import { markSign } from "../parts/mark";
import { driveName } from "../parts/name";
import { type FactCell, type FactRow, factRows } from "./fact-rows";

/** The section, or null if nothing is known about any drive. */
export function factsSection(library: Library): HTMLElement | null {
  const rows = factRows(library);
  if (rows.length === 0) return null;
  const title = "What is published about these drives?";
  const table = h(
    "table",
    { class: "facts" },
    h("caption", {}, aside(title)),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "Fact"),
        library.listed.map((drive) => h("th", { scope: "col" }, driveName(drive))),
      ),
    ),
    h("tbody", {}, rows.map(factRow)),
  );
  const of = library.listed.length > 1 ? `Of all ${library.listed.length} drives` : "Of this drive";
  const wide = scroller(`Table of facts: ${title}`, table);
  return h(
    "section",
    { id: "facts", "aria-labelledby": "facts-title" },
    h("h2", { id: "facts-title" }, title),
    lateFold("details", of, () => wide),
    h(
      "p",
      { class: "quiet small" },
      `Point at a value for its source. ${UNKNOWN} not known. Coloured rows come from the runs of this report.`,
    ),
  );
}

function factRow({ label, measured, cells }: FactRow): HTMLElement {
  return h(
    "tr",
    { class: measured ? "measured-fact" : null },
    h("th", { scope: "row" }, label),
    cells.map((cell) => h("td", {}, cell ? content(cell) : UNKNOWN)),
  );
}

function content({ text, note, from, run }: FactCell): (HTMLElement | null)[] {
  return [
    term(text, from),
    note === "" ? null : h("span", { class: "fact-note quiet small" }, note),
    run && markSign(run, from),
  ];
}
