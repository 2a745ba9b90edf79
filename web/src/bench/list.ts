// The drives of a library in the order of a figure: a bar for each, its facts, its runs, and a place in the basket.

import { bytes, moment, nameText } from "../data/format";
import { type Run, scaleOf, spareName } from "../data/load";
import { lackOf, statusWord } from "../data/marks";
import { fullName } from "../data/products";
import type { Entry, Ranking } from "../data/ranking";
import type { Target } from "../data/schema.gen";
import { heading } from "../data/tests";
import { aside, h, later, scroller } from "../dom";
import { conditionsLine } from "../view/bars/figure";
import { barLayout } from "../view/bars/layout";
import { sourceSign } from "../view/parts/source";

/** Drives on the page before a reader asks for more. */
const PAGE = 50;
/** A low guess of what stands above the rows, and of a row: the rows of the first screen are drawn before the others. */
const HEAD_HEIGHT = 340;
const ROW_HEIGHT = 32;

const YEAR = 4;

/** The list asks its owner about the basket, and tells it about presses. */
export interface Basket {
  has(key: string): boolean;
  toggle(key: string): void;
  /** Address of one run as a page of its own. */
  link(run: string): string;
}

function pick(basket: Basket, key: string, name: string): HTMLElement {
  const box = h("input", { type: "checkbox", "aria-label": `Compare ${name}`, "data-pick": key });
  box.checked = basket.has(key);
  box.addEventListener("change", () => basket.toggle(key));
  return box;
}

function barCell({ value, text, standing, reason, label, product }: Entry, length: number): HTMLElement {
  if (value === null) return h("td", { class: "bench-bar absent", title: reason }, reason);
  const unlike = standing === "unlike";
  return h(
    "td",
    { class: unlike ? "bench-bar unlike" : "bench-bar", title: unlike ? null : reason || null },
    h(
      "div",
      { class: "bench-line" },
      h("span", {
        class: `bench-fill bench-${product.source}`,
        "aria-hidden": "true",
        style: `width: calc(${length.toFixed(4)} * (100% - var(--value-room)))`,
      }),
      h("span", { class: "bench-value" }, text, unlike && " †"),
      !unlike && label !== "" && h("span", { class: "mark-label", title: reason }, ` ${label}`),
    ),
    unlike && h("span", { class: "bench-reason quiet small" }, `not ranked: ${reason}`),
  );
}

const LACKS = { incomplete: statusWord, quick: () => "quick", "not-steady": () => "not steady" };

function runRow(basket: Basket, run: Run): HTMLElement {
  const { id, view, variant } = run;
  const lack = lackOf(run);
  const name = `${heading(view.test)}, ${spareName(variant, null)}`;
  return h(
    "li",
    {},
    pick(basket, id, `${name} of ${nameText(view.target.name)}, ${moment(view.started)}`),
    " ",
    h("a", { href: basket.link(id) }, name),
    ` · ${moment(view.started)}`,
    lack && ` · ${LACKS[lack](run)}`,
    scaleOf(run) !== "" && ` · at ${scaleOf(run)} of full size`,
  );
}

/** Capacity, controller, NAND, year and firmware, as far as they are known. */
function factWords({ capacity_bytes, facts, firmware }: Target): string {
  const year = facts?.released?.value.slice(0, YEAR);
  const words = [facts?.controller?.value, facts?.nand_type?.value, year];
  const known = [...words, firmware && `firmware ${firmware}`].filter((one) => one !== undefined && one);
  return [bytes(capacity_bytes), ...known.map((one) => nameText(String(one)))].join(" · ");
}

/** A row of a drive; its runs are built when a reader opens them. */
function driveRow(entry: Entry, length: number, basket: Basket): HTMLElement {
  const { product, rank } = entry;
  const [{ view }] = product.runs;
  const runs = h(
    "details",
    {},
    h("summary", {}, String(product.runs.length), aside(` runs of ${product.plain}`)),
  );
  runs.addEventListener("toggle", () => {
    if (!runs.open || runs.querySelector("ul")) return;
    runs.append(
      h(
        "ul",
        { class: "bench-runs" },
        product.runs.map((run) => runRow(basket, run)),
      ),
    );
  });
  return h(
    "tr",
    { "data-key": product.key },
    h("td", {}, pick(basket, product.key, product.plain)),
    h("td", { class: "bench-rank" }, rank),
    h(
      "th",
      { scope: "row", title: fullName(product.name, product.runs[0]) },
      sourceSign(product.source),
      product.name,
      h("span", { class: "bench-facts quiet small" }, factWords(view.target)),
    ),
    barCell(entry, length),
    h("td", {}, runs),
  );
}

function table(body: HTMLElement, title: string): HTMLElement {
  return h(
    "table",
    { class: "bench-list" },
    h("caption", {}, aside(`Drives by ${title}`)),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, aside("Compare")),
        h("th", { scope: "col" }, h("abbr", { title: "Rank" }, "#")),
        h("th", { scope: "col" }, "Drive"),
        h("th", { scope: "col" }, title),
        h("th", { scope: "col" }, "Runs"),
      ),
    ),
    body,
  );
}

/** Rows that a reader can see without scrolling, and a few more. */
function firstScreen(): number {
  return Math.ceil(Math.max(window.innerHeight - HEAD_HEIGHT, HEAD_HEIGHT) / ROW_HEIGHT);
}

/** The list, and a button for the rest of a long one. */
export function list(ranking: Ranking, title: string, basket: Basket): HTMLElement {
  const layout = barLayout(ranking);
  const lengths = new Map(layout.rows.map(({ entry, length }) => [entry, length]));
  const row = (entry: Entry) => driveRow(entry, lengths.get(entry) ?? 0, basket);
  const { entries } = ranking;
  const body = h("tbody", {});
  const grow = (rows: number) => body.append(...entries.slice(body.rows.length, rows).map(row));
  grow(Math.min(firstScreen(), PAGE));
  later(() => grow(PAGE));
  const more = h("button", { type: "button", class: "button" }, `Show all ${entries.length} drives`);
  more.addEventListener("click", () => {
    grow(entries.length);
    more.remove();
  });
  return h(
    "div",
    {},
    scroller(`Drives by ${title}`, table(body, title)),
    entries.length > PAGE && more,
    layout.isLog && h("p", { class: "quiet small" }, "The bars have a log scale."),
    conditionsLine(ranking),
  );
}
