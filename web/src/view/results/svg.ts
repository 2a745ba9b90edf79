// Drawings in SVG with the width of their place, so that letters keep their size on every screen.

import { visible } from "../../data/format";
import { setAttribute } from "../../dom";

const SVG = "http://www.w3.org/2000/svg";

export function svg(
  tag: string,
  attributes: Record<string, string | number>,
  ...content: (SVGElement | string)[]
): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...content.map((one) => (typeof one === "string" ? visible(one) : one)));
  return element;
}

/** Width of a letter, a high average. */
const LETTER = 7.2;

export function textWidth(text: string): number {
  return text.length * LETTER;
}

/** Width of a drawing before its place has one, and in print. */
const WIDTH = 720;
const WIDTH_MIN = 260;

/**
 * Redraws when the width changes, and then calls `drawn`. The text beside it says the same, so screen readers skip
 * it. `first` is the width of its place, if that is known.
 */
export function drawing(
  tall: number | ((width: number) => number),
  draw: (width: number) => SVGElement[],
  drawn: (holder: HTMLElement) => void = () => undefined,
  first = WIDTH,
): HTMLElement {
  const holder = document.createElement("div");
  holder.className = "drawing";
  let last = 0;
  const redraw = (wanted: number) => {
    const width = Math.max(WIDTH_MIN, Math.round(wanted));
    if (width === last) return;
    last = width;
    const height = typeof tall === "number" ? tall : tall(width);
    const size = { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" };
    holder.replaceChildren(svg("svg", size, ...draw(width)));
    drawn(holder);
  };
  redraw(first);
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width > 0) redraw(entry.contentRect.width);
  }).observe(holder);
  return holder;
}
