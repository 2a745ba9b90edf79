// The sign beside a figure of which something must be known.

import { marksOf } from "../../data/figures";
import type { Run } from "../../data/load";
import { h } from "../../dom";

/** The words on pointing at the sign, and for those who do not see it; nothing where there is nothing to say. */
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
