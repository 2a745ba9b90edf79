// The sign beside a figure with a mark.

import { marksOf } from "../../data/figures";
import type { Run } from "../../data/load";
import { h } from "../../dom";

/** The text of the sign, on hover and for screen readers; nothing for a figure without marks. */
export function markSign(run: Run, metric: string): HTMLElement | null {
  const text = marksOf(run, metric).join("; ");
  if (text === "") return null;
  return h(
    "span",
    { class: "mark-sign", title: text },
    h("span", { "aria-hidden": "true" }, " *"),
    h("span", { class: "sr-only" }, ` (${text})`),
  );
}
