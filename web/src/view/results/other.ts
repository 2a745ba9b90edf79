// Runs of the tests beside consistency: verdict, passes, tables, sentences, and all figures.

import type { Run } from "../../data/load";
import { curvesOf, hasPowerBars, heading, inOrder } from "../../data/tests";
import { aside, h } from "../../dom";
import { plainRunName, runName } from "../parts/name";
import { conditions } from "../text/conditions";
import { figuresTable, goToFigure } from "../text/figures";
import { findingCard } from "../text/findings";
import { convergence, curveGraphs } from "./curves";
import { passGraph } from "./passes";
import { powerBars, powerGraph } from "./power";
import { resultTables } from "./tables";

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

/** What one run measured, under its name where several drives are on the page. */
function measured(run: Run, runs: readonly Run[]): HTMLElement {
  const { passes, power } = run.view;
  return h(
    "article",
    { class: "measured" },
    h("h3", {}, runName(run)),
    verdict(run),
    passes.length > 0 && passGraph(passes, "Speed over the address space", plainRunName(run)),
    power.length > 0 && powerGraph(power, runs.indexOf(run), plainRunName(run)),
    convergence(run),
    resultTables(run, runs),
  );
}

/** All figures by name; folded away where tables show them already. */
function allFigures(title: string, runs: readonly Run[]): HTMLElement {
  const table = figuresTable(title, runs);
  if (runs.every(({ view }) => view.tables.length === 0)) return table;
  return h("details", { class: "all-figures" }, h("summary", {}, "All figures", aside(`: ${title}`)), table);
}

export function otherTests(runs: readonly Run[]): HTMLElement[] {
  return inOrder(runs.map((run) => run.view.test)).map((test) => {
    const own = runs.filter((run) => run.view.test === test);
    const id = `test-${test.replace(/[^a-z0-9]+/gi, "-")}`;
    const title = heading(test);
    const figures = allFigures(title, own);
    const toFigure = (name: string) => goToFigure(figures, name);
    return h(
      "section",
      { class: "other-test", "aria-labelledby": id },
      h("h2", { id }, title),
      curvesOf(test).flatMap((curves) => curveGraphs(curves, own)),
      hasPowerBars(test) && powerBars(own),
      own
        .filter(({ view }) => view.tables.length + view.passes.length + view.power.length > 0 || view.verdict)
        .map((run) => measured(run, own)),
      own.filter(hasSomethingToSay).map((run) => findingCard(run, toFigure)),
      figures,
      own.map((run) => conditions(run, false, title)),
    );
  });
}
