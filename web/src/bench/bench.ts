// The Bench: the list of a library, a comparison of the chosen drives, or a run in progress.

import { ranked } from "../app";
import { figureOf } from "../data/figures";
import { moment, nameText } from "../data/format";
import { titleOf } from "../data/headlines";
import type { Product } from "../data/products";
import type { Report } from "../data/schema.gen";
import { heading } from "../data/tests";
import { h } from "../dom";
import { firstState, Store } from "../state";
import { wholeNote } from "../view/first/whole";
import { plainPage } from "../view/page/empty";
import { themeButton, titleHeading } from "../view/page/header";
import { applyTheme, rememberedTheme } from "../view/page/theme";
import { BASKET_MAX, type Choice, choiceOf, keptOf, listHash, liveHash, openHash, routeOf } from "./address";
import { filtered } from "./filter";
import { choices, findField, rankedBy } from "./filters";
import { type Basket, list } from "./list";
import { livePage } from "./live";
import { type Books, booksOf } from "./products";
import { canFetch, fetchLibrary, fetchRuns } from "./resources";

/** The page of a report as a place of the Bench. */
export interface Opened {
  /** The report with everything, while its figures are shown. */
  whole: Promise<Report>;
  /** The part of the address that belongs to the Bench. */
  kept: string;
  /** The way back to the list. */
  back: HTMLElement;
}

/** Makes the page of a report, which has figures only at first. */
export type ShowReport = (root: HTMLElement, report: Report, opened: Opened) => Promise<void>;

/**
 * Starts the place that the address names. Another place is another load of the page, which leaves nothing behind; but
 * a comparison begins at once with the figures of the list.
 */
export async function startBench(
  root: HTMLElement,
  showReport: ShowReport,
  isPacked: boolean,
): Promise<void> {
  if (!canFetch()) {
    root.replaceChildren(fromDisk());
    return;
  }
  let route = routeOf(location.hash);
  let list: BenchList | null = null;
  window.addEventListener("hashchange", () => {
    const next = routeOf(location.hash);
    if (JSON.stringify(next) === JSON.stringify(route)) return;
    if (!list || next.place !== "open") return location.reload();
    route = next;
    open(root, list.leave(), showReport);
  });
  if (route.place === "live") {
    root.replaceChildren(livePage(route.name));
    return;
  }
  try {
    const rows = fetchLibrary(isPacked);
    applyTheme(rememberedTheme());
    const books = booksOf(await rows);
    if (route.place === "open" && runsIn(books.products, choiceOf(location.hash)).length > 0)
      await open(root, books, showReport);
    else list = new BenchList(root, books).show();
  } catch (error) {
    root.replaceChildren(unreachable(String(error)));
  }
}

function unreachable(reason: string): HTMLElement {
  return plainPage(
    "The library cannot be read",
    h("p", {}, "The server has stopped, or its files changed in the meantime. Reload the page to try again."),
    h("p", { class: "quiet" }, reason),
  );
}

function fromDisk(): HTMLElement {
  return plainPage(
    "A Bench needs a web server",
    h(
      "p",
      {},
      "This page fetches its data, which a page from disk cannot. Serve its folder, or the library:",
    ),
    h("pre", {}, h("code", {}, "ssdlab library serve --library DIR")),
  );
}

/** The runs of the basket: all wanted runs of its drives, and its single runs. */
function runsIn(products: readonly Product[], { filter, basket }: Choice): string[] {
  const wanted = filtered(products, filter);
  const names = basket.flatMap((key) => {
    const drive = wanted.find((product) => product.key === key);
    if (drive) return drive.runs.map(({ id }) => id);
    return products.some(({ runs }) => runs.some(({ id }) => id === key)) ? [key] : [];
  });
  return [...new Set(names)];
}

/** The basket of the address as a page of its own. */
async function open(
  root: HTMLElement,
  { rows, library, products }: Books,
  showReport: ShowReport,
): Promise<void> {
  const choice = choiceOf(location.hash);
  const names = runsIn(products, choice);
  const figures = library.report.runs.filter(({ run_id }) => names.includes(run_id));
  const title = figures.length === 1 ? heading(figures[0].test) : "Comparison";
  const reportOf = (runs: Report["runs"]): Report => ({
    report_version: 1,
    ...{ tool_version: rows.tool_version, title, runs, differences: [], left_out: [] },
  });
  const back = h("a", { class: "bench-back", href: listHash(choice) }, `← ${rows.title}`);
  const whole = fetchRuns(figures).then(reportOf);
  try {
    await showReport(root, reportOf(figures), { whole, kept: keptOf(location.hash), back });
  } catch (error) {
    root.replaceChildren(unreachable(String(error)));
  }
}

class BenchList {
  private choice: Choice = choiceOf(location.hash);
  private store: Store;
  private left = new AbortController();
  private choicesHolder = h("div", { class: "bench-choices" });
  private basketHolder = h("div", { class: "bench-basket", role: "status" });
  private listHolder = h("div", {});

  constructor(
    private root: HTMLElement,
    private books: Books,
  ) {
    this.store = new Store({ ...firstState(), theme: rememberedTheme() });
    this.store.subscribe(({ theme }) => applyTheme(theme));
    applyTheme(this.store.state.theme);
  }

  show(): BenchList {
    const find = findField(this.choice.filter, (text) => {
      const { find: _, ...rest } = this.choice.filter;
      this.change({ filter: text === "" ? rest : { ...rest, find: text } });
    });
    this.root.replaceChildren(
      this.header(),
      h(
        "main",
        { id: "main", class: "wide bench" },
        this.inProgress(),
        h("form", { class: "bench-form", role: "search" }, find, this.choicesHolder),
        this.basketHolder,
        h("section", { "aria-label": "Drives" }, this.listHolder),
        this.rejected(),
      ),
    );
    this.root.querySelector("form")?.addEventListener("submit", (event) => event.preventDefault());
    const follow = () => {
      this.choice = choiceOf(location.hash);
      this.update();
    };
    window.addEventListener("hashchange", follow, { signal: this.left.signal });
    this.update();
    return this;
  }

  /** The end of the list; what it read is for the next place. */
  leave(): Books {
    this.left.abort();
    return this.books;
  }

  private change(change: Partial<Choice>): void {
    this.choice = { ...this.choice, ...change };
    history.replaceState(null, "", listHash(this.choice));
    this.update();
  }

  private update(): void {
    const { products } = this.books;
    const shown = filtered(products, this.choice.filter);
    const by = rankedBy(shown, this.choice.by);
    const focused = (document.activeElement as HTMLElement | null)?.dataset.choice;
    this.choicesHolder.replaceChildren(
      ...choices(products, shown, this.choice, by, (change) => this.change(change)),
    );
    if (focused) this.choicesHolder.querySelector<HTMLElement>(`[data-choice="${focused}"]`)?.focus();
    this.showBasket();
    if (!by) {
      this.listHolder.replaceChildren(h("p", { class: "notice" }, "No run fits these choices."));
      return;
    }
    this.store.set({ variant: nameText(this.choice.area || "default") });
    const ranking = ranked({ ...this.books, products: shown, store: this.store }, by.test, by.metric);
    this.listHolder.replaceChildren(list(ranking, titleOf(by.test, figureOf(by.metric)), this.basket()));
  }

  private basket(): Basket {
    return {
      has: (key) => this.choice.basket.includes(key),
      toggle: (key) => this.toggle(key),
      link: (run) => openHash({ ...this.choice, filter: {}, basket: [run] }),
    };
  }

  /** The list stays as it is: only the basket and the address change. */
  private toggle(key: string): void {
    const { basket } = this.choice;
    const without = basket.filter((one) => one !== key);
    const next = without.length < basket.length ? without : [...basket, key].slice(-BASKET_MAX);
    this.choice = { ...this.choice, basket: next };
    history.replaceState(null, "", listHash(this.choice));
    for (const box of this.listHolder.querySelectorAll<HTMLInputElement>("[data-pick]")) {
      box.checked = next.includes(box.dataset.pick ?? "");
    }
    this.showBasket();
  }

  private showBasket(): void {
    const { basket } = this.choice;
    if (basket.length === 0) {
      this.basketHolder.replaceChildren(
        h("p", { class: "quiet small" }, "Tick drives or runs to compare them."),
      );
      return;
    }
    const runs = runsIn(this.books.products, this.choice).length;
    const open = h("a", { class: "button", href: openHash(this.choice) }, `Compare ${basket.length} chosen`);
    const empty = h("button", { type: "button", class: "button quiet-button" }, "Empty the basket");
    empty.addEventListener("click", () => {
      for (const key of [...this.choice.basket]) this.toggle(key);
    });
    const names = basket.map((key) => this.books.products.find((one) => one.key === key)?.name ?? key);
    this.basketHolder.replaceChildren(
      open,
      " ",
      empty,
      h("p", { class: "quiet small" }, `${runs} runs: ${names.join(", ")}`),
    );
  }

  private header(): HTMLElement {
    const { rows, products } = this.books;
    const measured = products.filter(({ source }) => source !== "simulated").length;
    const drives = products.length;
    return h(
      "header",
      { class: "masthead" },
      h(
        "div",
        { class: "masthead-top" },
        h("p", { class: "overline" }, rows.tool_version),
        themeButton(this.store),
      ),
      titleHeading(rows.title),
      h(
        "p",
        { class: "quiet" },
        `${rows.runs.length} runs of ${drives} drives: ${drives - measured} simulated, ${measured} not.`,
      ),
      wholeNote(products),
    );
  }

  private inProgress(): HTMLElement | null {
    const running = this.books.rows.runs.filter(({ status }) => status === "running");
    if (running.length === 0) return null;
    const line = ({ name, test, started, drive }: (typeof running)[number]) => {
      const text = `${heading(test)} on ${this.books.rows.drives[drive]?.name ?? "a drive"}, since ${moment(started)}`;
      return h("li", {}, this.books.rows.is_live ? h("a", { href: liveHash(name) }, text) : text);
    };
    return h("section", { class: "notice", "aria-label": "In progress" }, h("h2", {}, "In progress"), [
      h("ul", {}, running.map(line)),
    ]);
  }

  private rejected(): HTMLElement | null {
    const { rejected } = this.books.rows;
    if (rejected.length === 0) return null;
    return h(
      "details",
      { class: "fold", id: "rejected" },
      h("summary", {}, `${rejected.length} run directories cannot be read`),
      h(
        "ul",
        {},
        rejected.map(({ name, reason }) => h("li", {}, h("b", {}, name), `: ${reason}`)),
      ),
    );
  }
}
