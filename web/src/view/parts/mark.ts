// The words beside a figure with marks.

import type { Run } from "../../data/load";
import { markLabels, marksOf } from "../../data/marks";
import { h } from "../../dom";

/** The marks in two or three words each, with their reasons on hover and for screen readers; nothing without marks. */
export function markSign(run: Run, metric: string): HTMLElement | null {
  const text = marksOf(run, metric).join("; ");
  if (text === "") return null;
  return h(
    "span",
    { class: "mark-label mark-sign", title: text },
    h("span", { "aria-hidden": "true" }, ` ${markLabels(run, metric)}`),
    h("span", { class: "sr-only" }, ` (${text})`),
  );
}
