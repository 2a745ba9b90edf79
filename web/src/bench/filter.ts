// The runs of a library that a reader wants to see.

import { bytes } from "../data/format";
import type { Run } from "../data/load";
import type { Product } from "../data/products";
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

/** The value of a run in a field; empty if it is not known. */
function fieldOf(field: Field, { source }: Product, { view }: Run): string {
  const { facts, capacity_bytes } = view.target;
  switch (field) {
    case "test":
      return view.test;
    case "source":
      return source;
    case "capacity":
      return bytes(capacity_bytes);
    case "year":
      return facts?.released?.value.slice(0, YEAR) ?? "";
    case "nand":
      return facts?.nand_type?.value ?? "";
    default:
      return facts?.[field]?.value ?? "";
  }
}

function hasWords(find: string, { plain }: Product, { view }: Run): boolean {
  const { serial, firmware, facts } = view.target;
  const text = [plain, serial, firmware, facts?.family?.value, facts?.controller?.value, facts?.nand?.value];
  const within = text.join(" ").toLowerCase();
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word));
}

function fits(filter: Filter, product: Product, run: Run, but?: Field): boolean {
  const wanted = FIELDS.filter((field) => field !== but && filter[field] !== undefined);
  return (
    wanted.every((field) => fieldOf(field, product, run) === filter[field]) &&
    (!filter.find || hasWords(filter.find, product, run))
  );
}

/** The drives with at least one wanted run, each with these runs only. */
export function filtered(products: readonly Product[], filter: Filter): Product[] {
  return products.flatMap((product) => {
    const runs = product.runs.filter((run) => fits(filter, product, run));
    return runs.length === 0 ? [] : [{ ...product, runs }];
  });
}

export interface Option {
  value: string;
  label: string;
  /** Runs with this value that fit the other fields. */
  count: number;
}

function inRise(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

const LABEL_OF: Partial<Record<Field, (value: string) => string>> = {
  test: heading,
  source: (value) => sourceWord(value as Product["source"]),
};

/** By size, not by letters. */
function bySize(products: readonly Product[]): string[] {
  const sizes = new Map<string, number>();
  for (const { runs } of products) {
    const size = runs[0].view.target.capacity_bytes;
    sizes.set(bytes(size), size);
  }
  return [...sizes].sort(([, a], [, b]) => a - b).map(([label]) => label);
}

/** The values of a field that at least one run has; the chosen one is among them. */
export function optionsOf(products: readonly Product[], filter: Filter, field: Field): Option[] {
  const counts = new Map<string, number>();
  for (const product of products) {
    for (const run of product.runs) {
      const value = fieldOf(field, product, run);
      if (value === "") continue;
      counts.set(value, (counts.get(value) ?? 0) + (fits(filter, product, run, field) ? 1 : 0));
    }
  }
  const values = [...counts.keys()].sort(inRise);
  const ordered = field === "test" ? inOrder(values) : field === "capacity" ? bySize(products) : values;
  const label = LABEL_OF[field] ?? ((value: string) => value);
  return ordered.map((value) => ({ value, label: label(value), count: counts.get(value) ?? 0 }));
}
