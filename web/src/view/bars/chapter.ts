// The bars of a test: its main figures side by side, and any other figure at the reader's choice.

import { type App, contextShown, ranked, rankedAmong } from "../../app";
import { figureOf } from "../../data/figures";
import { MANY_DRIVES, mainFigures, titleOf } from "../../data/headlines";
import { runsOf, shortNames } from "../../data/products";
import { figuresOfTest } from "../../data/ranking";
import { heading } from "../../data/tests";
import { h } from "../../dom";
import { chartId } from "../parts/address";
import { Bars, conditionsLine, nameRoom, picker } from "./figure";

/** Room for bars and their values beside the names, where charts of many drives stand side by side. */
const BARS = 210;

/** Whether a drive of the reference library stands beside a single one. */
function hasNeighbour(app: App, test: string, names: readonly string[]): boolean {
  return mainFigures(test, names, 1).some((metric) =>
    rankedAmong(app, test, metric).entries.some(({ product }) => product.context),
  );
}

/**
 * Nothing for a test of a single drive that nobody stands beside. Where curves show all drives, only the list
 * of figures.
 */
export function testBars(
  app: App,
  test: string,
  recolor: (within: ParentNode) => void,
  listOnly = false,
): HTMLElement | null {
  const having = app.products.filter((product) => runsOf(product, test).length > 0);
  const names = figuresOfTest(app.products, test);
  if (names.length === 0 || (having.length < 2 && !hasNeighbour(app, test, names))) return null;
  const main = listOnly ? [] : mainFigures(test, names, having.length);
  const bars = main.map((metric) => new Bars(app, test, metric, recolor));
  const isMany = having.length > MANY_DRIVES;
  const column = `--bars-column: ${Math.round(nameRoom(app.products, contextShown(app)) + BARS)}px`;
  const grid = h(
    "div",
    { class: isMany ? "bars-grid many" : "bars-grid", style: column },
    bars.map(({ element }) => element),
  );
  const others = names.filter((name) => !main.includes(name));
  const titled = others.map((name): [string, string] => [name, titleOf(test, figureOf(name))]);
  const { common } = shortNames(app.products);
  const line = h("div", {});
  const say = () =>
    line.replaceChildren(
      ...[conditionsLine(ranked(app, test, main[0] ?? names[0]), common)].filter((one) => one !== null),
    );
  let picked: Bars | null = null;
  const pick = (metric: string) => {
    picked?.element.remove();
    picked = metric === "" ? null : new Bars(app, test, metric, recolor);
    if (picked) grid.append(picked.element);
  };
  app.store.subscribe((state, before) => {
    if (state.variant === before.variant && state.hasContext === before.hasContext) return;
    say();
    for (const one of picked ? [...bars, picked] : bars) one.update();
  });
  say();
  const choice = titled.length > 0 && picker(titled, pick, heading(test));
  return h("div", { class: "test-bars" }, h("div", { class: "bars-head" }, line, choice), grid);
}

/** The main figures of a test where a single drive has it. */
export function testTiles(app: App, test: string): HTMLElement | null {
  const entries = mainFigures(test, figuresOfTest(app.products, test), 1)
    .map((metric) => ranked(app, test, metric))
    .flatMap(({ figure, entries }) =>
      entries.filter(({ value }) => value !== null).map((entry) => ({ figure, entry })),
    );
  if (entries.length === 0) return null;
  return h(
    "dl",
    { class: "tiles" },
    entries.map(({ figure, entry }) =>
      h(
        "div",
        { class: "tile", id: chartId(test, figure.name) },
        h("dt", {}, titleOf(test, figure)),
        h("dd", {}, entry.text),
        entry.label !== "" && h("dd", { class: "mark", title: entry.reason }, entry.label),
      ),
    ),
  );
}
