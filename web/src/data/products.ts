// Every drive of the page with all its runs, whatever their test.

import { visible } from "./format";
import { identity, isImported, type Library, libraryOf, plainName, type Run } from "./load";
import { isGraphed } from "./tests";
import { own } from "./words";

/** The origin of figures; it shapes sign and bar, so that colour is not all that tells it. */
export type Source = "simulated" | "drive" | "file" | "imported" | "none";

export interface Product {
  /** Stable word for the URL. */
  key: string;
  name: string;
  /** The name with its badge, as plain text. */
  plain: string;
  source: Source;
  runs: Run[];
  /** Of a drive of the reference library, which has no rank; missing for a drive of the page. */
  context?: { isStale: boolean };
}

const SOURCES: Record<string, Source> = {
  simulated: "simulated",
  block: "drive",
  file: "file",
  imported: "imported",
};

/** The name with all its letters, for a title; null if the short one is the same. */
export function fullName(name: string, run: Run): string | null {
  const whole = run.view.target.name;
  return name.startsWith(whole) ? null : visible(whole);
}

/** In the order of the report. */
export function productsOf({ listed, runs, others }: Library): Product[] {
  const byIdentity = new Map<string, Run[]>();
  for (const run of [...runs, ...others]) {
    const id = identity(run.view);
    const own = byIdentity.get(id);
    if (own) own.push(run);
    else byIdentity.set(id, [run]);
  }
  const keys = new Set<string>();
  return listed.map((drive) => {
    const [first] = drive.runs;
    const id = identity(first.view);
    let key = drive.key;
    for (let n = 2; keys.has(key); n++) key = `${drive.key}-${n}`;
    keys.add(key);
    return {
      key,
      name: drive.name,
      plain: plainName(first),
      source: own(SOURCES, first.view.target.kind) ?? "none",
      runs: byIdentity.get(id) ?? [],
    };
  });
}

/** The drives of the reference library that stand beside those of the page. */
export function contextOf({ report }: Library): Product[] {
  const { context } = report;
  if (!context) return [];
  const products = productsOf(libraryOf({ ...report, runs: context.runs }));
  return products.map((product) => ({
    ...product,
    key: `reference-${product.key}`,
    context: { isStale: context.stale.includes(product.runs[0].view.target.spec) },
  }));
}

/** The runs of a product for one test, and imported loads where the test has graphs of every second. */
export function runsOf(product: Product, test: string): Run[] {
  const graphed = isGraphed(test);
  const isLoad = (run: Run) => graphed && isImported(run) && run.columns.iops.length > 0;
  return product.runs.filter((run) => run.view.test === test || isLoad(run));
}

export interface ShortNames {
  /** Words with which every name begins, and brackets with which every one ends; empty if there are none. */
  common: string[];
  /** The rest of each name, by the key of its drive. */
  names: ReadonlyMap<string, string>;
}

const shorts = new WeakMap<readonly Product[], ShortNames>();

/** Names without the words that all of them begin with, and the scale that all have; each keeps one word at least. */
export function shortNames(products: readonly Product[]): ShortNames {
  const known = shorts.get(products) ?? shortened(products);
  shorts.set(products, known);
  return known;
}

function shortened(products: readonly Product[]): ShortNames {
  const ends = products.map(({ name }) => / (\[[^\]]*\])$/.exec(name)?.[1] ?? "");
  const end = products.length > 1 && ends.every((one) => one === ends[0]) ? ends[0] : "";
  const words = products.map(({ name }) =>
    name
      .slice(0, name.length - end.length)
      .trim()
      .split(" "),
  );
  const most = products.length < 2 ? 0 : Math.min(...words.map((one) => one.length - 1));
  let common = 0;
  while (common < most && words.every((one) => one[common] === words[0][common])) common++;
  const names = new Map(products.map(({ key }, at) => [key, words[at].slice(common).join(" ")]));
  const prefix = words[0]?.slice(0, common).join(" ") ?? "";
  return { common: [prefix, end].filter((part) => part !== ""), names };
}
