// Names of drives and runs. The badge is part of the name: a simulated result never appears without it.

import type { Drive, Run } from "../../data/load";
import { plainName, spareLabel } from "../../data/load";
import { fullName } from "../../data/products";
import { own } from "../../data/words";
import { h } from "../../dom";

export function badge(text: string): HTMLElement {
  return h("span", { class: `badge badge-${text.startsWith("simulated") ? "simulated" : "plain"}` }, text);
}

export function driveName(drive: Drive): HTMLElement {
  const title = fullName(drive.name, drive.runs[0]);
  return h("span", { class: "drive-name", title }, drive.name, drive.badge && [" ", badge(drive.badge)]);
}

export function runName(run: Run): HTMLElement {
  return h(
    "span",
    { class: "run-name" },
    driveName(run.drive),
    " ",
    h("span", { class: "variant" }, spareLabel(run.variant)),
  );
}

/** The same in plain text, for screen readers. */
export function plainRunName(run: Run): string {
  return `${plainName(run)}, ${spareLabel(run.variant)}`;
}

const STATUS_TEXT: Record<string, string> = {
  running: "unfinished",
  complete: "complete",
  interrupted: "interrupted",
  failed: "failed",
};

export function statusChip(run: Run): HTMLElement | null {
  const { status } = run.view;
  if (status === "complete") return null;
  return h("span", { class: `status status-${status}` }, own(STATUS_TEXT, status) ?? status);
}

export function swatch(color: number): HTMLElement {
  return h("span", { class: "swatch", style: `background: var(--run-${color})`, "aria-hidden": "true" });
}
