// The drives for a purpose, and the mean over the suite: what an owner asks who wants one drive and no table.

import { HEADLINES } from "./headlines";
import { isQuick } from "./marks";
import { SAME } from "./pair";
import type { Product } from "./products";
import { type Entry, type Ranking, rankedIn } from "./ranking";

type Rank = (test: string, metric: string) => Ranking;

export interface Purpose {
  name: string;
  /** The figure that decides, in words. */
  by: string;
  ranking: Ranking;
  /** The best drive, with those that are the same within 3%. */
  best: Entry[];
}

/** Purposes with the figures that decide: the first one that ranks several drives. */
const PURPOSES: [name: string, figures: [test: string, metric: string, by: string][]][] = [
  [
    "Desktop",
    [
      ["feel", "feel.day.time_s", "least time for everyday work"],
      ["light", "avg_data_rate_mb_per_s", "fastest in light work"],
      ["latency", "latency.random_read.latency_ns_mean", "shortest single read"],
    ],
  ],
  [
    "Write-heavy work",
    [
      ["consistency", "iops_steady_mean", "highest steady pace"],
      ["heavy", "avg_data_rate_mb_per_s", "fastest in heavy work"],
    ],
  ],
  ["Notebook", [["power", "power.idle.power_w_mean", "least power at rest"]]],
];

export function purposes(rank: Rank): Purpose[] {
  return PURPOSES.flatMap(([name, figures]) => {
    for (const [test, metric, by] of figures) {
      const ranking = rank(test, metric);
      const entries = rankedIn(ranking.entries);
      // A quick run recommends nothing.
      if (entries.length < 2 || entries.some(({ run }) => isQuick(run))) continue;
      const top = entries[0].value ?? 0;
      const best = entries.filter(({ value }) => Math.abs((value ?? 0) - top) <= SAME * Math.abs(top));
      return [{ name, by, ranking, best }];
    }
    return [];
  });
}

export interface SuiteMean {
  /** Number of tests in it. */
  tests: number;
  /** Best first; each share of the best drive is above 0 and at most 1. */
  shares: { product: Product; share: number }[];
}

/** Fewer tests are no suite. */
const TESTS_MIN = 3;

/** Units of rates and times; a ratio such as the jitter has no bound and says nothing of speed. */
const SPEEDS = ["iops", "mb_per_s", "ns", "us", "s"];

/**
 * The geometric mean over the tests, of the rates and times among their headlines in which all drives are ranked, each
 * as a share of the best drive. Null with fewer than two drives or three tests.
 */
export function suiteMean(products: readonly Product[], rank: Rank): SuiteMean | null {
  const all = HEADLINES.map(({ test, metric }) => rank(test, metric)).filter(
    ({ figure, entries, ranked }) =>
      SPEEDS.includes(figure.unit) &&
      !entries.some(({ run }) => isQuick(run)) &&
      ranked === products.length &&
      entries.every(({ value }) => (value ?? 0) > 0),
  );
  const tests = [...new Set(all.map(({ test }) => test))];
  if (products.length < 2 || tests.length < TESTS_MIN) return null;
  const share = (product: Product, { figure, entries }: Ranking): number => {
    const own = entries.find((entry) => entry.product === product)?.value ?? 1;
    const best = entries[0].value ?? 1;
    return figure.better === "higher" ? own / best : best / own;
  };
  const mean = (shares: number[]) =>
    Math.exp(shares.reduce((sum, one) => sum + Math.log(one), 0) / shares.length);
  const ofTest = (product: Product, test: string) =>
    mean(all.filter((ranking) => ranking.test === test).map((ranking) => share(product, ranking)));
  const shares = products.map((product) => ({
    product,
    share: mean(tests.map((test) => ofTest(product, test))),
  }));
  return { tests: tests.length, shares: shares.sort((a, b) => b.share - a.share) };
}
