// Performance consistency: three graphs of IOPS, and under the first one the reason for its shape.

import { type App, type Shown, shownRuns } from "../app";
import type { Graph } from "../chart/graph";
import { SteadyRun, WholeRun } from "../chart/scatter";
import { Strip } from "../chart/strip";
import { differingConfig, steadySummary, summary } from "../data/figures";
import { separated } from "../data/format";
import { plainName } from "../data/load";
import { h } from "../dom";
import { chartFrame } from "./chart-frame";
import { runHead } from "./runhead";

export interface Section {
  element: HTMLElement;
  graphs: Graph[];
  /** Called when what is shown or the zoom changed. */
  draw: () => void;
}

export function consistency(app: App): Section {
  const { store, scales } = app;
  const whole = new WholeRun(app);
  const steadyLog = new SteadyRun(app, true);
  const steadyLinear = new SteadyRun(app, false);
  const why = whySection(app);
  const from = separated(scales.steady.min);
  const first = chartFrame(whole.graph, "Whole run", "IOPS, log scale", store);
  const second = chartFrame(steadyLog.graph, `Steady state, from ${from} s`, "IOPS, log scale", store);
  const third = chartFrame(steadyLinear.graph, `Steady state, from ${from} s`, "IOPS, linear scale", store);
  const element = h(
    "section",
    { id: "consistency", "aria-labelledby": "consistency-title" },
    h("h2", { id: "consistency-title" }, "Performance consistency"),
    runHead(app),
    unlikeNotice(app),
    first.element,
    h("p", { class: "how-to quiet small" }, howTo(app)),
    why.element,
    second.element,
    third.element,
  );
  const draw = () => {
    const shown = shownRuns(app);
    whole.draw(shown);
    steadyLog.draw(shown);
    steadyLinear.draw(shown);
    why.draw(shown);
    first.say(shown.map(({ run }) => summary(run) + zeroSentence(run.columns.iops)));
    second.say(shown.map(({ run }) => steadySummary(run)));
    third.say(["The same seconds on a linear scale, with one common top for every drive of this report."]);
  };
  return { element, graphs: [whole.graph, ...why.graphs, steadyLog.graph, steadyLinear.graph], draw };
}

function howTo({ library, scales }: App): string {
  const zero =
    scales.iopsWhole.zeroAt === null
      ? ""
      : " Seconds without a single completed command stand on the line marked 0.";
  const same = library.runs.length > 1 ? " All runs are drawn on the same axes." : "";
  return `Drag across a graph to zoom, double-click to reset. With the keyboard: arrows move second by second, + and − zoom, 0 resets.${zero}${same}`;
}

function zeroSentence(iops: Float64Array): string {
  let zeros = 0;
  for (let i = 0; i < iops.length; i++) if (iops[i] === 0) zeros++;
  if (zeros === 0) return "";
  return ` In ${separated(zeros)} ${zeros === 1 ? "second" : "seconds"} no command completed.`;
}

/** Runs made with other parameters may still be compared, but the reader must know. */
function unlikeNotice({ library }: App): HTMLElement | null {
  const differing = differingConfig(library.runs);
  if (differing.length === 0) return null;
  return h(
    "p",
    { class: "notice" },
    `These runs were not all made alike; they differ in ${differing.join(", ")}. See the conditions below.`,
  );
}

function whySection(app: App): {
  element: HTMLElement;
  graphs: Graph[];
  draw: (shown: readonly Shown[]) => void;
} {
  const told = app.library.runs.some((run) => tells(run.columns.freeSuperblocks));
  const silent = h("p", { class: "notice" });
  const strip = told ? new Strip(app) : null;
  const reading = h(
    "p",
    { class: "how-to small" },
    "Read it from top to bottom at one second. While free superblocks last, write amplification stays near 1 and nothing is moved. ",
    "When they run out, every new write must wait for cleaning: pages are moved, the dies are busy with the drive’s own work, and the IOPS above fall. ",
    "Gaps and spikes that line up across the rows have one cause.",
  );
  const element = h(
    "div",
    { class: "why" },
    h("h3", {}, "Why: inside the drive"),
    silent,
    strip && [reading, strip.element],
  );
  const draw = (shown: readonly Shown[]) => {
    const telling = shown.filter(({ run }) => tells(run.columns.freeSuperblocks));
    const quiet = shown.filter((one) => !telling.includes(one));
    silent.hidden = quiet.length === 0;
    silent.textContent = silentSentence(quiet);
    if (!strip) return;
    reading.hidden = telling.length === 0;
    strip.element.hidden = telling.length === 0;
    strip.draw(telling);
    if (telling.length > 0) for (const graph of strip.graphs) graph.fit();
  };
  return { element, graphs: strip?.graphs ?? [], draw };
}

function tells(column: Float64Array): boolean {
  return column.length > 0;
}

function silentSentence(quiet: readonly Shown[]): string {
  const names = [...new Set(quiet.map(({ run }) => plainName(run)))].join(", ");
  return `${names}: a real drive does not tell what it does inside, so there is nothing to draw here.`;
}
