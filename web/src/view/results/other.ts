// Runs of the tests beside consistency: verdict, passes, tables, sentences, and all figures.

import type { App } from "../../app";
import { isImported, type Run, runsBeside } from "../../data/load";
import { shortNames } from "../../data/products";
import { curvesOf, feltOf, hasPowerBars, heading, heatMapsOf, inOrder, question } from "../../data/tests";
import { aside, h, lateFold } from "../../dom";
import { testBars, testTiles } from "../bars/chapter";
import { sectionId } from "../parts/address";
import { colorProducts } from "../parts/colors";
import { plainRunName, runName } from "../parts/name";
import { conditions } from "../text/conditions";
import { figuresTable, goToFigure } from "../text/figures";
import { findingCard } from "../text/findings";
import { wordsOf } from "../text/words";
import { COLORS, convergence, curveGraphs, type Many } from "./curves";
import { feltBlock } from "./felt";
import { heatMaps } from "./heatmap";
import { passOverlay } from "./overlay";
import { passGraph } from "./passes";
import { powerBars, powerGraph } from "./power";
import { resultTables } from "./tables";

/** Runs of one test up to this number are open; of more, each is a fold. */
const OPEN_MAX = 2;

const VERDICTS: Record<string, [string, string]> = {
  pass: ["Yes", "notice notice-good"],
  fail: ["No", "notice notice-bad"],
  inconclusive: ["Cannot tell", "notice notice-warn"],
};

function hasSomethingToSay({ view }: Run): boolean {
  return view.findings.length > 0 || view.warnings.length > 0 || view.status !== "complete";
}

function verdict({ view }: Run): HTMLElement | null {
  if (!view.verdict) return null;
  const [word, kind] = VERDICTS[view.verdict.outcome];
  return h(
    "p",
    { class: kind, "data-verdict": view.verdict.outcome },
    h("b", {}, `${word}. `),
    view.verdict.text,
  );
}

/** The pictures of one run, under its name if it is not the only one. */
function pictures(run: Run, runs: readonly Run[]): HTMLElement | null {
  const { passes, power } = run.view;
  const drawn = [
    verdict(run),
    passes.length > 0 && passGraph(passes, "Speed over the address space", plainRunName(run)),
    power.length > 0 && powerGraph(power, runs.indexOf(run), plainRunName(run)),
    ...convergence(run),
  ].filter((one) => one !== null && one !== false);
  return drawn.length === 0
    ? null
    : h("article", { class: "measured" }, runs.length > 1 && h("h3", {}, runName(run)), drawn);
}

/** The tables, the sentences and the conditions of one run. */
function record(run: Run, own: readonly Run[], toFigure: (name: string) => void): HTMLElement[] {
  return [
    ...resultTables(run, own),
    ...(hasSomethingToSay(run) ? [findingCard(run, toFigure)] : []),
    conditions(run, false, heading(run.view.test)),
  ];
}

/** Built when a reader opens it: the records of 20 drives are thousands of rows. */
function foldedRecord(run: Run, own: readonly Run[], toFigure: (name: string) => void): HTMLElement {
  return lateFold("record", runName(run), () => [pictures(run, own), record(run, own, toFigure)]);
}

/** All figures by name; folded away where tables show them already. */
function allFigures(title: string, runs: readonly Run[]): HTMLElement {
  const table = () => figuresTable(title, runs);
  if (runs.length <= OPEN_MAX && runs.every(({ view }) => view.tables.length === 0)) return table();
  return lateFold("all-figures", ["All figures", aside(`: ${title}`)], table);
}

/** Everything behind the answer of a test, built when a reader opens it. */
function details(test: string, own: readonly Run[], overlay: HTMLElement | null): HTMLElement {
  const title = heading(test);
  return lateFold("details", ["Details", aside(`: ${title}`)], () => {
    const figures = allFigures(title, own);
    const toFigure = (name: string) => goToFigure(figures, name);
    const recordOf = own.length > OPEN_MAX ? foldedRecord : record;
    return [
      overlay,
      hasPowerBars(test) && powerBars(own),
      own.map((run) => recordOf(run, own, toFigure)),
      figures,
    ];
  });
}

/** Plots side by side; more of them are in a fold. */
const PLOTS_MAX = 2;

function curvesGrid(curves: readonly HTMLElement[]): HTMLElement[] {
  if (curves.length < 2) return [...curves];
  const grid = (some: readonly HTMLElement[]) => h("div", { class: "curves-grid" }, [...some]);
  const more = curves.slice(PLOTS_MAX);
  const summary = h("summary", {}, `${more.length} more curves`);
  const fold = more.length > 0 ? [h("details", { class: "fold" }, summary, grid(more))] : [];
  return [grid(curves.slice(0, PLOTS_MAX)), ...fold];
}

/** Whether a section has so little beside its bars that two stand side by side. */
function isNarrow(bars: HTMLElement | null): boolean {
  return bars !== null && bars.querySelectorAll(".bars").length === 1;
}

/** The drives of runs, by the short names of the page. */
function ownersOf({ products }: App): Many["ownerOf"] {
  const { names } = shortNames(products);
  const productOf = (run: Run) => products.find(({ runs }) => runs.includes(run));
  return (run, among) => {
    const product = productOf(run);
    if (!product || among.length < 2) return undefined;
    if (among.length <= COLORS && among.some((one) => one !== run && productOf(one) === product))
      return undefined;
    return { product: product.key, name: names.get(product.key) ?? product.name, source: product.source };
  };
}

function testSection(app: App, test: string): HTMLElement {
  const all = runsBeside(app.library);
  const own = all.filter((run) => run.view.test === test);
  const id = sectionId(test, false);
  const title = heading(test);
  const recolor = (within: ParentNode) => colorProducts(app, within);
  const many = { ownerOf: ownersOf(app), recolor };
  const tables = own.flatMap(({ view }) => view.tables.map(({ name }) => name));
  // Imported curves of the same table join those of the test.
  const drawnRuns = [...own, ...all.filter((run) => run.view.test !== test && isImported(run))];
  const curves = curvesOf(test, tables).flatMap((drawn) => curveGraphs(drawn, drawnRuns, many));
  const maps = heatMaps(heatMapsOf(test), own);
  const overlay = passOverlay(own, many);
  const isMany = own.length > COLORS;
  const bars = testBars(app, test, recolor, curves.length > 0);
  const felt = feltOf(test).map((table) => feltBlock(app, test, table));
  const drawn = own.length <= OPEN_MAX ? own.map((run) => pictures(run, own)) : [];
  const isTiles = !bars && [...maps, ...felt, ...drawn].every((one) => one === null);
  const half = curves.length === 0 && (isMany ? isNarrow(bars) : isTiles);
  return h(
    "section",
    {
      class: `other-test${isMany ? " many" : ""}${half ? " half" : ""}`,
      id,
      "data-name": title,
      "aria-labelledby": `${id}-title`,
    },
    h("p", { class: "overline" }, title),
    h("h2", { id: `${id}-title` }, question(test)),
    wordsOf(app, test),
    bars ?? testTiles(app, test),
    felt,
    curvesGrid([...curves, ...maps]),
    drawn,
    details(test, own, overlay),
  );
}

export function otherTests(app: App): HTMLElement[] {
  const tests = inOrder(runsBeside(app.library).map((run) => run.view.test));
  return tests.map((test) => testSection(app, test));
}
