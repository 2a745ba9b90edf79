// The runs of a library that a reader wants to see.

import { bytes } from "../data/format";
import type { Run } from "../data/load";
import type { Product } from "../data/products";
import type { Target } from "../data/schema.gen";
import { heading, inOrder } from "../data/tests";
import { sourceWord } from "../view/parts/source";

/** The properties with a choice of their own, in the order of the page. */
export const FIELDS = ["test", "source", "family", "controller", "nand", "capacity", "year"] as const;

export type Field = (typeof FIELDS)[number];

/** A wanted value for each field, and words that must stand in the name of the drive; an absent one is any. */
export type Filter = Partial<Record<Field | "find", string>>;

export const LABELS: Record<Field, string> = {
  test: "Test",
  source: "Source",
  family: "Family",
  controller: "Controller",
  nand: "NAND",
  capacity: "Capacity",
  year: "Year",
};

const YEAR = 4;

type OfTarget = Record<Exclude<Field, "test" | "source">, string>;

/** The values of targets: thousands of runs share a few hundred, and a size takes longer to write than to look up. */
const VALUES = new WeakMap<Target, OfTarget>();

function valuesOf(target: Target): OfTarget {
  const known = VALUES.get(target);
  if (known) return known;
  const { facts, capacity_bytes } = target;
  const values = {
    family: facts?.family?.value ?? "",
    controller: facts?.controller?.value ?? "",
    nand: facts?.nand_type?.value ?? "",
    capacity: bytes(capacity_bytes),
    year: facts?.released?.value.slice(0, YEAR) ?? "",
  };
  VALUES.set(target, values);
  return values;
}

/** The value of a run in a field; empty if it is not known. */
function fieldOf(field: Field, { source }: Product, { view }: Run): string {
  if (field === "test") return view.test;
  return field === "source" ? source : valuesOf(view.target)[field];
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

/** By size, not by letters. */
function bySize(products: readonly Product[]): string[] {
  const sizes = new Map<string, number>();
  for (const { runs } of products) {
    const { target } = runs[0].view;
    sizes.set(valuesOf(target).capacity, target.capacity_bytes);
  }
  return [...sizes].sort(([, a], [, b]) => a - b).map(([label]) => label);
}

/** The values of a field that at least one run has; the chosen one is among them. */
export function optionsOf(products: readonly Product[], filter: Filter, field: Field): Option[] {
  const counts = new Map<string, number>();
  const fits = fitting(filter, field);
  for (const product of products) {
    for (const run of product.runs) {
      const value = fieldOf(field, product, run);
      if (value === "") continue;
      counts.set(value, (counts.get(value) ?? 0) + (fits(product, run) ? 1 : 0));
    }
  }
  const values = [...counts.keys()].sort(inRise);
  const ordered = field === "test" ? inOrder(values) : field === "capacity" ? bySize(products) : values;
  const label = LABEL_OF[field] ?? ((value: string) => value);
  return ordered.map((value) => ({ value, label: label(value), count: counts.get(value) ?? 0 }));
}
