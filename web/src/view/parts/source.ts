// The sign for the origin of a drive's figures: a shape, so that it works without colour and on paper.

import { fullName, type Product, type Source } from "../../data/products";
import { aside, h } from "../../dom";
import { svg } from "../results/svg";

const WORDS: Record<Source, string> = {
  simulated: "simulated",
  drive: "measured on a drive",
  file: "measured on a file",
  imported: "imported from another program",
  none: "no drive at all",
};

export function sourceWord(source: Source): string {
  return WORDS[source];
}

/** The sign in a square of 10, around its middle. */
export function sourceShape(source: Source, x: number, y: number): SVGElement {
  const at = { transform: `translate(${x} ${y})`, class: `source source-${source}` };
  if (source === "simulated") return svg("path", { ...at, d: "M0 -4.6L4.6 0L0 4.6L-4.6 0Z" });
  if (source === "drive") return svg("circle", { ...at, r: 4 });
  if (source === "file") return svg("rect", { ...at, x: -3.8, y: -3.8, width: 7.6, height: 7.6 });
  if (source === "imported") return svg("path", { ...at, d: "M0 -4.6L4.4 3.6L-4.4 3.6Z" });
  return svg("path", { ...at, d: "M-4 -4L4 4M4 -4L-4 4" });
}

export function sourceSign(source: Source): HTMLElement {
  const box = { viewBox: "-6 -6 12 12", class: "source-sign", "aria-hidden": "true" };
  return h(
    "span",
    { title: WORDS[source] },
    svg("svg", box, sourceShape(source, 0, 0)),
    aside(`${WORDS[source]}: `),
  );
}

/** Name with sign; a press brings the drive forward in all charts. */
export function productButton(product: Product, mark: (key: string) => void): HTMLElement {
  return h(
    "button",
    {
      type: "button",
      class: "product-button signed",
      "data-product": product.key,
      title: [fullName(product.name, product.runs[0]), "Bring forward in all charts"]
        .filter(Boolean)
        .join(": "),
      onclick: () => mark(product.key),
    },
    sourceSign(product.source),
    h("span", { class: "product-name" }, product.name),
  );
}
