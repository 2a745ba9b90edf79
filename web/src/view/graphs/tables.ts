// The values of the graphs as tables.

import { type App, type Shown, shownRuns } from "../../app";
import type { ColumnName } from "../../data/load";
import type { TableData } from "../parts/chart-tools";
import { plainRunName } from "../parts/name";

function text(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "" : String(value);
}

/** Rows by the second, and a column for each quantity of each run. */
function bySecond(
  shown: readonly Shown[],
  columns: readonly [ColumnName, string][],
  from: (shown: Shown) => number,
): TableData {
  const wanted = shown.map((one) => {
    const { second } = one.run.columns;
    return new Map([...second].flatMap((value, at) => (value >= from(one) ? [[value, at] as const] : [])));
  });
  const seconds = [...new Set(wanted.flatMap((one) => [...one.keys()]))].sort((a, b) => a - b);
  const places = shown.flatMap(({ run }, k) =>
    columns.map(([name]) => ({ values: run.columns[name], rows: wanted[k] })),
  );
  return {
    heads: [
      "Second",
      ...shown.flatMap(({ run }) => columns.map(([, label]) => `${plainRunName(run)}: ${label}`)),
    ],
    rows: seconds.map((second) => [
      String(second),
      ...places.map(({ values, rows }) => text(values[rows.get(second) ?? Number.NaN])),
    ]),
  };
}

const IOPS: [ColumnName, string][] = [["iops", "IOPS"]];

const LATENCIES: [ColumnName, string][] = [
  ["p50", "p50 (ns)"],
  ["p99", "p99 (ns)"],
  ["max", "longest (ns)"],
];

export function iopsTable(app: App): TableData {
  return bySecond(shownRuns(app), IOPS, () => 0);
}

export function steadyTable(app: App): TableData {
  return bySecond(shownRuns(app), IOPS, ({ run }) => run.view.steady_from_s);
}

export function latencyTable(app: App): TableData {
  return bySecond(shownRuns(app), LATENCIES, () => 0);
}

/** The bins of the distribution, with their commands. */
export function distributionTable(app: App): TableData {
  const shown = shownRuns(app);
  const counts = shown.map(({ run }) => new Map(run.view.latency_bins));
  const bins = [...new Set(counts.flatMap((one) => [...one.keys()]))].sort((a, b) => a - b);
  return {
    heads: ["Latency from (ns)", ...shown.map(({ run }) => `${plainRunName(run)}: commands`)],
    rows: bins.map((bin) => [String(bin), ...counts.map((one) => String(one.get(bin) ?? 0))]),
  };
}
