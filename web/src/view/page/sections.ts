// Links to the sections of the page: beside it if there is room, else folded above it.

import type { App } from "../../app";
import { h } from "../../dom";
import { goTo } from "../parts/address";

/** As in the style sheet: below this there is one column. */
const NARROW = "(max-width: 61rem)";

/** The short name of a section; its heading may be a whole question. */
function nameOf(section: HTMLElement): string {
  return section.dataset.name ?? section.querySelector("h2")?.textContent ?? "";
}

function link(app: App, section: HTMLElement): HTMLElement {
  const go = () => goTo(app, section.id);
  return h("li", {}, h("button", { type: "button", class: "page-link", onclick: go }, nameOf(section)));
}

export function pageLinks(app: App, sections: readonly HTMLElement[]): HTMLElement {
  const list = h(
    "details",
    {},
    h("summary", {}, "Sections"),
    h(
      "ul",
      { class: "page-links" },
      sections.map((section) => link(app, section)),
    ),
  );
  const narrow = matchMedia(NARROW);
  // With enough room the list is always visible, without a handle to fold it.
  const fold = () => {
    list.open = !narrow.matches;
  };
  narrow.addEventListener("change", fold);
  fold();
  return h("nav", { class: "page-nav", "aria-label": "Sections of this page" }, list);
}
