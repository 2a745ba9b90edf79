// The selection above the graphs: one run with its main figures, or the legend of a comparison.

import { type App, type Shown, shownRuns } from "../../app";
import { figureOf, metricOf, shown } from "../../data/figures";
import type { Run } from "../../data/load";
import { marksOf } from "../../data/marks";
import { aside, h, scroller } from "../../dom";
import { choiceChanged } from "../../state";
import { markSign } from "../parts/mark";
import { runName, statusChip, swatch } from "../parts/name";
import { statusSentence, warningList, warningsOf } from "../text/findings";

type Tile = [metric: string, label: string];

/** Each label names the part of the run: "steady", or the whole of it. */
const TILES: Tile[] = [
  ["iops_steady_mean", "Steady mean, IOPS"],
  ["iops_steady_min", "Steady slowest second, IOPS"],
  ["iops_steady_cv", "Steady variation"],
  // Commands at a fixed queue depth: few are outstanding in a stall, so that p99 can miss a third of the time.
  ["latency_steady_ns_p999", "Steady p99.9 latency"],
  ["latency_ns_max", "Longest command, whole run"],
];

/** In place of the steady ones where steady state was not reached. */
const FRESH: Tile[] = [
  ["iops_fresh_mean", "Fresh mean, IOPS"],
  ["iops_fresh_min", "Fresh slowest second, IOPS"],
  ["iops_fresh_cv", "Fresh variation"],
  ["latency_fresh_ns_p999", "Fresh p99.9 latency"],
];

/** A run without a steady figure shows that it has none, and then the figures of the fresh drive. */
function tilesOf(run: Run): Tile[] {
  const [mean, ...others] = TILES;
  if (metricOf(run, mean[0]) !== null || metricOf(run, FRESH[0][0]) === null) return TILES;
  return [mean, ...FRESH, ...others.slice(-1)];
}

export function runHead(app: App): HTMLElement {
  const element = h("div", { class: "run-head", "aria-live": "polite" });
  const update = () => {
    const runs = shownRuns(app);
    const content =
      app.store.state.view === "single" && runs.length === 1 ? single(runs[0].run) : legend(runs);
    element.replaceChildren(...content.filter((node) => node !== null));
  };
  app.store.subscribe((state, before) => {
    if (choiceChanged(state, before)) update();
  });
  update();
  return element;
}

function single(run: Run): (HTMLElement | null)[] {
  return [
    h("h3", { class: "run-title" }, runName(run), " ", statusChip(run)),
    statusSentence(run),
    warningList(run),
    h(
      "dl",
      { class: "tiles" },
      tilesOf(run).map(([metric, label]) =>
        h(
          "div",
          { class: "tile" },
          h("dt", {}, label),
          h("dd", {}, shown(figureOf(metric), metricOf(run, metric))),
          marksOf(run, metric).map((text) => h("dd", { class: "mark" }, text)),
        ),
      ),
    ),
  ];
}

function legend(runs: readonly Shown[]): (HTMLElement | null)[] {
  if (runs.length === 0)
    return [h("p", { class: "notice" }, "No run is chosen. Tick one or more to compare.")];
  const table = h(
    "table",
    { class: "legend" },
    h("caption", {}, aside("Runs compared")),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "Compared"),
        TILES.map(([, label]) => h("th", { scope: "col" }, label)),
      ),
    ),
    h(
      "tbody",
      {},
      runs.map(({ run, color }) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, swatch(color), runName(run), " ", statusChip(run)),
          TILES.map(([metric]) =>
            h("td", {}, shown(figureOf(metric), metricOf(run, metric)), markSign(run, metric)),
          ),
        ),
      ),
    ),
  );
  return [scroller("Runs compared", table), ...warningsOf(runs.map(({ run }) => run))];
}
