// The top of the page: the verdict in words, and the sources of its numbers.

import { type App, ranked, reviewed } from "../../app";
import { mainFigures } from "../../data/headlines";
import type { Product, Source } from "../../data/products";
import { figuresOfTest } from "../../data/ranking";
import { inOrder, isGraphed } from "../../data/tests";
import { contest, lead, type Part, SENTENCES_MAX, type Sentence, verdict } from "../../data/verdict";
import { h } from "../../dom";
import { choiceChanged } from "../../state";
import { goToChart } from "../parts/address";
import { sourceSign } from "../parts/source";
import { wordsOf } from "../text/words";

function part(app: App, told: Part): string | HTMLElement {
  if (typeof told === "string") return told;
  const { test, metric, text } = told;
  const go = () => goToChart(app, test, metric, isGraphed(test));
  return h("button", { type: "button", class: "verdict-link", onclick: go }, text);
}

/** The first figure of each test, for runs that allow no other sentence. */
function leads(app: App): Sentence[] {
  const tests = app.products.flatMap(({ runs }) => runs.map(({ view }) => view.test));
  return inOrder(tests).flatMap((test) => {
    const [first] = mainFigures(test, figuresOfTest(app.products, test), app.products.length);
    const told = first ? lead(ranked(app, test, first)) : null;
    return told ? [told] : [];
  });
}

function sentences(app: App): HTMLElement[] {
  const product = reviewed(app);
  if (!product) return [];
  const rank = (test: string, metric: string) => ranked(app, test, metric);
  const first = contest(rank);
  const isWinner = rank("consistency", "iops_steady_mean").entries[0]?.product === product;
  const told = [...(first ? [first] : []), ...verdict(product, rank, first !== null && isWinner)];
  const all = told.length > 0 ? told : leads(app);
  return all.slice(0, SENTENCES_MAX).map((sentence) =>
    h(
      "span",
      { class: "sentence" },
      sentence.map((one) => part(app, one)),
      " ",
    ),
  );
}

/** The verdict on the chosen drive; hidden if the runs allow none. */
function verdictText(app: App): HTMLElement {
  const element = h("p", { class: "verdict", id: "verdict" });
  const update = () => {
    const told = sentences(app);
    element.hidden = told.length === 0;
    element.replaceChildren(...told);
  };
  app.store.subscribe((state, before) => {
    if (choiceChanged(state, before)) update();
  });
  update();
  return element;
}

const MEANING: Record<Source, string> = {
  simulated: "simulated from published facts",
  drive: "measured on a drive",
  file: "measured on a file; the file system and other users of the disk are in the figures",
  imported: "measured by another program; some conditions are unknown, so these have no rank",
  none: "no drive at all: the harness alone",
};

function isScaled({ runs }: Product): boolean {
  return runs.some(({ view }) => view.marks.some(({ kind }) => kind === "scale"));
}

/** The drives of the reference library with the button that hides them; nothing if the report has none. */
function contextItem({ context, store }: App): HTMLElement | null {
  if (context.length === 0) return null;
  const stale = context.filter((one) => one.context?.isStale).length;
  const old = stale === 0 ? "" : `; ${stale} are stale, from an earlier model or simulator`;
  const button = h(
    "button",
    {
      type: "button",
      class: "verdict-link",
      id: "context-switch",
      onclick: () => store.set({ hasContext: !store.state.hasContext }),
    },
    "",
  );
  const say = () => {
    button.textContent = store.state.hasContext ? "Hide them" : "Show them";
  };
  store.subscribe((state, before) => {
    if (state.hasContext !== before.hasContext) say();
  });
  say();
  return h(
    "li",
    {},
    sourceSign("simulated"),
    `In grey and without a rank: ${context.length} simulated drives of the reference library${old}. `,
    button,
  );
}

/** The number of drives of each source, beside the verdict and never in a footnote. */
function sourcesBox(app: App): HTMLElement {
  const { products } = app;
  const sources = (Object.keys(MEANING) as Source[]).filter((source) =>
    products.some((product) => product.source === source),
  );
  const scaled = products.filter(isScaled).length;
  return h(
    "aside",
    { class: "sources", "aria-labelledby": "sources-title" },
    h("h2", { id: "sources-title" }, "What these numbers are"),
    h(
      "ul",
      {},
      sources.map((source) => {
        const count = products.filter((product) => product.source === source).length;
        return h(
          "li",
          {},
          sourceSign(source),
          `${count} ${count === 1 ? "drive" : "drives"} ${MEANING[source]}.`,
        );
      }),
      scaled > 0 &&
        h("li", {}, `${scaled} below full size: figures that this distorts carry a † and have no rank.`),
      contextItem(app),
    ),
  );
}

/** Nothing for a report without runs. */
export function answer(app: App): HTMLElement | null {
  if (app.products.length === 0) return null;
  return h(
    "div",
    { class: "answer" },
    h("div", {}, verdictText(app), wordsOf(app, "verdict")),
    sourcesBox(app),
  );
}
