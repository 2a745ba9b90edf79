// Title and theme, the answer, and what the report lacks.

import { shortened, visible } from "../../data/format";
import type { Library } from "../../data/load";
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

/** Title, then the first line about the runs that are not whole, then the answer. */
export function header(
  { report }: Library,
  store: Store,
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
      themeButton(store),
    ),
    titleHeading(report.title),
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
