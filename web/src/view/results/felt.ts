// Work that people feel: what the chosen drive saves against the slowest and the fastest here, load by load.

import { type App, ranked, reviewed } from "../../app";
import {
  type Load,
  loadOf,
  type Saving,
  savedInDay,
  savings,
  savingText,
  secondsText,
} from "../../data/felt";
import { figureOf } from "../../data/figures";
import { separated, UNKNOWN } from "../../data/format";
import { runsOf } from "../../data/products";
import { type Entry, figuresOfTest } from "../../data/ranking";
import { heading } from "../../data/tests";
import { aside, h, scroller } from "../../dom";

const A_DAY = "assumed a day";

/** The loads of the test by its figures, with the times in a day that its table assumes. */
function loadsOf(app: App, test: string, table: string): Load[] {
  const tables = app.products.flatMap((product) => runsOf(product, test)).flatMap(({ view }) => view.tables);
  const times = new Map(
    tables
      .filter(({ name }) => name === table)
      .flatMap(({ columns, rows }) => {
        const at = columns.findIndex(({ name }) => name === A_DAY);
        return rows.map(({ label, values }): [string, number | null] => [label, values[at] ?? null]);
      }),
  );
  return figuresOfTest(app.products, test).flatMap((metric) => {
    const name = loadOf(figureOf(metric));
    return name === null ? [] : [{ name, aDay: times.get(name) ?? null, ranking: ranked(app, test, metric) }];
  });
}

function against(saved: number, other: Entry, own: Entry["product"]): HTMLElement {
  if (other.product === own) return h("td", { class: "quiet" }, "it is this one");
  return h(
    "td",
    { class: saved > 0 ? "ahead" : null, title: `${other.product.plain}: ${secondsText(other.value ?? 0)}` },
    savingText(saved),
  );
}

function row(one: Saving, own: Entry["product"]): HTMLElement {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, one.load),
    h("td", {}, secondsText(one.timeS)),
    against(one.againstSlowestS, one.slowest, own),
    against(one.againstFastestS, one.fastest, own),
    h("td", {}, one.aDay === null ? UNKNOWN : separated(one.aDay, 1)),
    h("td", {}, one.aDay === null ? UNKNOWN : savingText(one.aDay * one.againstSlowestS)),
  );
}

function savingsTable(all: readonly Saving[], own: Entry["product"], title: string): HTMLElement {
  const heads = ["Load", "Time", "Against the slowest here", "Against the fastest here"];
  const day = ["Times a day (assumed)", "In a day, against the slowest"];
  return scroller(
    title,
    h(
      "table",
      { class: "pair" },
      h("caption", {}, aside(title)),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          [...heads, ...day].map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        all.map((one) => row(one, own)),
      ),
    ),
  );
}

/** The sum of a day in words; empty if the loads are parts. */
export function daySentence(name: string, all: readonly Saving[]): string {
  const slowest = savedInDay(all, "slowest");
  const fastest = savedInDay(all, "fastest");
  if (slowest === null || fastest === null) return "";
  return (
    `In a day of such work ${name} takes ${savingText(slowest)} than the slowest drives here ` +
    `and ${savingText(fastest)} than the fastest.`
  ).replaceAll("the same than", "the same time as");
}

/** Nothing where no other drive did the loads under equal conditions. */
export function feltBlock(app: App, test: string, table: string): HTMLElement {
  const block = h("div", { class: "savings", "data-plot": table });
  const update = () => {
    const own = reviewed(app);
    const all = own ? savings(loadsOf(app, test, table), own) : [];
    if (!own || all.length === 0) return block.replaceChildren();
    block.replaceChildren(
      h("h3", {}, `Time that ${own.plain} saves`),
      h("p", {}, daySentence(own.plain, all)),
      savingsTable(all, own, `${heading(test)}: ${own.plain} against the slowest and the fastest here`),
      h(
        "p",
        { class: "quiet small" },
        "Nobody tells drives apart whose times differ by less than 0.1 s: they are the same, however often the load is done.",
      ),
    );
  };
  app.store.subscribe((state, before) => {
    if (state.drive !== before.drive || state.variant !== before.variant) update();
  });
  update();
  return block;
}
