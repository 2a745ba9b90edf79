// The list of a library: a figure of its drives as bars, the choices, and the basket.

import { ranked } from "../app";
import { figureOf } from "../data/figures";
import { counted, moment, nameText } from "../data/format";
import { titleOf } from "../data/headlines";
import type { Product } from "../data/products";
import type { Ranking } from "../data/ranking";
import { heading } from "../data/tests";
import { h, inFold, later } from "../dom";
import { firstState, Store } from "../state";
import { wholeNote } from "../view/first/whole";
import { themeButton, titleHeading } from "../view/page/header";
import { applyTheme, rememberedTheme } from "../view/page/theme";
import { BASKET_MAX, type Choice, choiceOf, listHash, liveHash, openHash } from "./address";
import { added, basketBar, runsIn } from "./basket";
import { labelled } from "./controls";
import { areaChoice, type By, figureField, headlineChoice, rankedBy } from "./figures";
import { filtered } from "./filter";
import { fieldChoices, filterWords, findField } from "./filters";
import { type Basket, list } from "./list";
import type { Books } from "./products";
import { viewLinks, viewsOf } from "./views";

/** The ranked figure as the title of the picture, with its test and the number of drives. */
function figureTitle({ test, figure, entries, ranked: count }: Ranking, title: string): HTMLElement[] {
  const words = { higher: "more is better", lower: "less is better" };
  const drives = count === entries.length ? `${count} drives` : `${count} of ${entries.length} drives ranked`;
  const parts = [heading(test), figure.better && words[figure.better], drives].filter(Boolean);
  return [
    h("h2", { id: "bench-figure", title: figure.explanation || null }, title),
    h("p", { class: "quiet" }, parts.join(" · ")),
  ];
}

/** Widths at which the choices are folded, as in the style. */
const PHONE = "(max-width: 40rem)";

export class RankingPage {
  private choice: Choice = choiceOf(location.hash);
  private store: Store;
  private left = new AbortController();
  private views: ReturnType<typeof viewsOf> = [];
  /** Keys of the drives with a value, best first. */
  private shown: string[] = [];
  private by: By | null = null;
  private find: HTMLInputElement;
  private titleHolder = h("div", {});
  private viewsHolder = h("div", {});
  private byHolder = h("div", { class: "bench-choices" });
  private filters = h("details", { class: "bench-filters" }, h("summary", {}, "Filters"));
  private fieldsHolder = h("div", { class: "bench-choices" });
  private basketHolder = h("div", { class: "bench-basket", role: "status" });
  private listHolder = h("div", {});
  private updateFields = inFold(this.filters, () => this.showFields());

  constructor(
    private root: HTMLElement,
    private books: Books,
  ) {
    this.store = new Store({ ...firstState(), theme: rememberedTheme() });
    this.store.subscribe(({ theme }) => applyTheme(theme));
    applyTheme(this.store.state.theme);
    this.find = findField(this.choice.filter, (text) => {
      const { find: _, ...rest } = this.choice.filter;
      this.change({ filter: text === "" ? rest : { ...rest, find: text } });
    });
    this.filters.append(this.fieldsHolder);
  }

  show(): RankingPage {
    const note = h("div", {});
    this.root.replaceChildren(
      this.header(),
      h(
        "main",
        { id: "main", class: "wide bench" },
        this.inProgress(),
        h(
          "section",
          { class: "bench-ranking", "aria-labelledby": "bench-figure" },
          this.titleHolder,
          this.controls(),
          h("div", {}, this.listHolder, this.basketHolder),
        ),
        note,
        this.rejected(),
      ),
    );
    const follow = () => {
      this.choice = choiceOf(location.hash);
      this.find.value = this.choice.filter.find ?? "";
      this.update();
    };
    window.addEventListener("hashchange", follow, { signal: this.left.signal });
    this.update();
    // Both look at all runs, and nobody waits for them.
    later(() => {
      note.replaceChildren(...[wholeNote(this.books.products)].filter((one) => one !== null));
      this.views = viewsOf(this.books.products);
      this.showViews();
    });
    return this;
  }

  /** The end of the list; what it read is for the next place. */
  leave(): Books {
    this.left.abort();
    return this.books;
  }

  /** The views and a row of choices, which are a fold on a phone. */
  private controls(): HTMLElement {
    const figures = figureField(this.books.products, (change) => this.change(change));
    const form = h(
      "form",
      { class: "bench-form", role: "search", onsubmit: (event) => event.preventDefault() },
      ...[this.byHolder, figures, labelled("Find a drive", this.find), this.filters],
    );
    const fold = h(
      "details",
      { class: "bench-controls" },
      h("summary", {}, "Choose figure and drives"),
      this.viewsHolder,
      form,
    );
    const phone = window.matchMedia(PHONE);
    const follow = () => {
      fold.open = !phone.matches;
    };
    phone.addEventListener("change", follow, { signal: this.left.signal });
    follow();
    return fold;
  }

  private change(change: Partial<Choice>): void {
    this.choice = { ...this.choice, ...change };
    history.replaceState(null, "", listHash(this.choice));
    this.update();
  }

  private update(): void {
    const shown = filtered(this.books.products, this.choice.filter);
    const by = rankedBy(shown, this.choice.by);
    const focused = (document.activeElement as HTMLElement | null)?.dataset.choice;
    this.filters.firstElementChild?.replaceChildren(filterWords(this.choice));
    this.updateFields();
    this.showFigure(shown, by);
    if (focused) this.root.querySelector<HTMLElement>(`[data-choice="${focused}"]`)?.focus();
    this.showViews();
    this.showBasket();
  }

  private showFields(): void {
    const { products } = this.books;
    const fields = fieldChoices(products, this.choice, (change) => this.change(change));
    this.fieldsHolder.replaceChildren(...fields);
  }

  private showFigure(shown: Product[], by: By | null): void {
    this.by = by;
    if (!by) {
      this.shown = [];
      this.byHolder.replaceChildren();
      this.titleHolder.replaceChildren(h("h2", { id: "bench-figure" }, "No drive"));
      this.listHolder.replaceChildren(h("p", { class: "notice" }, "No run fits these choices."));
      return;
    }
    const change = (one: Partial<Choice>) => this.change(one);
    const choices = [headlineChoice(shown, by, change), areaChoice(shown, by, this.choice.area, change)];
    this.byHolder.replaceChildren(...choices.filter((one) => one !== null));
    this.store.set({ variant: nameText(this.choice.area || "default") });
    const ranking = ranked({ ...this.books, products: shown, store: this.store }, by.test, by.metric);
    const title = titleOf(by.test, figureOf(by.metric));
    this.shown = ranking.entries.filter(({ value }) => value !== null).map(({ product }) => product.key);
    this.titleHolder.replaceChildren(...figureTitle(ranking, title));
    this.listHolder.replaceChildren(list(ranking, title, this.basket()));
  }

  private showViews(): void {
    const by = this.by ? `${this.by.test}:${this.by.metric}` : "";
    const links = viewLinks(this.views, this.choice, by);
    this.viewsHolder.replaceChildren(...(links ? [links] : []));
  }

  private basket(): Basket {
    return {
      has: (key) => this.choice.basket.includes(key),
      toggle: (key) => this.toggle(key),
      link: (run) => openHash({ ...this.choice, filter: {}, basket: [run] }),
    };
  }

  private toggle(key: string): void {
    const { basket } = this.choice;
    const without = basket.filter((one) => one !== key);
    this.choose(without.length < basket.length ? without : [...basket, key].slice(-BASKET_MAX));
  }

  /** The list stays as it is: only its ticks, the basket and the address change. */
  private choose(basket: string[]): void {
    this.choice = { ...this.choice, basket };
    history.replaceState(null, "", listHash(this.choice));
    for (const box of this.listHolder.querySelectorAll<HTMLInputElement>("[data-pick]")) {
      box.checked = basket.includes(box.dataset.pick ?? "");
    }
    this.showViews();
    this.showBasket();
  }

  private showBasket(): void {
    const { basket } = this.choice;
    const { products, scaled } = this.books;
    const nameOf = (key: string) =>
      products.find((one) => one.key === key)?.name ?? scaled.get(key)?.[0].drive.name ?? key;
    const chosen = {
      names: basket.map(nameOf),
      runs: runsIn(this.books, this.choice).length,
      open: openHash(this.choice),
    };
    const add = (keys: readonly string[]) => this.choose(added(basket, keys));
    this.basketHolder.replaceChildren(...basketBar(chosen, this.shown, add, () => this.choose([])));
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
        `${counted(rows.runs.length, "run")} of ${counted(drives, "drive")}: ${drives - measured} simulated, ${measured} not.`,
      ),
    );
  }

  /** The runs that a server writes; a folder of files tells nothing about them. */
  private inProgress(): HTMLElement | null {
    const { runs, drives, is_live } = this.books.rows;
    const running = runs.filter(({ status }) => is_live && status === "running");
    if (running.length === 0) return null;
    const line = ({ name, test, started, drive }: (typeof running)[number]) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: liveHash(name) },
          `${heading(test)} on ${drives[drive]?.name ?? "a drive"}, since ${moment(started)}`,
        ),
      );
    return h("aside", { class: "bench-progress" }, h("b", {}, "In progress"), h("ul", {}, running.map(line)));
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
