// Product against product: every figure of two drives side by side.

import { type App, reviewed } from "../../app";
import { FELT_NS } from "../../data/figures";
import { clock, duration, separated } from "../../data/format";
import { type Felt, feltIn, type PairRow, type PairTest, pairOf } from "../../data/pair";
import type { Product } from "../../data/products";
import { heading, question } from "../../data/tests";
import { aside, h, inFold, scroller } from "../../dom";
import { sourceSign } from "../parts/source";

/** The two drives of the address, else the chosen one with the marked one, or with the next. */
function pairNow(app: App): [Product, Product] {
  const [left, right] = app.store.state.pair.map((key) => app.products.find((one) => one.key === key));
  if (left && right) return [left, right];
  const first = reviewed(app) ?? app.products[0];
  const others = app.products.filter((one) => one !== first);
  const second = others.find(({ key }) => app.store.state.marked.includes(key)) ?? others[0] ?? first;
  return [first, second];
}

function chooser(app: App, side: 0 | 1, label: string): HTMLElement {
  const select = h(
    "select",
    { "data-side": side },
    app.products.map((product) => h("option", { value: product.key }, product.plain)),
  );
  const update = () => {
    select.value = pairNow(app)[side].key;
  };
  select.addEventListener("change", () => {
    const keys = pairNow(app).map(({ key }) => key);
    keys[side] = select.value;
    app.store.set({ pair: keys });
  });
  app.store.subscribe(update);
  update();
  return h("label", {}, label, " ", select);
}

/** Length of the bar of the one ahead, in percent: a factor of ten fills it. */
function barWidth({ values: [a, b], ahead }: PairRow): number {
  if (ahead === null || a === null || b === null) return 0;
  const [small, large] = [Math.min(a, b), Math.max(a, b)];
  return small <= 0 ? 100 : Math.min(100, 100 * Math.log10(large / small));
}

function balance(row: PairRow, side: 0 | 1): HTMLElement {
  const width = row.ahead === side ? barWidth(row) : 0;
  return h(
    "td",
    { class: `balance balance-${side}`, "aria-hidden": "true" },
    width > 0 && h("span", { style: `width: ${width.toFixed(0)}%` }),
  );
}

function figureRow(row: PairRow, products: readonly Product[]): HTMLElement {
  const value = (side: 0 | 1) =>
    h(
      "td",
      { class: row.ahead === side ? "ahead" : null, title: row.notes[side] || null },
      row.texts[side],
      row.ahead === side && aside(" (ahead)"),
    );
  const who = row.ahead === null ? "" : products[row.ahead].plain;
  return h(
    "tr",
    { "data-figure": row.figure.name, title: who === "" ? null : `Ahead: ${who}` },
    h("th", { scope: "row" }, row.title),
    value(0),
    balance(row, 0),
    balance(row, 1),
    value(1),
    h("td", { class: "quiet" }, row.difference),
  );
}

function testRows(
  { test, rows, unlike }: PairTest,
  products: readonly Product[],
  all: boolean,
): HTMLElement | null {
  const kept = all ? rows : rows.filter(({ isMain }) => isMain);
  if (kept.length === 0) return null;
  const warning =
    unlike.length > 0 &&
    h("span", { class: "unlike-note" }, ` Not compared; the two runs differ in: ${unlike.join(", ")}.`);
  return h(
    "tbody",
    {},
    h(
      "tr",
      { class: "group" },
      h("th", { scope: "rowgroup", colspan: 6, title: question(test) }, heading(test), warning),
    ),
    kept.map((row) => figureRow(row, products)),
  );
}

function pairTable(tests: readonly PairTest[], products: readonly Product[], all: boolean): HTMLElement {
  const [left, right] = products;
  const name = `${left.plain} against ${right.plain}`;
  const head = (product: Product, span: number) =>
    h("th", { scope: "col", colspan: span, class: "signed" }, sourceSign(product.source), product.name);
  return scroller(
    name,
    h(
      "table",
      { class: "pair" },
      h("caption", {}, aside(name)),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Figure"),
          head(left, 2),
          head(right, 2),
          h("th", { scope: "col" }, "Difference"),
        ),
      ),
      tests.map((test) => testRows(test, products, all)),
    ),
  );
}

/** Commands that a person sees, and the longest ones. */
function waitText({ longestNs: [a, b], waits: [ofA, ofB] }: Felt): string {
  if (a === null || b === null) return "";
  if (Math.max(a, b) < FELT_NS) return "; no command of either takes 0.1 s, so nobody sees a wait";
  const many =
    ofA === null || ofB === null
      ? "a person sees 0.1 s"
      : `${separated(ofA)} and ${separated(ofB)} take 0.1 s or longer, which a person sees`;
  return `; the longest commands take ${duration(a)} and ${duration(b)}, and ${many}`;
}

function feltSentence(one: Felt, products: readonly Product[]): string {
  const { test, savedS, faster } = one;
  const saved =
    savedS >= 1
      ? `${products[faster].plain} saves ${clock(savedS * 1e9)} of waiting`
      : "the waiting is the same within 1 s";
  return `${heading(test)}: ${saved}${waitText(one)}.`;
}

function feltList(app: App, products: [Product, Product]): HTMLElement | null {
  const felt = feltIn(products, app.store.state.variant);
  if (felt.length === 0) return null;
  return h(
    "div",
    { class: "felt" },
    h("h3", {}, "Would I notice at work?"),
    h(
      "ul",
      {},
      felt.map((one) => h("li", {}, feltSentence(one, products))),
    ),
  );
}

function conditionsNote(products: readonly Product[]): HTMLElement | null {
  const [left, right] = products.map(({ runs }) => runs[0].view.target.capacity_bytes);
  const isUnknown = left === 0 || right === 0;
  if (isUnknown || Math.abs(left - right) <= 0.1 * Math.max(left, right)) return null;
  return h("p", { class: "quiet small" }, "The two have unlike capacities, which alone makes a difference.");
}

/** Nothing for a page with a single drive. */
export function pairSection(app: App): HTMLElement | null {
  if (app.products.length < 2) return null;
  const body = h("div", { class: "pair-body" });
  const every = h("input", { type: "checkbox", id: "pair-every" });
  const update = () => {
    const products = pairNow(app);
    const tests = pairOf(products, app.store.state.variant);
    const nothing = h("p", { class: "notice" }, "These two have no test in common.");
    body.replaceChildren(
      ...[
        conditionsNote(products),
        feltList(app, products),
        tests.length === 0 ? nothing : pairTable(tests, products, every.checked),
      ].filter((one) => one !== null),
    );
  };
  every.addEventListener("change", update);
  const fold = h(
    "details",
    { class: "pair-fold" },
    h("summary", {}, "Two drives side by side, every figure"),
    h(
      "div",
      { class: "pair-choice" },
      chooser(app, 0, "Drive"),
      chooser(app, 1, "against"),
      h("label", {}, every, " every figure"),
    ),
    body,
  );
  // Two drives on a page were chosen to stand side by side.
  fold.open = app.store.state.pair.length > 0 || app.products.length === 2;
  const redraw = inFold(fold, update);
  app.store.subscribe((state, before) => {
    const changed =
      state.pair !== before.pair ||
      state.marked !== before.marked ||
      state.drive !== before.drive ||
      state.variant !== before.variant;
    if (changed) redraw();
  });
  redraw();
  return h(
    "section",
    { id: "pair", "aria-labelledby": "pair-title" },
    h("h2", { id: "pair-title" }, "Product against product"),
    fold,
  );
}
