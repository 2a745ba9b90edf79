// Latency: second by second, and as one distribution.

import { type App, color, cssColor, type Shown, shownRuns } from "../../app";
import { ExceedanceGraph } from "../../chart/exceedance";
import type { Layer } from "../../chart/painter";
import { TimeGraph } from "../../chart/scatter";
import { figureOf, latencySummary, metricOf, shown as shownValue } from "../../data/figures";
import { shortDuration } from "../../data/format";
import { plainName, spareLabel } from "../../data/load";
import { marksOf } from "../../data/marks";
import { h } from "../../dom";
import type { Percentile } from "../../state";
import { chartFrame } from "./chart-frame";
import type { Section } from "./consistency";
import { distributionTable, latencyTable } from "./tables";

/** Drawn in this order, so that the median lies on top. */
const PERCENTILES: [Percentile, string][] = [
  ["max", "longest"],
  ["p99", "p99"],
  ["p50", "p50"],
];

function layers(app: App, shown: readonly Shown[]): Layer[] {
  if (app.store.state.view === "single" && shown.length === 1) {
    const { columns } = shown[0].run;
    return PERCENTILES.map(([name]) => ({
      x: columns.second,
      y: columns[name],
      color: cssColor(`--${name}`),
    }));
  }
  const { percentile } = app.store.state;
  return shown.map(({ run, color: slot }) => ({
    x: run.columns.second,
    y: run.columns[percentile],
    color: color(slot),
  }));
}

export function latency(app: App): Section {
  const overTime = new TimeGraph(app, {
    id: "graph-latency",
    name: "Latency over time, log scale",
    height: 320,
    axis: (scales) => scales.whole,
    y: (scales) => scales.latency,
    yLabel: shortDuration,
  });
  const curve = new ExceedanceGraph(app);
  const first = chartFrame(
    overTime.graph,
    "Every second",
    "latency, log scale",
    app,
    () => latencyTable(app),
    key(app),
  );
  const second = chartFrame(
    curve.graph,
    "How rare is how slow",
    "share of commands, both axes log",
    null,
    () => distributionTable(app),
  );
  const element = h(
    "section",
    { id: "latency", "aria-labelledby": "latency-title" },
    h("h2", { id: "latency-title" }, "Latency"),
    h("div", { class: "charts-pair" }, first.element, second.element),
    h(
      "p",
      { class: "how-to quiet small" },
      "Read: of all commands, one in so many took the time below it or longer. The further left and the steeper the line, the better.",
    ),
  );
  const draw = () => {
    const shown = shownRuns(app);
    overTime.draw({
      layers: layers(app, shown),
      message: shown.some(({ run }) => run.columns.p50.length > 0) ? null : "No latency was recorded.",
    });
    curve.draw(shown);
    first.say(shown.map(({ run }) => percentileSentence(run)));
    second.say(shown.map(({ run }) => latencySummary(run)));
  };
  return { element, graphs: [overTime.graph, curve.graph], draw };
}

function percentileSentence(run: Shown["run"]): string {
  const [p50, p99, max] = ["latency_ns_p50", "latency_ns_p99", "latency_ns_max"].map((name) => {
    const value = shownValue(figureOf(name), metricOf(run, name));
    const marks = marksOf(run, name).join("; ");
    return marks === "" ? value : `${value} (${marks})`;
  });
  return `${plainName(run)}, ${spareLabel(run.variant)}: p50 ${p50}, p99 ${p99}, longest ${max}.`;
}

/** One run shows all three; a comparison shows one of them, by choice. */
function key(app: App): HTMLElement {
  const { store } = app;
  const colors = h(
    "span",
    { class: "key" },
    [...PERCENTILES]
      .reverse()
      .map(([name, label]) =>
        h("span", {}, h("span", { class: "swatch", style: `background: var(--${name})` }), label),
      ),
  );
  const inputs = [...PERCENTILES].reverse().map(([name, label]) => {
    const input = h("input", { type: "radio", name: "percentile", value: name });
    input.addEventListener("change", () => store.set({ percentile: name }));
    return { name, input, label: h("label", { class: "choice" }, input, h("span", {}, label)) };
  });
  const choice = h(
    "fieldset",
    { class: "segments inline", "aria-label": "Percentile to compare" },
    inputs.map(({ label }) => label),
  );
  const update = () => {
    const { view, percentile } = store.state;
    colors.hidden = view === "compare";
    choice.hidden = view === "single";
    for (const { name, input } of inputs) input.checked = name === percentile;
  };
  store.subscribe(update);
  update();
  return h("div", { class: "key-slot" }, colors, choice);
}
