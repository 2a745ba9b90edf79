// The ranked figure: a short list of headlines, and a field with the names of all figures.

import { figureOf } from "../data/figures";
import { nameText } from "../data/format";
import { HEADLINES, titleOf } from "../data/headlines";
import { byVariant, spareName, variantsTitle } from "../data/load";
import { type Product, runsOf } from "../data/products";
import { figuresOfTest } from "../data/ranking";
import { heading, inOrder } from "../data/tests";
import { h } from "../dom";
import type { Choice } from "./address";
import { labelled, option, select } from "./controls";

/** A test and one of its figures. */
export interface By {
  test: string;
  metric: string;
}

type Change = (change: Partial<Choice>) => void;

export function splitFigure(by: string): By {
  const at = by.indexOf(":");
  return { test: by.slice(0, at), metric: by.slice(at + 1) };
}

function keyOf({ test, metric }: By): string {
  return `${test}:${metric}`;
}

export function hasFigure(product: Product, { test, metric }: By): boolean {
  return runsOf(product, test).some(({ view }) => view.metrics[metric] !== undefined);
}

function testsOf(products: readonly Product[]): string[] {
  return inOrder(products.flatMap(({ runs }) => runs.map(({ view }) => view.test)));
}

/** The figure to rank by: the chosen one if a run has it, else the first headline, else any. */
export function rankedBy(products: readonly Product[], by: string): By | null {
  const has = (figure: By) => products.some((product) => hasFigure(product, figure));
  const chosen = splitFigure(by);
  if (has(chosen)) return chosen;
  const headline = HEADLINES.find(has);
  if (headline) return headline;
  for (const test of testsOf(products)) {
    const [metric] = figuresOfTest(products, test);
    if (metric !== undefined) return { test, metric };
  }
  return null;
}

/** The figure with the plain name of its test, e.g. `Random reads · The four corners`. */
export function figureWords({ test, metric }: By): string {
  return `${titleOf(test, figureOf(metric))} · ${heading(test)}`;
}

/** Every figure of these drives by its words. Two figures of a test with the same words have their names as well. */
export function figuresByWords(products: readonly Product[]): Map<string, By> {
  const all = testsOf(products).flatMap((test) =>
    figuresOfTest(products, test).map((metric) => ({ test, metric })),
  );
  const found = new Map<string, By>();
  for (const by of all) {
    const words = figureWords(by);
    found.set(found.has(words) ? `${words} · ${nameText(by.metric)}` : words, by);
  }
  return found;
}

/** The headlines that a drive has, and the chosen figure if it is none of them. */
export function headlineChoice(products: readonly Product[], by: By, change: Change): HTMLElement {
  const chosen = keyOf(by);
  const entry = (one: By) => option(keyOf(one), figureWords(one), chosen);
  const headlines = HEADLINES.filter((one) => products.some((product) => hasFigure(product, one)));
  const isOther = headlines.every((one) => keyOf(one) !== chosen);
  const groups = [
    isOther && h("optgroup", { label: "Chosen figure" }, entry(by)),
    headlines.length > 0 && h("optgroup", { label: "Headlines" }, headlines.map(entry)),
  ];
  return labelled(
    "Rank by",
    select("by", groups, (value) => change({ by: value })),
  );
}

/** The figure that a reader means: the one with these words, or the first that has them in its words or its name. */
export function meantFigure(figures: ReadonlyMap<string, By>, text: string): By | null {
  const exact = figures.get(text);
  if (exact) return exact;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const found = [...figures].find(([whole, { test, metric }]) => {
    const within = [whole, test, metric].join(" ").toLowerCase();
    return words.every((word) => within.includes(word));
  });
  return found?.[1] ?? null;
}

/** A field with the names of all figures, which are hundreds: it reads them when a reader comes to it. */
export function figureField(products: readonly Product[], change: Change): HTMLElement {
  const list = h("datalist", { id: "bench-figures" });
  const input = h("input", {
    type: "search",
    "data-choice": "figure",
    list: list.id,
    placeholder: "name of a figure",
    autocomplete: "off",
  });
  let figures: Map<string, By> | null = null;
  const all = () => {
    if (figures) return figures;
    figures = figuresByWords(products);
    list.replaceChildren(...[...figures.keys()].map((words) => h("option", { value: words })));
    return figures;
  };
  input.addEventListener("focus", all);
  input.addEventListener("input", () => {
    input.setCustomValidity("");
    const figure = all().get(input.value);
    if (figure) change({ by: keyOf(figure) });
  });
  input.addEventListener("change", () => {
    const figure = meantFigure(all(), input.value);
    input.setCustomValidity(figure || input.value === "" ? "" : "no figure has these words");
    input.reportValidity();
    if (figure) change({ by: keyOf(figure) });
  });
  return labelled("Any figure", h("span", {}, input, list));
}

export function areaChoice(products: readonly Product[], by: By, area: string, change: Change) {
  const runs = products.flatMap((product) => runsOf(product, by.test));
  const variants = [...new Set(runs.map(({ view }) => view.span.variant))].sort(byVariant);
  if (variants.length < 2) return null;
  const options = variants.map((variant) => option(variant, spareName(nameText(variant), null), area));
  return labelled(
    variantsTitle(variants),
    select("area", options, (value) => change({ area: value })),
  );
}
