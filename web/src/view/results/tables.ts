// Figures in rows and columns, as a test recorded them: one table per run, with bars for comparison.

import { bytes, duration, iops, separated, significant } from "../../data/format";
import type { Run } from "../../data/load";
import type { Table } from "../../data/schema.gen";
import { aside, h, scroller } from "../../dom";
import { plainRunName, runName } from "../parts/name";

const NOT_KNOWN = "not measured, or of too few commands";

/** Values of this unit get a bar: more is better. */
const BARRED = new Set(["MB/s", "IOPS"]);

/** The largest value of each unit over all runs, so that bars of several drives share one scale. */
function tops(runs: readonly Run[], name: string): Map<string, number> {
  const most = new Map<string, number>();
  for (const table of runs.flatMap(({ view }) => view.tables).filter((one) => one.name === name)) {
    for (const { values } of table.rows) {
      values.forEach((value, at) => {
        const unit = table.columns[at]?.unit ?? "";
        most.set(unit, Math.max(most.get(unit) ?? 0, value ?? 0));
      });
    }
  }
  return most;
}

export function cellText(value: number, unit: string): string {
  if (unit === "ns") return duration(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "IOPS") return iops(value);
  if (unit === "") return separated(value);
  if (unit === "WAF") return value.toFixed(2);
  if (unit === "W") return value.toFixed(value < 1 ? 3 : 2);
  if (unit === "%") return percentCell(value);
  // 0.0 means nothing at all.
  if (value !== 0 && Math.abs(value) < 0.05) return significant(value, 2);
  return oneDecimal(value);
}

/** 100.0 means all, and 0.0 means none. */
function percentCell(value: number): string {
  if (value > 0 && value < 0.05) return "<0.1";
  if (value < 100 && value >= 99.95) return ">99.9";
  return oneDecimal(value);
}

function oneDecimal(value: number): string {
  return separated(value, 1);
}

/** Latencies and sizes have their unit in every cell. */
function heading(name: string, unit: string): string {
  return unit === "ns" || unit === "bytes" || unit === "" ? name : `${name} (${unit})`;
}

function cell(value: number | null, unit: string, top: number): HTMLElement {
  if (value === null) {
    return h(
      "td",
      {},
      h("span", { "aria-hidden": "true", title: NOT_KNOWN }, "–"),
      h("span", { class: "sr-only" }, NOT_KNOWN),
    );
  }
  const share = BARRED.has(unit) && top > 0 ? (100 * value) / top : null;
  const style = share === null ? null : `--share: ${share.toFixed(1)}%`;
  return h("td", { class: share === null ? null : "barred", style }, cellText(value, unit));
}

/** Tables with more rows than this are folded, as are rounds: the curve above shows the same. */
const ROWS_MAX = 40;

/** The tables of a run; conditions stand under the last table that shares them. */
export function resultTables(run: Run, runs: readonly Run[]): HTMLElement[] {
  const { tables } = run.view;
  const conditions = tables.map((table) => JSON.stringify(table.conditions ?? {}));
  return tables.flatMap((table, at) => {
    const line = conditions[at] === conditions[at + 1] ? null : conditionsLine(table);
    return line ? [resultTable(table, run, runs), line] : [resultTable(table, run, runs)];
  });
}

function resultTable(table: Table, run: Run, runs: readonly Run[]): HTMLElement {
  const whole = h("div", { class: "result-table" }, wholeTable(table, run, runs));
  if (table.rows.length <= ROWS_MAX && !table.name.startsWith("rounds")) return whole;
  const summary = `${table.title}: all ${table.rows.length} rows`;
  return h(
    "details",
    { class: "long-table" },
    h("summary", {}, summary, aside(`, ${plainRunName(run)}`)),
    whole,
  );
}

function conditionsLine(table: Table): HTMLElement | null {
  const conditions = Object.entries(table.conditions ?? {});
  if (conditions.length === 0) return null;
  const text = conditions.map(([label, value]) => `${label}: ${value}`).join(" · ");
  return h("p", { class: "quiet small conditions-line" }, text);
}

function wholeTable(table: Table, run: Run, runs: readonly Run[]): HTMLElement {
  const most = tops(runs, table.name);
  return scroller(
    `${table.title}: ${plainRunName(run)}`,
    h(
      "table",
      { class: "figures" },
      h("caption", {}, table.title, h("span", { class: "quiet" }, " · ", runName(run))),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col", class: "corner" }, table.row_name),
          table.columns.map(({ name, unit }) => h("th", { scope: "col" }, heading(name, unit))),
        ),
      ),
      h(
        "tbody",
        {},
        table.rows.map(({ label, values }) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, label),
            values.map((value, at) => {
              const unit = table.columns[at]?.unit ?? "";
              return cell(value, unit, most.get(unit) ?? 0);
            }),
          ),
        ),
      ),
    ),
  );
}
