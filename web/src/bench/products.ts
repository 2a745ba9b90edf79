// The rows of a library as runs without their series: enough for every ranking of the page.

import { type Library, libraryOf } from "../data/load";
import { wordsOfMark } from "../data/marks";
import { type Product, productsOf } from "../data/products";
import type { RunView } from "../data/schema.gen";
import type { LibraryRun, Library as Rows } from "./library.gen";

/** Of a run whose seconds nobody has fetched. */
export const NO_SERIES: RunView["series"] = {
  time_s: [],
  iops: [],
  latency_ns_p50: [],
  latency_ns_p99: [],
  latency_ns_max: [],
  waf: [],
  telemetry: {},
  die_busy_share: [],
  channel_busy_share: [],
  controller_busy_share: [],
};

function viewOf(rows: Rows, run: LibraryRun): RunView[] {
  const [target, config] = [rows.drives[run.drive], rows.conditions[run.conditions]];
  if (!target || !config) return [];
  const { name, test, suite_version, status, started, span, figures, origin, outcome, quick } = run;
  const marks = run.marks.map(({ metric, kind }) => ({ metric, kind, text: wordsOfMark(kind).reason }));
  return [
    {
      run_id: name,
      ...{ test, suite_version, status, started, span, target, config, marks, origin, quick },
      metrics: figures,
      series: NO_SERIES,
      environment: {},
      seed: 0,
      command: "",
      health: null,
      resumed: null,
      phases: [],
      steady_from_s: 0,
      latency_bins: [],
      verdict: outcome ? { outcome, text: "" } : null,
      tables: [],
      passes: [],
      power: [],
      findings: [],
      warnings: [],
    },
  ];
}

/** The rows of a library, and the same as runs by drive. */
export interface Books {
  rows: Rows;
  library: Library;
  products: Product[];
}

export function booksOf(rows: Rows): Books {
  const library = libraryOf({
    report_version: 1,
    tool_version: rows.tool_version,
    title: rows.title,
    runs: rows.runs.flatMap((run) => viewOf(rows, run)),
    differences: [],
    left_out: [],
  });
  return { rows, library, products: productsOf(library) };
}
