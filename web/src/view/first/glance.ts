// All drives by their headline figures, each cell shaded by its rank.

import { type App, ranked } from "../../app";
import { noticeText } from "../../data/felt";
import { GROUPS, HEADLINES, type Headline, headlineKey } from "../../data/headlines";
import type { Product } from "../../data/products";
import { type Entry, type Ranking, rankedIn } from "../../data/ranking";
import { isGraphed } from "../../data/tests";
import { aside, h, scroller } from "../../dom";
import { goToChart } from "../parts/address";
import { toggleMark } from "../parts/colors";
import { productButton } from "../parts/source";

/** Ranks with a shade of their own; fewer drives than this need none. */
const SHADES = 5;
const SHADED_FROM = 4;

/** Letters of a name on one line; a longer one takes two. */
const NAME_LINE = 26;

interface Column {
  headline: Headline;
  ranking: Ranking;
}

/** Columns that at least one run has, if only a mark in the place of its value. */
function columnsOf(app: App): Column[] {
  return HEADLINES.map((headline) => ({
    headline,
    ranking: ranked(app, headline.test, headline.metric),
  })).filter(({ ranking }) => ranking.entries.some(({ value, label }) => value !== null || label !== ""));
}

function entryOf({ ranking }: Column, product: Product): Entry | undefined {
  return ranking.entries.find((entry) => entry.product === product);
}

/** Rows in the order of a column; drives without a rank stay at the end in both directions. */
export function sortedProducts(app: App, columns: readonly Column[], sort: string): Product[] {
  const reverse = sort.startsWith("-");
  const column = columns.find(({ headline }) => headlineKey(headline) === sort.replace(/^-/, ""));
  if (!column) return app.products;
  const { entries } = column.ranking;
  const withRank = rankedIn(entries);
  const rest = entries.filter(({ standing }) => standing !== "ranked");
  return [...(reverse ? withRank.reverse() : withRank), ...rest].map(({ product }) => product);
}

function nextSort(sort: string, key: string): string {
  return sort === key ? `-${key}` : sort === `-${key}` ? "" : key;
}

function sortState(sort: string, key: string, better: Ranking["figure"]["better"]): string | null {
  if (sort !== key && sort !== `-${key}`) return null;
  const bestFirst = better === "lower" ? "ascending" : "descending";
  const worstFirst = better === "lower" ? "descending" : "ascending";
  return sort === key ? bestFirst : worstFirst;
}

function columnHead(app: App, { headline, ranking }: Column): HTMLElement {
  const key = headlineKey(headline);
  const { sort } = app.store.state;
  const state = sortState(sort, key, ranking.figure.better);
  const title = `${headline.title}. Press to sort.`;
  const choose = () => app.store.set({ sort: nextSort(app.store.state.sort, key) });
  const arrow = state === null ? "" : sort.startsWith("-") ? " ▴" : " ▾";
  return h(
    "th",
    { scope: "col", "aria-sort": state },
    h(
      "button",
      { type: "button", class: "sort-button", "data-sort": key, title, onclick: choose },
      headline.short,
      arrow && h("span", { "aria-hidden": "true" }, arrow),
    ),
  );
}

function shade(entry: Entry, count: number): string | null {
  if (entry.rank === null || count < SHADED_FROM) return null;
  return entry.rank <= SHADES ? String(entry.rank) : null;
}

/** Waits in words; the unit MB/s stands in the head of its columns. */
function cellText(app: App, { headline }: Column, { text, value, product }: Entry): string {
  if (headline.metric !== "notice_waits") return text.replace(/\s*MB\/s$/, "");
  const heavy = ranked(app, "heavy", headline.metric).entries.find((one) => one.product === product);
  return noticeText(value ?? 0, heavy?.value ?? null);
}

function cell(app: App, column: Column, product: Product): HTMLElement {
  const { headline, ranking } = column;
  const entry = entryOf(column, product);
  if (!entry || entry.value === null) {
    const absent = entry?.text === "cannot" ? "cannot" : entry?.label || "–";
    const reason = entry?.reason ?? "no run";
    return h("td", { class: "absent", title: reason }, h("span", {}, absent), aside(`: ${reason}`));
  }
  const go = () => goToChart(app, headline.test, headline.metric, isGraphed(headline.test));
  const unlike = entry.standing === "unlike";
  const note = [headline.title, entry.reason].filter((text) => text !== "").join(": ");
  const rank = entry.rank !== null && ranking.ranked > 1 ? entry.rank : null;
  return h(
    "td",
    { class: unlike ? "unlike" : null, "data-rank": shade(entry, ranking.ranked) },
    h(
      "button",
      { type: "button", class: "glance-button", tabindex: "-1", title: note, onclick: go },
      cellText(app, column, entry),
      unlike && [h("span", { "aria-hidden": "true" }, "†"), aside(` not ranked: ${entry.reason}`)],
      rank !== null && rank <= 3 && [h("sup", { "aria-hidden": "true" }, rank), aside(`, rank ${rank}`)],
      entry.label !== "" &&
        h("span", { class: "mark-label", "aria-hidden": unlike ? "true" : null }, ` ${entry.label}`),
    ),
  );
}

/** Makes the first cell the stop of the Tab key if no other one is. */
function oneStop(table: HTMLElement): void {
  if (table.querySelector('tbody td [tabindex="0"]')) return;
  const first = table.querySelector<HTMLElement>("tbody td .glance-button");
  if (first) first.tabIndex = 0;
}

/** Arrow keys move between the cells, so that the table is one stop of the Tab key. */
function walkCells(table: HTMLElement): void {
  const buttons = () => [...table.querySelectorAll<HTMLElement>("tbody td .glance-button")];
  oneStop(table);
  table.addEventListener("keydown", (event) => {
    const from = (event.target as HTMLElement).closest<HTMLElement>("td");
    const steps: Record<string, [number, number]> = {
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
    };
    const step = steps[event.key];
    if (!from || !step) return;
    const row = from.parentElement as HTMLTableRowElement;
    const rows = [...table.querySelectorAll<HTMLTableRowElement>("tbody tr")];
    const to = nextButton(
      rows,
      rows.indexOf(row),
      [...row.cells].indexOf(from as HTMLTableCellElement),
      step,
    );
    if (!to) return;
    event.preventDefault();
    for (const button of buttons()) button.tabIndex = button === to ? 0 : -1;
    to.focus();
  });
}

/** The next cell with a figure in a direction. */
function nextButton(
  rows: readonly HTMLTableRowElement[],
  row: number,
  column: number,
  [down, across]: [number, number],
): HTMLElement | null {
  for (let r = row + down, c = column + across; rows[r]?.cells[c]; r += down, c += across) {
    const button = rows[r].cells[c].querySelector<HTMLElement>(".glance-button");
    if (button) return button;
  }
  return null;
}

function table(app: App, columns: readonly Column[]): HTMLTableElement {
  const products = sortedProducts(app, columns, app.store.state.sort);
  const groups = GROUPS.map(({ name, headlines }) => ({
    name,
    columns: columns.filter(({ headline }) => headlines.includes(headline)),
  })).filter((group) => group.columns.length > 0);
  return h(
    "table",
    { class: "glance" },
    h("caption", {}, aside("All drives by their main figures")),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("td", {}),
        groups.map((group) => h("th", { scope: "colgroup", colspan: group.columns.length }, group.name)),
      ),
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "Drive"),
        columns.map((column) => columnHead(app, column)),
      ),
    ),
    h(
      "tbody",
      {},
      products.map((product) =>
        h(
          "tr",
          { "data-product": product.key },
          h(
            "th",
            { scope: "row", class: product.name.length > NAME_LINE ? "long" : null },
            productButton(product, (key) => toggleMark(app, key)),
          ),
          columns.map((column) => cell(app, column, product)),
        ),
      ),
    ),
  );
}

/** Everything that the cells of a column show. */
function shownIn({ headline, ranking: { entries, ranked: count } }: Column): string {
  const cells = entries.map(({ product, text, rank, standing, reason }) => [
    product.key,
    text,
    rank,
    standing,
    reason,
  ]);
  return JSON.stringify([headlineKey(headline), count, cells]);
}

/**
 * The table, which replaces only the columns that a change of the spare area changes: hundreds of new cells would take
 * longer than all other parts of the page.
 */
class Table {
  element: HTMLTableElement;
  private rows: HTMLTableRowElement[] = [];

  constructor(
    private app: App,
    private columns: Column[],
  ) {
    this.element = this.made();
  }

  private made(): HTMLTableElement {
    const made = table(this.app, this.columns);
    this.rows = [...made.tBodies[0].rows];
    walkCells(made);
    return made;
  }

  /** Whether the table is another one now; a new order has other heads. */
  update(isSorted: boolean): boolean {
    const [before, now] = [this.columns, columnsOf(this.app)];
    this.columns = now;
    const products = sortedProducts(this.app, now, this.app.store.state.sort);
    const same =
      !isSorted &&
      before.map(({ headline }) => headlineKey(headline)).join() ===
        now.map(({ headline }) => headlineKey(headline)).join() &&
      this.rows.every(({ dataset }, at) => dataset.product === products[at].key);
    if (!same) {
      this.element = this.made();
      return true;
    }
    now.forEach((column, at) => {
      if (shownIn(column) !== shownIn(before[at])) this.replaceColumn(column, at, products);
    });
    return false;
  }

  private replaceColumn(column: Column, at: number, products: readonly Product[]): void {
    this.rows.forEach((row, place) => {
      // The first cell of a row is the name.
      const old = row.cells[at + 1];
      const made = cell(this.app, column, products[place]);
      const stop = old.querySelector<HTMLElement>('[tabindex="0"]');
      const button = made.querySelector<HTMLElement>(".glance-button");
      if (stop && button) button.tabIndex = 0;
      old.replaceWith(made);
    });
    oneStop(this.element);
  }
}

function legend(columns: readonly Column[]): HTMLElement {
  const isShaded = columns.some(({ ranking }) => ranking.ranked >= SHADED_FROM);
  const unlike = columns.some(({ ranking }) => ranking.entries.some(({ standing }) => standing === "unlike"));
  return h(
    "p",
    { class: "quiet small" },
    isShaded && "The darker a cell, the better its rank. ",
    unlike &&
      "† not ranked: other conditions than the others, or a figure that is not what its name says; point at it for the reason. ",
    h(
      "span",
      { class: "glance-how" },
      "Press a head to sort, a figure to see its chapter, a name to bring that drive forward.",
    ),
  );
}

/** The table follows its order and the spare area; the focus stays on the pressed head. */
export function glance(app: App, recolor: (within: ParentNode) => void): HTMLElement | null {
  const columns = columnsOf(app);
  if (columns.length === 0) return null;
  const drawn = new Table(app, columns);
  const holder = h("div", {}, drawn.element);
  const frame = scroller("All drives by their main figures", holder);
  const update = (isSorted: boolean) => {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.sort;
    if (!drawn.update(isSorted)) return;
    holder.replaceChildren(drawn.element);
    recolor(holder);
    if (focused) holder.querySelector<HTMLElement>(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
  };
  app.store.subscribe((state, before) => {
    if (state.sort !== before.sort || state.variant !== before.variant) update(state.sort !== before.sort);
  });
  recolor(holder);
  return h(
    "section",
    { id: "glance", "aria-labelledby": "glance-title" },
    h("h2", { id: "glance-title" }, "At a glance"),
    frame,
    legend(columns),
  );
}
