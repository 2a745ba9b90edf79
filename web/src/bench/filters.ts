// The choices above the list: words, a value for each field, the ranked figure and its spare area.

import { figureOf } from "../data/figures";
import { nameText } from "../data/format";
import { HEADLINES, titleOf } from "../data/headlines";
import { byVariant, spareLabel, variantsTitle } from "../data/load";
import { type Product, runsOf } from "../data/products";
import { figuresOfTest } from "../data/ranking";
import { heading, inOrder } from "../data/tests";
import { h, later } from "../dom";
import type { Choice } from "./address";
import { FIELDS, type Field, type Filter, LABELS, optionsOf } from "./filter";

/** A test and one of its figures. */
export interface By {
  test: string;
  metric: string;
}

type Change = (change: Partial<Choice>) => void;

/** Time after the last key of a word before the list follows. */
const TYPING_MS = 120;

export function testsOf(products: readonly Product[]): string[] {
  return inOrder(products.flatMap(({ runs }) => runs.map(({ view }) => view.test)));
}

function split(by: string): By {
  const at = by.indexOf(":");
  return { test: by.slice(0, at), metric: by.slice(at + 1) };
}

/** The figure to rank by: the chosen one if a run has it, else the first headline, else any. */
export function rankedBy(products: readonly Product[], by: string): By | null {
  const has = ({ test, metric }: By) =>
    products.some((product) => runsOf(product, test).some(({ view }) => view.metrics[metric] !== undefined));
  const chosen = split(by);
  if (has(chosen)) return chosen;
  const headline = HEADLINES.find(has);
  if (headline) return headline;
  for (const test of testsOf(products)) {
    const [metric] = figuresOfTest(products, test);
    if (metric !== undefined) return { test, metric };
  }
  return null;
}

function option(value: string, label: string, chosen: string): HTMLElement {
  const element = h("option", { value }, label);
  element.selected = value === chosen;
  return element;
}

function labelled(label: string, control: HTMLElement): HTMLElement {
  return h("label", { class: "bench-choice" }, h("span", { class: "quiet small" }, label), control);
}

function select(name: string, options: HTMLElement[], chosen: (value: string) => void): HTMLElement {
  const element = h("select", { "data-choice": name }, options);
  element.addEventListener("change", () => chosen(element.value));
  return element;
}

function changed(filter: Filter, field: Field | "find", value: string): Filter {
  const { [field]: _, ...rest } = filter;
  return value === "" ? rest : { ...rest, [field]: value };
}

/** Nothing for a field in which no run has a value. */
function fieldChoice(products: readonly Product[], { filter }: Choice, field: Field, change: Change) {
  const options = optionsOf(products, filter, field);
  if (options.length === 0) return null;
  const chosen = filter[field] ?? "";
  const known = options.some(({ value }) => value === chosen);
  return labelled(
    LABELS[field],
    select(
      field,
      [
        option("", "any", chosen),
        ...options.map(({ value, label, count }) => option(value, `${nameText(label)} (${count})`, chosen)),
        ...(known || chosen === "" ? [] : [option(chosen, `${nameText(chosen)} (0)`, chosen)]),
      ],
      (value) => change({ filter: changed(filter, field, value) }),
    ),
  );
}

/** The figures of every test are hundreds: the list of choices gets them once the page stands. */
function figureChoice(products: readonly Product[], by: By, change: Change): HTMLElement {
  const chosen = `${by.test}:${by.metric}`;
  const entry = (test: string, metric: string) =>
    option(`${test}:${metric}`, titleOf(test, figureOf(metric)), chosen);
  const group = (test: string) =>
    h(
      "optgroup",
      { label: heading(test) },
      figuresOfTest(products, test).map((metric) => entry(test, metric)),
    );
  const control = select("by", [entry(by.test, by.metric)], (value) => change({ by: value }));
  later(() => control.replaceChildren(...testsOf(products).map(group)));
  return labelled("Rank by", control);
}

function areaChoice(products: readonly Product[], by: By, area: string, change: Change): HTMLElement | null {
  const runs = products.flatMap((product) => runsOf(product, by.test));
  const variants = [...new Set(runs.map(({ view }) => view.span.variant))].sort(byVariant);
  if (variants.length < 2) return null;
  const options = variants.map((variant) => option(variant, spareLabel(nameText(variant)), area));
  return labelled(
    variantsTitle(variants),
    select("area", options, (value) => change({ area: value })),
  );
}

/** The field for words stays the same element, so that the list may follow while a reader types. */
export function findField(filter: Filter, change: (find: string) => void): HTMLElement {
  const input = h("input", { type: "search", "data-choice": "find", value: filter.find ?? "" });
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => change(input.value.trim()), TYPING_MS);
  });
  return labelled("Find a drive", input);
}

/** All choices but the words. `whole` has every run, `shown` those that fit. */
export function choices(
  whole: readonly Product[],
  shown: readonly Product[],
  choice: Choice,
  by: By | null,
  change: Change,
): HTMLElement[] {
  const fields = FIELDS.map((field) => fieldChoice(whole, choice, field, change));
  const ranking = by ? [figureChoice(shown, by, change), areaChoice(shown, by, choice.area, change)] : [];
  return [...fields, ...ranking].filter((one) => one !== null);
}
