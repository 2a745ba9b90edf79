// The text at the pointer about one second or one latency.

import { type App, type Shown, shownRuns } from "../../app";
import { nearestIndex } from "../../chart/axis";
import { duration, iops, oneIn, separated, UNKNOWN } from "../../data/format";
import { type ColumnName, type Run, spareLabel } from "../../data/load";
import { h } from "../../dom";
import { driveName, runName, swatch } from "../parts/name";

export type TipRow = [label: string, column: ColumnName, text: (value: number) => string];

const ROWS: TipRow[] = [
  ["IOPS", "iops", iops],
  ["p50", "p50", duration],
  ["p99", "p99", duration],
  ["max", "max", duration],
  ["WAF", "waf", (value) => separated(value, 2)],
];

/** Values without room beside the other runs on a narrow screen. */
const MINOR: ColumnName[] = ["p50", "max"];

function minor(column: ColumnName): string | null {
  return MINOR.includes(column) ? "tip-minor" : null;
}

/** A graph's own quantity comes first and only once. */
function rowsWith(own: TipRow | undefined): TipRow[] {
  return own ? [own, ...ROWS.filter(([, column]) => column !== own[1])] : ROWS;
}

function cell(run: Run, second: number, column: ColumnName, text: (value: number) => string): string {
  const at = nearestIndex(run.columns.second, second);
  const there = at >= 0 && Math.abs(run.columns.second[at] - second) <= 0.5;
  const value = there ? run.columns[column][at] : Number.NaN;
  return Number.isFinite(value) ? text(value) : UNKNOWN;
}

export function describeSecond(app: App, second: number, own?: TipRow): HTMLElement | null {
  const shown = shownRuns(app);
  if (shown.length === 0) return null;
  const rows = rowsWith(own);
  return h(
    "table",
    { class: shown.length > 1 ? "tip-many" : null },
    h("caption", {}, `Second ${separated(second, Number.isInteger(second) ? 0 : 1)}`),
    shown.length === 1 ? oneRun(shown[0].run, second, rows) : manyRuns(shown, second, rows),
  );
}

function oneRun(run: Run, second: number, rows: readonly TipRow[]): HTMLElement {
  return h(
    "tbody",
    {},
    h("tr", {}, h("th", { colspan: 2, class: "tip-run" }, runName(run))),
    rows.map(([label, column, text]) =>
      h("tr", {}, h("th", {}, label), h("td", {}, cell(run, second, column, text))),
    ),
  );
}

function manyRuns(shown: readonly Shown[], second: number, rows: readonly TipRow[]): HTMLElement[] {
  return [
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th"),
        rows.map(([label, column]) => h("th", { class: minor(column) }, label)),
      ),
    ),
    h(
      "tbody",
      {},
      shown.map(({ run, color }) =>
        h(
          "tr",
          {},
          h("th", { class: "tip-run" }, swatch(color), driveName(run.drive), ` ${spareLabel(run.variant)}`),
          rows.map(([, column, text]) => h("td", { class: minor(column) }, cell(run, second, column, text))),
        ),
      ),
    ),
  ];
}

export function describeLatency(ns: number, shown: readonly (Shown & { share: number })[]): HTMLElement {
  return h(
    "table",
    { class: shown.length > 1 ? "tip-many" : null },
    h("caption", {}, `${duration(ns)} or longer`),
    h(
      "tbody",
      {},
      shown.map(({ run, color, share }) =>
        h(
          "tr",
          {},
          h("th", { class: "tip-run" }, swatch(color), runName(run)),
          h("td", {}, share > 0 ? `${oneIn(share)} commands` : "no command"),
        ),
      ),
    ),
  );
}
