// Elements without a framework.

import { shortened, visible } from "./data/format";

export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** Letters of a text of a file; a longer one is cut, and its title has all of it. */
const TEXT_MAX = 4_000;

/** A text of a file as a node. */
export function textNode(value: string): Node {
  const text = visible(value);
  if (text.length <= TEXT_MAX) return document.createTextNode(text);
  return h("span", { class: "cut", title: text }, shortened(text, TEXT_MAX));
}

function appendAll(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) appendAll(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(textNode(String(child)));
    }
  }
}

/** Share of the width that one press moves; the content at the edge stays visible. */
const SCROLL_STRIDE = 0.6;

/** A wide table scrolls by itself, by keyboard too. A note above it and its edge show that there is more. */
export function scroller(label: string, ...children: Child[]): HTMLElement {
  const element = h(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": label },
    children,
  );
  const there = h("button", { type: "button", class: "scroll-there", tabindex: "-1", hidden: true });
  const forward = () => element.scrollWidth - element.clientWidth - element.scrollLeft > 2;
  const update = () => {
    element.classList.toggle("more", forward());
    // At the end, the button for the way back takes its place, so that nothing below moves.
    there.textContent = forward() ? "more to the right →" : "← back to the left";
    there.hidden = element.scrollWidth - element.clientWidth <= 2;
  };
  there.addEventListener("click", () => {
    const left = forward() ? element.clientWidth * SCROLL_STRIDE : -element.scrollWidth;
    element.scrollBy({ left, behavior: motion() });
  });
  element.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(element);
  return h("div", { class: "scroll-frame" }, there, element);
}

/** Scrolling is smooth, unless the reader prefers reduced motion. */
function motion(): ScrollBehavior {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
}

export function bringIntoView(element: HTMLElement, block: ScrollLogicalPosition = "start"): void {
  element.scrollIntoView({ block, behavior: motion() });
}

/** Text for screen readers; others see the same beside it. */
export function aside(text: string): HTMLElement {
  return h("span", { class: "sr-only" }, text);
}

/** The policy of the page forbids style attributes in text, and permits the same through the object model. */
export function setAttribute(element: HTMLElement | SVGElement, name: string, value: string | number): void {
  if (name === "style") element.style.cssText = String(value);
  else if (name === "title" || name === "aria-label") element.setAttribute(name, visible(String(value)));
  else element.setAttribute(name, String(value));
}

/** `on...` attributes are listeners, `true` sets a bare attribute, false and null set none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      setAttribute(element, name, value as string | number);
    }
  }
  appendAll(element, children);
  return element;
}

/** The next frame is on the screen. */
export function painted(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

const SOON_MS = 200;

/** For work that the first look at a page does not need: once the browser has nothing else to do, or soon. */
export function later(work: () => void): void {
  requestIdleCallback(work, { timeout: SOON_MS });
}

/** Folds that nobody has opened yet, with the builder of their content. */
const unbuilt = new WeakMap<HTMLDetailsElement, () => Child>();

/** Builds the content of a fold that has none yet. */
export function built(fold: HTMLDetailsElement): void {
  const content = unbuilt.get(fold);
  unbuilt.delete(fold);
  if (content) appendAll(fold, [content()]);
}

/** Work on the content of a fold: at once if it is open, else when it opens. */
export function inFold(fold: HTMLDetailsElement, work: () => void): () => void {
  let isDue = false;
  const update = () => {
    isDue = !fold.open;
    if (fold.open) work();
  };
  fold.addEventListener("toggle", () => {
    if (isDue) update();
  });
  return update;
}

/** A fold that is built when it opens: thousands of cells that few readers look at would slow every button down. */
export function lateFold(name: string, summary: Child, content: () => Child): HTMLDetailsElement {
  const fold = h("details", { class: name }, h("summary", {}, summary));
  unbuilt.set(fold, content);
  fold.addEventListener("toggle", () => built(fold));
  return fold;
}
