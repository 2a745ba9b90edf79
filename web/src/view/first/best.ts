// Best for: the drive for each purpose, the least price, and the mean over the suite.

import { type App, ranked } from "../../app";
import { purposes, suiteMean } from "../../data/best";
import { wholePercent } from "../../data/format";
import type { Product } from "../../data/products";
import { isGraphed } from "../../data/tests";
import { h } from "../../dom";
import { pricePerGb } from "../page/fact-rows";
import { goTo, goToChart } from "../parts/address";
import { sourceSign } from "../parts/source";

/** Means of more drives than these are those of the best. */
const MEANS_MAX = 8;

function named(products: readonly Product[]): (Node | string)[] {
  return products.flatMap(({ source, name }, at) => [
    ...(at > 0 ? [" and "] : []),
    h("span", { class: "signed" }, sourceSign(source), h("b", {}, name)),
  ]);
}

function item(
  purpose: string,
  products: readonly Product[],
  by: string,
  value: string,
  go: () => void,
): HTMLElement {
  return h(
    "div",
    {},
    h("dt", {}, purpose),
    h("dd", {}, named(products.slice(0, 2)), products.length > 2 && ` and ${products.length - 2} more`),
    h(
      "dd",
      { class: "quiet small" },
      `${by}: `,
      h("button", { type: "button", class: "verdict-link", onclick: go }, value),
    ),
  );
}

function cheapest({ products, library }: App): { product: Product; text: string } | null {
  const priced = library.listed.flatMap((drive) => {
    const product = products.find(({ key }) => key === drive.key);
    const price = pricePerGb(drive);
    return product && price ? [{ product, ...price }] : [];
  });
  const currencies = new Set(priced.map(({ currency }) => currency));
  if (priced.length < 2 || currencies.size > 1) return null;
  return priced.reduce((best, one) => (one.value < best.value ? one : best));
}

function goToFacts(app: App): void {
  const fold = document.querySelector<HTMLDetailsElement>("#facts details");
  if (fold) fold.open = true;
  goTo(app, "facts");
}

function content(app: App): HTMLElement[] {
  const rank = (test: string, metric: string) => ranked(app, test, metric);
  const items = purposes(rank).map(({ name, by, best, ranking: { test, figure, ranked: of } }) =>
    item(
      name,
      best.map(({ product }) => product),
      of < app.products.length ? `${by}, of ${of} drives that were asked` : by,
      figure.unit === "iops" ? `${best[0].text} IOPS` : best[0].text,
      () => goToChart(app, test, figure.name, isGraphed(test)),
    ),
  );
  const cheap = cheapest(app);
  if (cheap) items.push(item("Price", [cheap.product], "per usable GB", cheap.text, () => goToFacts(app)));
  if (items.length === 0) return [];
  const mean = suiteMean(app.products, rank);
  const told = mean?.shares
    .slice(0, MEANS_MAX)
    .map(({ product, share }) => `${product.plain} ${wholePercent(share)}`);
  return [
    h("h2", { id: "best-title" }, "Best for"),
    h("dl", { class: "best-for" }, items),
    ...(mean && told
      ? [
          h(
            "p",
            { class: "small", id: "suite-mean" },
            h("b", {}, "Over the whole suite: "),
            `${told.join(", ")}. `,
            h(
              "span",
              { class: "quiet" },
              `Geometric mean over ${mean.tests} tests of the rates and times at a glance in which every drive is ranked, each as a share of the best drive.`,
            ),
          ),
        ]
      : []),
  ];
}

/** Nothing for a single drive. */
export function bestSection(app: App): HTMLElement | null {
  if (app.products.length < 2) return null;
  const element = h("section", { id: "best", "aria-labelledby": "best-title" });
  const update = () => {
    const parts = content(app);
    element.hidden = parts.length === 0;
    element.replaceChildren(...parts);
  };
  app.store.subscribe((state, before) => {
    if (state.variant !== before.variant) update();
  });
  update();
  return element;
}
