// The pace of every drive over time, in few points: one line for each drive, or for each spare area of a single one.

import { metricOf } from "./figures";
import { isImported, type Run, secondsAPoint, spareLabel } from "./load";
import { median } from "./median";
import { type Product, runsOf } from "./products";
import { chosenRun, isAlike, unlikeIn } from "./ranking";

/** Points of a line at most; each is the mean of its part of the time. */
export const POINTS = 150;

export interface Line {
  /** Key of the drive; empty for the spare areas of a single one. */
  product: string;
  name: string;
  run: Run;
  values: number[];
  /** The smallest and the largest value of repeated runs; null for a single run. */
  band: [number, number][] | null;
  /** The figure of the pace that the run keeps, or null if it has none. */
  kept: number | null;
  /** The drive of the reference library that it is of; missing for a drive of the page. */
  context?: Product;
}

export interface Overlay {
  /** Seconds of the longest run. */
  seconds: number;
  /** Points of each line: no more than there are seconds, or every other one would be a gap. */
  points: number;
  lines: Line[];
}

/** The mean of each part of the time, stalls included; NaN where a run has no second. */
export function means(run: Run, seconds: number, points: number): number[] {
  const { second, iops } = run.columns;
  const each = secondsAPoint(run);
  if (each > 1)
    return Array.from(
      { length: points },
      (_, at) => iops[Math.floor((seconds * (at + 0.5)) / points / each)] ?? Number.NaN,
    );
  const sums = new Float64Array(points);
  const counts = new Float64Array(points);
  for (let row = 0; row < second.length; row += 1) {
    const at = Math.min(points - 1, Math.floor((points * second[row]) / seconds));
    sums[at] += iops[row];
    counts[at] += 1;
  }
  return Array.from(sums, (sum, at) => (counts[at] === 0 ? Number.NaN : sum / counts[at]));
}

function endOf(run: Run): number {
  const { second } = run.columns;
  return second.length === 0 ? 0 : second[second.length - 1] + secondsAPoint(run);
}

/** Whole runs of a drive under the conditions of this one. */
function repeats(product: Product, run: Run): Run[] {
  const alike = runsOf(product, run.view.test).filter(
    (one) =>
      one.view.span.variant === run.view.span.variant &&
      one.view.status === "complete" &&
      one.columns.iops.length > 0 &&
      unlikeIn(one, run).length === 0,
  );
  return alike.includes(run) ? alike : [run];
}

function lineOf(
  product: Product,
  run: Run,
  name: string,
  key: string,
  seconds: number,
  points: number,
): Line {
  const all = isImported(run) ? [run] : repeats(product, run);
  const each = all.map((one) => means(one, seconds, points));
  const known = (at: number) => each.map((values) => values[at]).filter((value) => !Number.isNaN(value));
  const values = each[0].map((_, at) => median(known(at)));
  const band = each[0].map((_, at): [number, number] => [Math.min(...known(at)), Math.max(...known(at))]);
  const kept = metricOf(run, "iops_steady_mean");
  return { product: key, name, run, values, band: all.length > 1 ? band : null, kept };
}

/** Nothing without a second of load. */
export function overlayOf(
  products: readonly Product[],
  test: string,
  variant: string,
  context: readonly Product[] = [],
): Overlay | null {
  const [only] = products;
  const alone = products.length === 1;
  const own = alone
    ? runsOf(only, test)
        .filter(
          (run, at, all) => all.findIndex((one) => one.view.span.variant === run.view.span.variant) === at,
        )
        .map((run) => ({ product: only, run, name: spareLabel(run.view.span.variant), key: "" }))
    : products.flatMap((product) => {
        const run = chosenRun(product, test, variant, "iops_steady_mean");
        return run ? [{ product, run, name: product.plain, key: product.key }] : [];
      });
  const having = own.filter(({ run }) => run.columns.iops.length > 0);
  const seconds = Math.max(0, ...having.map(({ run }) => endOf(run)));
  if (seconds === 0) return null;
  const points = Math.min(POINTS, Math.max(2, Math.floor(seconds)));
  const lines = having.map(({ product, run, name, key }) => lineOf(product, run, name, key, seconds, points));
  const beside = context.flatMap((product): Line[] => {
    const run = chosenRun(product, test, having[0].run.variant, "iops_steady_mean");
    if (!run || !having.some((own) => isAlike(run, own.run))) return [];
    return [{ ...lineOf(product, run, product.plain, product.key, seconds, points), context: product }];
  });
  return { seconds, points, lines: [...lines, ...beside] };
}
