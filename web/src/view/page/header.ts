// Title, content of the report, and the drives at a glance.

import { bytes, moment, rawBytes, UNKNOWN } from "../../data/format";
import { type Drive, type Library, type Run, spareLabel } from "../../data/load";
import { aside, h, scroller } from "../../dom";
import type { Store, Theme } from "../../state";
import { driveName, statusChip } from "../parts/name";

/** A longer list would push the graphs off the first screen. */
const MANY_DRIVES = 6;

const NEXT_THEME: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

export function themeButton(store: Store): HTMLElement {
  const button = h("button", { type: "button", class: "button quiet-button", id: "theme" });
  const label = () => {
    button.textContent = `Theme: ${store.state.theme}`;
  };
  button.addEventListener("click", () => store.set({ theme: NEXT_THEME[store.state.theme] }));
  store.subscribe(label);
  label();
  return button;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function header(library: Library, store: Store): HTMLElement {
  const { report, listed, runs, others } = library;
  const count = runs.length + others.length;
  const size = `${counted(listed.length, "drive", "drives")}, ${counted(count, "run", "runs")}`;
  return h(
    "header",
    { class: "masthead" },
    h(
      "div",
      { class: "masthead-top" },
      h("p", { class: "overline" }, report.tool_version),
      themeButton(store),
    ),
    h("h1", {}, report.title),
    runs.length > 0 &&
      h(
        "p",
        { class: "lead" },
        "Does a drive keep its pace once it must clean up after itself? Each point below is one second of ",
        "random writes without a pause. An even drive draws a thin band, a fast one draws it high.",
      ),
    listed.length > MANY_DRIVES
      ? h("details", { class: "drives-fold" }, h("summary", {}, size), drivesTable(listed))
      : listed.length > 0 && [h("p", { class: "sr-only" }, size), drivesTable(listed)],
    leftOut(report.left_out ?? []),
  );
}

/** Tests that a review omitted, with the reasons. */
function leftOut(reasons: readonly string[]): HTMLElement | null {
  if (reasons.length === 0) return null;
  return h(
    "div",
    { class: "notice left-out", role: "note" },
    h("p", {}, h("b", {}, "Left out of this review")),
    h(
      "ul",
      {},
      reasons.map((reason) => h("li", {}, reason)),
    ),
  );
}

function drivesTable(drives: readonly Drive[]): HTMLElement {
  const heads = ["Drive", "Capacity", "Raw NAND", "Firmware", "Spare area", "Measured"];
  return scroller(
    "Drives in this report",
    h(
      "table",
      { class: "drives" },
      h("caption", {}, aside("Drives in this report")),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        drives.map((drive) => driveRow(drive)),
      ),
    ),
  );
}

/** Several tests of one drive share their spare areas. */
function firstOfEachVariant(runs: readonly Run[]): Run[] {
  return runs.filter((run, k) => runs.findIndex(({ variant }) => variant === run.variant) === k);
}

function driveRow(drive: Drive): HTMLElement {
  const { target, started } = drive.runs[0].view;
  const variants = firstOfEachVariant(drive.runs).map((run, k) => [
    k > 0 && ", ",
    spareLabel(run.variant).replace(/ spare$/, ""),
    statusChip(run) && [" ", statusChip(run)],
  ]);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, driveName(drive)),
    h("td", {}, bytes(target.capacity_bytes)),
    h("td", {}, target.raw_bytes ? rawBytes(target.raw_bytes) : UNKNOWN),
    h("td", {}, target.firmware || UNKNOWN),
    h("td", {}, variants),
    h("td", {}, moment(started)),
  );
}
