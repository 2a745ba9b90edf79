// Title and theme, the answer, and what the report lacks.

import type { App } from "../../app";
import { shortened, visible } from "../../data/format";
import { HEADLINES } from "../../data/headlines";
import type { Product } from "../../data/products";
import type { Report } from "../../data/schema.gen";
import { asked, isGraphed } from "../../data/tests";
import { h } from "../../dom";
import type { Store, Theme } from "../../state";

const NEXT_THEME: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

export function themeButton(store: Store): HTMLElement {
  const button = h("button", { type: "button", class: "button quiet-button", id: "theme" });
  const label = () => {
    button.textContent = `Theme: ${store.state.theme}`;
  };
  button.addEventListener("click", () => store.set({ theme: NEXT_THEME[store.state.theme] }));
  store.subscribe(label);
  label();
  return button;
}

/** Letters of a title. */
const TITLE_MAX = 200;

/** The heading of a page, which is the title of the window as well. */
export function titleHeading(title: string): HTMLElement {
  const short = shortened(title, TITLE_MAX);
  document.title = visible(short);
  return h("h1", { title: short === title ? null : title }, short);
}

/** Titles that the program gives where nobody chose one. */
const GIVEN = ["SSD review", "SSD performance consistency", "SSD performance", "Comparison"];

const NUMBERS = [
  "",
  "One",
  "Two",
  "Three",
  "Four",
  "Five",
  "Six",
  "Seven",
  "Eight",
  "Nine",
  "Ten",
  "Eleven",
  "Twelve",
];

/** The drive, or the number of drives with their question, of a single test without a headline its own; a title that somebody chose stays. */
export function titleOf({ title }: Report, products: readonly Product[]): string {
  if (!GIVEN.includes(title) || products.length === 0) return title;
  if (products.length === 1) return products[0].name;
  const tests = new Set(products.flatMap(({ runs }) => runs.map(({ view }) => view.test)));
  const count = NUMBERS[products.length] ?? products.length;
  if ([...tests].some(isGraphed)) return `${count} drives: which keeps its pace?`;
  const [only, ...others] = tests;
  const isOfSpeed = others.length > 0 || HEADLINES.some(({ test }) => test === only);
  return `${count} drives: ${isOfSpeed ? "which is fastest?" : asked(only)}`;
}

/** Title, then the first line about the runs that are not whole, then the answer. */
export function header(
  { library: { report }, products, store }: App,
  card: HTMLElement,
  first: HTMLElement | null,
  answer: HTMLElement | null,
): HTMLElement {
  return h(
    "header",
    { class: "masthead" },
    h(
      "div",
      { class: "masthead-top" },
      h("p", { class: "overline" }, report.tool_version),
      h("div", {}, card, " ", themeButton(store)),
    ),
    titleHeading(titleOf(report, products)),
    first,
    answer,
    leftOut(report.left_out ?? []),
  );
}

/** Tests that a review omitted, with the reasons. */
function leftOut(reasons: readonly string[]): HTMLElement | null {
  if (reasons.length === 0) return null;
  return h(
    "div",
    { class: "notice left-out", role: "note" },
    h("p", {}, h("b", {}, "Left out of this review")),
    h(
      "ul",
      {},
      reasons.map((reason) => h("li", {}, reason)),
    ),
  );
}
