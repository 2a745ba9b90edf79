// The page: data in, sections out, and one subscription that redraws changed parts.

import "./style.css";
import { type App, appOf, shownRuns, stateOf } from "./app";
import { type Opened, startBench } from "./bench/bench";
import type { Graph } from "./chart/graph";
import { graphedHeading, libraryOf, parseReport, reportText, unpacked } from "./data/load";
import type { Report } from "./data/schema.gen";
import { h, lateFold, painted } from "./dom";
import { choiceChanged, type State, toHash } from "./state";
import { answer } from "./view/first/answer";
import { bestSection } from "./view/first/best";
import { cardButton } from "./view/first/card";
import { curvesOf } from "./view/first/curves";
import { drivesSection } from "./view/first/drives";
import { glance } from "./view/first/glance";
import { pairSection } from "./view/first/pair";
import { wholeNote } from "./view/first/whole";
import { consistency } from "./view/graphs/consistency";
import { latency } from "./view/graphs/latency";
import { controls } from "./view/page/controls";
import { damagedPage, emptyPage } from "./view/page/empty";
import { factsSection } from "./view/page/facts";
import { header } from "./view/page/header";
import { pageLinks } from "./view/page/sections";
import { applyTheme, rememberedTheme, watchPrinting, watchScheme } from "./view/page/theme";
import { goTo, reveal } from "./view/parts/address";
import { colorProducts, keepColors } from "./view/parts/colors";
import { commandsSection } from "./view/results/density";
import { otherTests } from "./view/results/other";
import { conditions } from "./view/text/conditions";
import { differences } from "./view/text/differences";
import { figuresTable, goToFigure, markShown } from "./view/text/figures";
import { findingCard } from "./view/text/findings";
import { glossary } from "./view/text/glossary";

const REPORT_VERSION = 1;
/** In the place of the data: the page is that of a library and fetches it. */
const LIBRARY_TEXT = "library";
const PACKED_LIBRARY_TEXT = "packed-library";

function section(id: string, title: string, ...content: (Node | null)[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    content,
  );
}

/** Only a change of these moves points on a graph. */
function mustDraw(state: State, before: State): boolean {
  return choiceChanged(state, before) || state.zoom !== before.zoom || state.percentile !== before.percentile;
}

/** `kept` is a part of the address that belongs to others. */
function keepHash(app: App, kept: string): void {
  const { store, library, products } = app;
  let isFollowing = false;
  store.subscribe((state, before) => {
    const hash = kept === "" ? toHash(state) : `#${kept}&${toHash(state).slice(1)}`;
    if (isFollowing || hash === location.hash || toHash(state) === toHash(before)) return;
    // A step back undoes a choice. A Bench goes back to its list.
    const isStep = kept === "" && state.zoom === before.zoom;
    if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  });
  window.addEventListener("hashchange", () => {
    const { theme } = store.state;
    const wanted = stateOf(library, products, location.hash);
    isFollowing = true;
    store.set({ ...wanted, theme });
    if (wanted.at) goTo(app, wanted.at);
    isFollowing = false;
  });
}

/** The section of the link that opened the page. */
function goToStart({ store }: App): void {
  const element = document.getElementById(store.state.at);
  if (element) reveal(element, true);
}

function keepTheme(app: App, graphs: readonly Graph[], draw: () => void): void {
  const recolor = () => {
    for (const graph of graphs) graph.recolor();
    draw();
  };
  app.store.subscribe((state, before) => {
    if (state.theme === before.theme) return;
    applyTheme(state.theme);
    recolor();
  });
  watchScheme(recolor);
  watchPrinting(app.store, graphs, recolor);
}

/** More runs than these make a part of the page so long that it is folded, or shows the chosen ones only. */
const MANY_RUNS = 12;

function figuresSection(app: App): HTMLElement {
  const { runs } = app.library;
  const table = () => {
    const whole = figuresTable(graphedHeading(app.library), runs, app);
    markShown(app, whole);
    return whole;
  };
  const many = runs.length > MANY_RUNS;
  const element = section(
    "figures",
    "All figures",
    many ? lateFold("fold", `Of all ${runs.length} runs`, table) : table(),
  );
  app.store.subscribe((state, before) => {
    if (choiceChanged(state, before)) markShown(app, element);
  });
  return element;
}

/** Of all runs, or of the chosen ones among many. */
function findingsSection(app: App, figures: HTMLElement): HTMLElement {
  const holder = h("div");
  const many = app.library.runs.length > MANY_RUNS;
  const update = () => {
    const runs = many ? shownRuns(app).map(({ run }) => run) : app.library.runs;
    holder.replaceChildren(...runs.map((run) => findingCard(run, (name) => goToFigure(figures, name))));
  };
  app.store.subscribe((state, before) => {
    if (many && choiceChanged(state, before)) update();
  });
  update();
  const shown = many ? lateFold("fold", "Of the chosen runs", () => holder) : holder;
  return section("findings", "What the figures say", differences(app), shown);
}

function conditionsSection(app: App): HTMLElement {
  const holder = h("div");
  const isOpen = app.library.runs.length <= MANY_RUNS;
  const update = () => {
    const runs = shownRuns(app);
    holder.replaceChildren(
      ...runs.map(({ run }) => conditions(run, isOpen && runs.length === 1, graphedHeading(app.library))),
    );
  };
  app.store.subscribe((state, before) => {
    if (choiceChanged(state, before)) update();
  });
  update();
  return section(
    "conditions",
    "How it was measured",
    h(
      "p",
      { class: "quiet" },
      "For what the graphs show now; choose another run above to see its conditions.",
    ),
    holder,
  );
}

function graphPage(app: App): HTMLElement[] {
  const figures = figuresSection(app);
  const inside = [figures, findingsSection(app, figures), conditionsSection(app)];
  const { element, graphs, draw } = consistency(app, latency(app), inside);
  app.store.subscribe((state, before) => {
    if (mustDraw(state, before)) draw();
  });
  const sections = [
    element,
    ...otherTests(app),
    commandsSection(app.library),
    factsSection(app.library),
    section(
      "glossary",
      "Words and figures",
      lateFold("fold", "Every word and every figure, explained", glossary),
    ),
  ].filter((one) => one !== null);
  const aside = h("aside", { class: "side" }, controls(app), pageLinks(app, sections));
  const main = h("main", { id: "main" }, sections);
  keepTheme(app, graphs, draw);
  requestAnimationFrame(() => {
    for (const graph of graphs) graph.fit();
    draw();
  });
  return [h("div", { class: "layout" }, aside, main)];
}

/** The first screen: the answer, and all drives by their main figures. */
function showFirst(root: HTMLElement, report: Report, hash: string, back?: HTMLElement): App {
  const library = libraryOf(report);
  const app = appOf(library, hash);
  app.store.set({ theme: rememberedTheme() });
  applyTheme(app.store.state.theme);
  const newer =
    report.report_version > REPORT_VERSION &&
    h("p", { class: "notice notice-warn" }, "This report was made by a newer ssdlab than this page knows.");
  const skip = h("button", { type: "button", class: "skip", onclick: skipToMain }, "Skip to the results");
  const first = [
    header(app, cardButton(app), wholeNote(app.products), answer(app)),
    newer || null,
    curvesOf(app, (within) => colorProducts(app, within)),
    glance(app, (within) => colorProducts(app, within)),
    bestSection(app),
    drivesSection(library),
    pairSection(app),
  ];
  root.replaceChildren(skip, ...first.filter((node) => node !== null));
  if (back) root.querySelector(".masthead-top")?.prepend(back);
  return app;
}

/**
 * The first screen, and then the rest: graphs of 20 drives take longer than a reader waits for the answer. A Bench has
 * the figures before the runs, whose first screen then replaces that of the figures.
 */
async function showPage(root: HTMLElement, report: Report, opened?: Opened): Promise<void> {
  let app = showFirst(root, report, location.hash, opened?.back);
  await painted();
  if (opened) app = showFirst(root, await opened.whole, toHash(app.store.state), opened.back);
  const { library } = app;
  root.append(...(library.runs.length > 0 ? graphPage(app) : otherPage(app)));
  if (library.runs.length === 0) keepTheme(app, [], () => undefined);
  keepHash(app, opened?.kept ?? "");
  requestAnimationFrame(() => {
    keepColors(app, document);
    goToStart(app);
  });
}

/** Without a consistency run there is no choice to make, but there are other results. */
function otherPage(app: App): HTMLElement[] {
  const sections = [...otherTests(app), commandsSection(app.library), factsSection(app.library)].filter(
    (one) => one !== null,
  );
  const main = h("main", { id: "main", class: "wide" }, sections, noRuns(app.library.report));
  return sections.length > 1 ? [pageLinks(app, sections), main] : [main];
}

function noRuns(report: Report): HTMLElement | null {
  return report.runs.length > 0 ? null : h("p", { class: "notice" }, "This report holds no runs.");
}

function skipToMain(): void {
  const main = document.getElementById("main");
  if (!main) return;
  main.tabIndex = -1;
  main.focus();
}

async function readData(text: string): Promise<Report | null> {
  // The text of a long run is large, and nothing needs it after the parse.
  document.getElementById("ssdlab-data")?.replaceChildren();
  return text === "null" ? null : parseReport(await unpacked(text));
}

async function start(): Promise<void> {
  const root = document.getElementById("app");
  if (!root) return;
  try {
    const text = reportText(document);
    if (text === LIBRARY_TEXT || text === PACKED_LIBRARY_TEXT)
      return await startBench(root, showPage, text === PACKED_LIBRARY_TEXT);
    let report = await readData(text);
    if (report === null && import.meta.env.DEV) {
      report = (await import("../fixtures/report")).fixtureReport();
    }
    if (report) await showPage(root, report);
    else root.replaceChildren(emptyPage());
  } catch (error) {
    root.replaceChildren(damagedPage(String(error)));
    console.error(error);
  }
}

start();
