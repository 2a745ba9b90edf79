// Links to the sections of the page: beside it if there is room, else folded above it.

import { bringIntoView, h } from "../../dom";

/** As in the style sheet: below this there is one column. */
const NARROW = "(max-width: 61rem)";

/** The hash contains the view, so links within the page scroll without changing it. */
function goTo(section: HTMLElement): void {
  bringIntoView(section);
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
}

function link(section: HTMLElement): HTMLElement {
  const title = section.querySelector("h2")?.textContent ?? "";
  return h(
    "li",
    {},
    h("button", { type: "button", class: "page-link", onclick: () => goTo(section) }, title),
  );
}

export function pageLinks(sections: readonly HTMLElement[]): HTMLElement {
  const list = h(
    "details",
    {},
    h("summary", {}, "Sections"),
    h("ul", { class: "page-links" }, sections.map(link)),
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
