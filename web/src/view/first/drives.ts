// The drives of the page: their sizes and when they were measured.

import { moment, rawBytes, sizeOf, UNKNOWN } from "../../data/format";
import { areaLabel, type Drive, type Library, type Run, variantsTitle } from "../../data/load";
import { aside, h, lateFold, scroller } from "../../dom";
import { driveName, statusChip } from "../parts/name";

/** A longer list is folded. */
const MANY_DRIVES = 6;

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Nothing for a report without runs. */
export function drivesSection({ listed, runs, others }: Library): HTMLElement | null {
  if (listed.length === 0) return null;
  const count = runs.length + others.length;
  const size = `${counted(listed.length, "drive", "drives")}, ${counted(count, "run", "runs")}`;
  return h(
    "section",
    { id: "drives", class: "drives-section", "aria-labelledby": "drives-title" },
    h("h2", { id: "drives-title" }, "Which drives are these?"),
    listed.length > MANY_DRIVES
      ? lateFold("drives-fold", size, () => drivesTable(listed))
      : [h("p", { class: "sr-only" }, size), drivesTable(listed)],
  );
}

function drivesTable(drives: readonly Drive[]): HTMLElement {
  const variants = drives.flatMap(({ runs }) => runs.map(({ variant }) => variant));
  const heads = ["Drive", "Capacity", "Raw NAND", "Firmware", variantsTitle(variants), "Run on"];
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
    areaLabel(run.variant),
    statusChip(run) && [" ", statusChip(run)],
  ]);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, driveName(drive)),
    h("td", {}, sizeOf(target.capacity_bytes)),
    h("td", {}, target.raw_bytes ? rawBytes(target.raw_bytes) : UNKNOWN),
    h("td", {}, target.firmware || UNKNOWN),
    h("td", {}, variants),
    h("td", {}, moment(started)),
  );
}
