// The rows of a library as runs without their series: enough for every ranking of the page.

import { type Library, libraryOf, type Run, scaleOf } from "../data/load";
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

/** The parts of a run that its row lacks, one object for all: thousands of empty lists would be collected again. */
const NOT_IN_ROW = {
  series: NO_SERIES,
  environment: {},
  seed: 0,
  command: "",
  health: null,
  resumed: null,
  phases: [],
  steady_from_s: 0,
  latency_bins: [],
  tables: [],
  passes: [],
  power: [],
  findings: [],
  warnings: [],
} satisfies Partial<RunView>;

function viewOf(rows: Rows, run: LibraryRun): RunView[] {
  const [target, config] = [rows.drives[run.drive], rows.conditions[run.conditions]];
  if (!target || !config) return [];
  const { name, test, suite_version, status, started, span, figures, origin, outcome, quick } = run;
  const marks = run.marks.map(({ metric, kind }) => ({ metric, kind, text: wordsOfMark(kind).reason }));
  return [
    {
      ...NOT_IN_ROW,
      run_id: name,
      ...{ test, suite_version, status, started, span, target, config, marks, origin, quick },
      metrics: figures,
      verdict: outcome ? { outcome, text: "" } : null,
    },
  ];
}

/** The rows of a library, and the same as runs by drive. */
export interface Books {
  rows: Rows;
  library: Library;
  products: Product[];
  /** The drives below full size, which stand with that of full size: their runs by the keys that they would have. */
  scaled: ReadonlyMap<string, readonly Run[]>;
}

/** The name that a simulated drive has at full size: its keys without that of the scale. */
function fullSizeName(name: string): string {
  return name.replace(/ \[([^\]]*)\]$/, (_, keys: string) => {
    const others = keys.split(", ").filter((key) => !key.startsWith("scale="));
    return others.length === 0 ? "" : ` [${others.join(", ")}]`;
  });
}

/** Size of a drive as a share of its model. */
function sizeOf({ runs: [run] }: Product): number {
  const [over, under = 1] = (scaleOf(run) || "1").split("/").map(Number);
  return over / under;
}

/** A drive below full size stands with the largest drive of its model, behind the runs of that. */
export function withScaled(all: readonly Product[]): Pick<Books, "products" | "scaled"> {
  const models = new Map<string, Product[]>();
  for (const product of all) {
    const { name, firmware } = product.runs[0].view.target;
    const model = JSON.stringify([product.source, fullSizeName(name), firmware ?? ""]);
    models.set(model, [...(models.get(model) ?? []), product]);
  }
  const scaled = new Map<string, readonly Run[]>();
  const owners = new Map<string, readonly Run[]>();
  for (const drives of models.values()) {
    const [owner, ...others] = drives.sort((a, b) => sizeOf(b) - sizeOf(a));
    const smaller = others.filter((product) => sizeOf(product) < 1);
    for (const { key, runs } of smaller) scaled.set(key, runs);
    if (smaller.length > 0)
      owners.set(
        owner.key,
        [owner, ...smaller].flatMap(({ runs }) => runs),
      );
  }
  const kept = all.filter(({ key }) => !scaled.has(key));
  return {
    products: kept.map((product) => ({ ...product, runs: [...(owners.get(product.key) ?? product.runs)] })),
    scaled,
  };
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
  return { rows, library, ...withScaled(productsOf(library)) };
}
