// Performance consistency: three graphs of IOPS, and under the first one the reason for its shape.

import { type App, axesNow, type Shown, shownRuns } from "../../app";
import { type Axes, plannedSeconds } from "../../chart/classes";
import type { Graph } from "../../chart/graph";
import { endOf } from "../../chart/scales";
import { SteadyRun, WholeRun } from "../../chart/scatter";
import { Strip } from "../../chart/strip";
import { differingConfig, heldOf, steadySummary, summary } from "../../data/figures";
import { seconds, separated, wholePercent } from "../../data/format";
import {
  graphedHeading,
  graphedTest,
  isSmall,
  plainName,
  type Run,
  secondsAPoint,
  spareLabel,
} from "../../data/load";
import { question } from "../../data/tests";
import { wordOf } from "../../data/words";
import { aside, h, inFold } from "../../dom";
import { testBars } from "../bars/chapter";
import { colorProducts } from "../parts/colors";
import { wordsOf } from "../text/words";
import { chartFrame } from "./chart-frame";
import { runHead } from "./runhead";
import { iopsTable, steadyTable } from "./tables";

export interface Section {
  element: HTMLElement;
  graphs: Graph[];
  /** Called after a change of the selection or of the zoom. */
  draw: () => void;
}

/** Latencies and `inside` stand behind the details of the chapter, which draw nothing before they are open. */
export function consistency(app: App, slow: Section, inside: HTMLElement[]): Section {
  const whole = new WholeRun(app);
  const steadyLog = new SteadyRun(app, true);
  const steadyLinear = new SteadyRun(app, false);
  const why = whySection(app);
  const axes = axesNote(app);
  const first = chartFrame(whole.time.graph, "Whole run", "IOPS, log scale", app, () => iopsTable(app));
  const second = chartFrame(steadyLog.time.graph, "Steady state", "IOPS, log scale", app, () =>
    steadyTable(app),
  );
  const third = chartFrame(steadyLinear.time.graph, "Steady state", "IOPS, linear scale", app, () =>
    steadyTable(app),
  );
  const fold = h(
    "details",
    { class: "details" },
    h("summary", {}, "Details", aside(`: ${graphedHeading(app.library)}`)),
    why.element,
    h("div", { class: "charts-pair" }, second.element, third.element),
    slow.element,
    inside,
  );
  const reading = h("p", { class: "how-to quiet small" });
  const element = h(
    "section",
    { id: "consistency", "data-name": graphedHeading(app.library), "aria-labelledby": "consistency-title" },
    h("p", { class: "overline" }, graphedHeading(app.library)),
    h("h2", { id: "consistency-title" }, question(graphedTest(app.library))),
    wordsOf(app, graphedTest(app.library)),
    testBars(app, graphedTest(app.library), (within) => colorProducts(app, within)),
    runHead(app),
    unlikeNotice(app),
    axes.element,
    first.element,
    reading,
    why.events,
    fold,
  );
  const drawInside = inFold(fold, () => {
    const shown = shownRuns(app);
    const now = axesNow(app);
    const steady = lastPart(now, shown);
    for (const part of [steadyLog, steadyLinear, why]) part.draw(shown);
    second.rename(steady);
    third.rename(steady);
    second.say(shown.map(({ run }) => steadySummary(run)));
    third.say([linearSentence(now)]);
    slow.draw();
  });
  const draw = () => {
    const shown = shownRuns(app);
    whole.draw(shown);
    why.say(shown);
    axes.say();
    reading.textContent = howTo(axesNow(app)) + smallNote(shown);
    first.say(shown.map(({ run }) => summary(run) + (isSmall(run) ? "" : zeroSentence(run.columns.iops))));
    drawInside();
  };
  const steadyGraphs = [steadyLog.time.graph, steadyLinear.time.graph];
  return { element, graphs: [whole.time.graph, ...why.graphs, ...steadyGraphs, ...slow.graphs], draw };
}

/** The title of the part behind the figures of steady state: that word only for runs that reached it. */
function lastPart({ scales }: Axes, shown: readonly Shown[]): string {
  const from = `from ${separated(scales.steady.min)} s`;
  const isSteady = ({ run }: Shown) => heldOf(run, "iops_steady_mean") !== null;
  if (shown.length > 0 && !shown.some(isSteady)) return `Last part, ${from}; no steady state`;
  return shown.every(isSteady) ? `Steady state, ${from}` : `Last part, ${from}; not every run is steady`;
}

/** The small form of a library has means: nothing in it is of a single second. */
function smallNote(shown: readonly Shown[]): string {
  const points = shown.map(({ run }) => secondsAPoint(run)).filter((each) => each > 1);
  const lengths = [...new Set(points)].map(separated).join(" or ");
  return lengths === "" ? "" : ` Small form: each point is the mean of ${lengths} s.`;
}

function linearSentence({ runs }: Axes): string {
  const same = "The same seconds on a linear scale";
  return runs.length > 1
    ? `${same}, with one common top for all ${runs.length} runs of this length.`
    : `${same}.`;
}

function howTo({ runs, scales }: Axes): string {
  const zero =
    scales.iopsWhole.zeroAt === null
      ? ""
      : " Seconds without a single completed command stand on the line marked 0, below the log scale.";
  const same = runs.length > 1 ? " All runs of this length are drawn on the same axes." : "";
  return `Drag across a graph to zoom, double-click to reset. With the keyboard: arrows move second by second, + and − zoom, 0 resets.${zero}${same}`;
}

/** A note for reports with runs of several lengths: the runs that own the axes, and the guests on them. */
function axesNote(app: App): { element: HTMLElement; say: () => void } {
  const element = h("p", { class: "notice", id: "axes-note", role: "status" });
  const say = () => {
    const axes = axesNow(app);
    const others = app.book.others(axes);
    const guests = axes.guests.map((run) => guestSentence(run, axes));
    element.hidden = others.length === 0;
    element.replaceChildren(`${classSentence(axes, others)} `, ...guests);
  };
  return { element, say };
}

function classSentence({ seconds: own, runs }: Axes, others: readonly number[]): string {
  const length = runs.every((run) => plannedSeconds(run) === own) ? seconds(own) : `about ${seconds(own)}`;
  const whose = runs.length > 1 ? `the ${runs.length} runs of ${length} share` : `the run of ${length} has`;
  const rest = others.map((one) => seconds(one)).join(", ");
  return `Axes: ${whose} these; runs of other lengths (${rest}) have their own.`;
}

function guestSentence(run: Run, { seconds: own, scales }: Axes): string {
  const length = plannedSeconds(run);
  const reaches = endOf(run) > Math.max(scales.steady.min, run.view.steady_from_s);
  const absent = reaches ? "" : ", and has no second in the steady-state graphs";
  return `${plainName(run)}, ${spareLabel(run.variant)}, is shorter (${seconds(length)}); it is drawn on the axes of the ${seconds(own)} runs${absent}. `;
}

function zeroSentence(iops: Float64Array): string {
  let zeros = 0;
  for (let i = 0; i < iops.length; i++) if (iops[i] === 0) zeros++;
  if (zeros === 0) return "";
  const among = zeros / iops.length >= 0.01 ? ` (${wholePercent(zeros / iops.length)} of all)` : "";
  return ` In ${separated(zeros)} ${zeros === 1 ? "second" : "seconds"}${among} no command completed.`;
}

/** Runs with other parameters may still be compared, but the reader must know. */
function unlikeNotice({ library, book }: App): HTMLElement | null {
  const differing = differingConfig(
    library.runs,
    book.classes.map(({ runs }) => runs),
  );
  if (differing.length === 0) return null;
  const words = differing.map((name) => wordOf(name).toLowerCase()).join(", ");
  return h(
    "p",
    { class: "notice" },
    `These runs were not all made alike; they differ in: ${words}. See the conditions below.`,
  );
}

function whySection(app: App): {
  element: HTMLElement;
  /** The reason in words. */
  events: HTMLElement | null;
  graphs: Graph[];
  /** Writes the reason. */
  say: (shown: readonly Shown[]) => void;
  draw: (shown: readonly Shown[]) => void;
} {
  const told = app.library.runs.some((run) => tells(run.columns.freeSuperblocks));
  const silent = h("p", { class: "notice" });
  const strip = told ? new Strip(app) : null;
  const reading = h(
    "p",
    { class: "how-to small" },
    "Read it from top to bottom at one second. While free superblocks last, write amplification stays near 1 and nothing is moved. ",
    "When they run out, every new write must wait until pages have been moved, which takes time of the controller, the channels and the dies, and the IOPS above fall. ",
    "The part that is busy all the time is the limit, and the others wait for it. ",
    "Gaps and spikes that line up across the rows have one cause.",
  );
  const element = h(
    "div",
    { class: "why" },
    h("h3", {}, "Why: inside the drive"),
    silent,
    strip && [reading, strip.element],
  );
  const tellingOf = (shown: readonly Shown[]) =>
    shown.filter(({ run }) => tells(run.columns.freeSuperblocks));
  const say = (shown: readonly Shown[]) => strip?.say(tellingOf(shown));
  const draw = (shown: readonly Shown[]) => {
    const telling = tellingOf(shown);
    const quiet = shown.filter((one) => !telling.includes(one));
    silent.hidden = quiet.length === 0;
    silent.textContent = silentSentence(quiet);
    if (!strip) return;
    reading.hidden = telling.length === 0;
    strip.element.hidden = telling.length === 0;
    strip.draw(telling);
  };
  return { element, events: strip?.events ?? null, graphs: strip?.graphs ?? [], say, draw };
}

function tells(column: Float64Array): boolean {
  return column.length > 0;
}

function silentSentence(quiet: readonly Shown[]): string {
  const names = (runs: readonly Shown[]) => [...new Set(runs.map(({ run }) => plainName(run)))].join(", ");
  const small = quiet.filter(({ run }) => run.simulated && isSmall(run));
  const cutOff = quiet.filter(({ run }) => run.simulated && !isSmall(run));
  const real = quiet.filter(({ run }) => !run.simulated);
  const sentences = [
    real.length > 0 &&
      `${names(real)}: only a simulated drive tells what it does inside, so there is nothing to draw here.`,
    small.length > 0 &&
      `${names(small)}: the small form of the library leaves out what happens inside a drive.`,
    cutOff.length > 0 &&
      `${names(cutOff)}: the run ended before the load began, so there is nothing to draw here.`,
  ];
  return sentences.filter((sentence) => sentence !== false).join(" ");
}
