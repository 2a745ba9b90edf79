// The runs of a library that a reader wants to see.

import { bytes, separated } from "../data/format";
import type { Run } from "../data/load";
import type { Product } from "../data/products";
import { linkOf } from "../data/ranking";
import type { Target } from "../data/schema.gen";
import { heading, inOrder } from "../data/tests";
import { sourceWord } from "../view/parts/source";

/** The properties with a choice of their own, in the order of the page. */
export const FIELDS = [
  "test",
  "source",
  "link",
  "use",
  "family",
  "controller",
  "nand",
  "capacity",
  "year",
  "price",
] as const;

export type Field = (typeof FIELDS)[number];

/** A wanted value for each field, and words that must stand in the name of the drive; an absent one is any. */
export type Filter = Partial<Record<Field | "find", string>>;

export const LABELS: Record<Field, string> = {
  test: "Test",
  source: "Source",
  link: "Interface",
  use: "Use",
  family: "Family",
  controller: "Controller",
  nand: "NAND",
  capacity: "Capacity",
  year: "Year",
  price: "Price",
};

const YEAR = 4;

/** Ends of the ranges of prices, in whole units of a currency. */
const PRICES = [50, 100, 200, 500, 1_000];

/** The range of a price, e.g. `100 to 200 USD`; empty if it is not known. */
function priceRange({ facts }: Target): string {
  if (!facts?.price) return "";
  const { amount_cents, currency } = facts.price;
  const at = PRICES.findIndex((end) => amount_cents < 100 * end);
  if (at === 0) return `below ${PRICES[0]} ${currency}`;
  return at < 0
    ? `${separated(PRICES.at(-1) ?? 0)} ${currency} and more`
    : `${PRICES[at - 1]} to ${PRICES[at]} ${currency}`;
}

type OfTarget = Record<Exclude<Field, "test" | "source">, string>;

/** The values of targets: thousands of runs share a few hundred, and a size takes longer to write than to look up. */
const VALUES = new WeakMap<Target, OfTarget>();

function valuesOf(target: Target): OfTarget {
  const known = VALUES.get(target);
  if (known) return known;
  const { facts, capacity_bytes } = target;
  const values = {
    link: linkOf(target),
    use: facts?.use?.value ?? "",
    family: facts?.family?.value ?? "",
    controller: facts?.controller?.value ?? "",
    nand: facts?.nand_type?.value ?? "",
    capacity: bytes(capacity_bytes),
    year: facts?.released?.value.slice(0, YEAR) ?? "",
    price: priceRange(target),
  };
  VALUES.set(target, values);
  return values;
}

/** The value of a run in a field; empty if it is not known. A run below full size has the values of its drive. */
function fieldOf(field: Field, { source, runs }: Product, { view }: Run): string {
  if (field === "test") return view.test;
  return field === "source" ? source : valuesOf(runs[0].view.target)[field];
}

type Fits = (product: Product, run: Run) => boolean;

function hasWords(find: string): Fits {
  const words = find.toLowerCase().split(/\s+/);
  return ({ plain }, { view }) => {
    const { serial, firmware, facts } = view.target;
    const text = [
      plain,
      serial,
      firmware,
      facts?.family?.value,
      facts?.controller?.value,
      facts?.nand?.value,
    ];
    const within = text.join(" ").toLowerCase();
    return words.every((word) => within.includes(word));
  };
}

/** Whether a run fits the choices, without that of one field. */
function fitting(filter: Filter, but?: Field): Fits {
  const wanted = FIELDS.filter((field) => field !== but && filter[field] !== undefined);
  const named = filter.find ? hasWords(filter.find) : () => true;
  return (product, run) =>
    wanted.every((field) => fieldOf(field, product, run) === filter[field]) && named(product, run);
}

/** The drives with at least one wanted run, each with these runs only. */
export function filtered(products: readonly Product[], filter: Filter): Product[] {
  const fits = fitting(filter);
  return products.flatMap((product) => {
    const runs = product.runs.filter((run) => fits(product, run));
    return runs.length === 0 ? [] : [{ ...product, runs }];
  });
}

export interface Option {
  value: string;
  label: string;
  /** Runs with this value that fit the other fields. */
  count: number;
}

/** Made once, and not before a list has two values: each one loads the order of all letters. */
let order: Intl.Collator | null = null;

function inRise(a: string, b: string): number {
  order ??= new Intl.Collator("en", { numeric: true });
  return order.compare(a, b);
}

const LABEL_OF: Partial<Record<Field, (value: string) => string>> = {
  test: heading,
  source: (value) => sourceWord(value as Product["source"]),
};

/** Fields in the order of a number, not of letters. */
const NUMBERS: Partial<Record<Field, (target: Target) => number>> = {
  capacity: ({ capacity_bytes }) => capacity_bytes,
  price: ({ facts }) => facts?.price?.amount_cents ?? 0,
};

function inFieldOrder(field: Field, values: string[], products: readonly Product[]): string[] {
  if (field === "test") return inOrder(values);
  const number = NUMBERS[field];
  if (!number) return values.sort(inRise);
  const numbers = new Map(
    products.map((product) => {
      const [run] = product.runs;
      return [fieldOf(field, product, run), number(run.view.target)];
    }),
  );
  return values.sort((a, b) => (numbers.get(a) ?? 0) - (numbers.get(b) ?? 0));
}

/** The values of a field that at least one run has, with the number of drives; the chosen one is among them. */
export function optionsOf(products: readonly Product[], filter: Filter, field: Field): Option[] {
  const counts = new Map<string, number>();
  const fits = fitting(filter, field);
  for (const product of products) {
    const own = new Map<string, boolean>();
    for (const run of product.runs) {
      const value = fieldOf(field, product, run);
      if (value !== "") own.set(value, own.get(value) || fits(product, run));
    }
    for (const [value, isFitting] of own) counts.set(value, (counts.get(value) ?? 0) + (isFitting ? 1 : 0));
  }
  const ordered = inFieldOrder(field, [...counts.keys()], products);
  const label = LABEL_OF[field] ?? ((value: string) => value);
  return ordered.map((value) => ({ value, label: label(value), count: counts.get(value) ?? 0 }));
}
