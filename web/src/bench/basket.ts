// The basket: the drives and runs that a reader chose, at most 20, and the ways to choose many.

import { scaleOf } from "../data/load";
import { h } from "../dom";
import { BASKET_MAX, type Choice } from "./address";
import { filtered } from "./filter";
import type { Books } from "./products";

/** Drives of the small choice: a colour each on the page of the comparison. */
const FIRST = 5;

/**
 * The runs of the basket: all wanted runs of its drives, and its single runs. Runs below full size are no part of a
 * drive that has others.
 */
export function runsIn({ products, scaled }: Books, { filter, basket }: Choice): string[] {
  const wanted = filtered(products, filter);
  const names = basket.flatMap((key) => {
    const runs = wanted.find((product) => product.key === key)?.runs ?? scaled.get(key);
    if (runs) {
      const size = scaleOf(runs[0]);
      return runs.filter((run) => scaleOf(run) === size).map(({ id }) => id);
    }
    return products.some((product) => product.runs.some(({ id }) => id === key)) ? [key] : [];
  });
  return [...new Set(names)];
}

export interface BasketContent {
  /** Names of the chosen drives and runs. */
  names: readonly string[];
  /** Runs that they stand for. */
  runs: number;
  /** Address of their page. */
  open: string;
}

/** `shown` are the keys of the drives in the list, best first. */
export function basketBar(
  { names, runs, open }: BasketContent,
  shown: readonly string[],
  add: (keys: readonly string[]) => void,
  clear: () => void,
): HTMLElement[] {
  const button = (text: string, act: () => void) =>
    h("button", { type: "button", class: "button quiet-button", onclick: act }, text);
  const all = Math.min(shown.length, BASKET_MAX);
  const which = all < shown.length ? `the first ${all}` : `all ${all}`;
  const buttons = [
    names.length > 0 && h("a", { class: "button", href: open }, `Compare ${names.length} chosen`),
    all > FIRST && button(`Choose the first ${FIRST} shown`, () => add(shown.slice(0, FIRST))),
    all > 1 && button(`Choose ${which} shown`, () => add(shown.slice(0, all))),
    names.length > 0 && button("Clear", clear),
  ];
  const text =
    names.length === 0 ? "Tick drives or runs to compare them." : `${runs} runs: ${names.join(", ")}`;
  return [h("div", { class: "bench-buttons" }, buttons), h("p", { class: "quiet small" }, text)];
}

/** The basket with more keys, as far as there is room. */
export function added(basket: readonly string[], keys: readonly string[]): string[] {
  return [...new Set([...basket, ...keys])].slice(0, BASKET_MAX);
}
