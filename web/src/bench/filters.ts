// The choice of drives: words of the name, and a value for each field.

import { nameText } from "../data/format";
import type { Product } from "../data/products";
import { h } from "../dom";
import type { Choice } from "./address";
import { labelled, option, select } from "./controls";
import { FIELDS, type Field, type Filter, LABELS, optionsOf } from "./filter";

type Change = (change: Partial<Choice>) => void;

/** Time after the last key of a word before the list follows. */
const TYPING_MS = 120;

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

export function fieldChoices(products: readonly Product[], choice: Choice, change: Change): HTMLElement[] {
  const choices = FIELDS.map((field) => fieldChoice(products, choice, field, change));
  return choices.filter((one) => one !== null);
}

/** The chosen values in words, for the closed fold. */
export function filterWords({ filter }: Choice): string {
  const chosen = FIELDS.flatMap((field) =>
    filter[field] === undefined ? [] : [LABELS[field].toLowerCase()],
  );
  return chosen.length === 0 ? "Filters" : `Filters: ${chosen.join(", ")}`;
}

/** The field for words stays the same element, so that the list may follow while a reader types. */
export function findField(filter: Filter, change: (find: string) => void): HTMLInputElement {
  const input = h("input", { type: "search", "data-choice": "find", value: filter.find ?? "" });
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => change(input.value.trim()), TYPING_MS);
  });
  return input;
}
