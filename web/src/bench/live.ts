// A run in progress: the graph of its present phase, its progress, and its phases, as the server tells them.

import { cssColor } from "../app";
import { linear, logScale } from "../chart/axis";
import { Graph } from "../chart/graph";
import { ZERO_NOTE } from "../chart/scatter";
import { clock, duration, iops, nameText, separated, shortCount, wholePercent } from "../data/format";
import type { Phase } from "../data/schema.gen";
import { heading } from "../data/tests";
import { h, textNode } from "../dom";
import { chartFrame } from "../view/graphs/chart-frame";
import { applyTheme, rememberedTheme } from "../view/page/theme";
import { openHash } from "./address";
import { type PlannedPhase, progressOf } from "./progress";

/** One second of the phase in progress, as the server writes it. */
export interface Second {
  phase: string;
  second: number;
  iops: number;
  latency_ns_p99: number | null;
}

interface Now {
  test: string;
  drive: string;
  kind: string;
  variant: string;
  status: string;
  phases: Phase[];
  /** Absent from a server of an earlier version. */
  planned?: PlannedPhase[];
}

interface Rows {
  phase: string;
  iops: (number | null)[];
  latency_ns_p99: (number | null)[];
}

interface End {
  status?: string;
  error?: string;
}

/** The series of the phase that the graph shows: the one in progress, or the last that ended. */
export interface Live {
  phase: string;
  iops: number[];
  /** 99th percentile of the last second; null if unknown. */
  p99: number | null;
}

export const NOTHING: Live = { phase: "", iops: [], p99: null };

/** Seconds of another phase begin a new series. */
export function withSeconds(live: Live, news: readonly Second[]): Live {
  return news.reduce((so_far, { phase, second, iops: rate, latency_ns_p99 }) => {
    const known = so_far.phase === phase && second > 0 ? so_far.iops : [];
    const next = known.slice(0, second);
    while (next.length < second) next.push(Number.NaN);
    next.push(rate);
    return { phase, iops: next, p99: latency_ns_p99 };
  }, live);
}

export function withRows({ phase, iops: rates, latency_ns_p99 }: Rows): Live {
  return { phase, iops: rates.map((rate) => rate ?? Number.NaN), p99: latency_ns_p99.at(-1) ?? null };
}

const HEIGHT = 320;
/** Seconds on the axis of a phase of unknown length that has just begun. */
const SECONDS_MIN = 60;

/** The planned seconds of a phase; 0 if nobody knows them. */
function plannedSeconds(planned: readonly PlannedPhase[], phase: string): number {
  const own = planned.find(({ name }) => name === phase);
  return own?.duration_ns && !own.is_estimate ? Math.round(own.duration_ns / 1e9) : 0;
}

/** The graph of the report over the seconds of one phase; `live` gives them. */
function liveChart(live: () => Live) {
  const graph = new Graph({
    id: "graph-live",
    name: "IOPS of every second of the present phase",
    height: HEIGHT,
    x: linear(0, SECONDS_MIN),
    y: logScale(1, 1, true),
    xLabel: (second) => separated(second),
    yLabel: shortCount,
    xTitle: "seconds of the phase",
    zeroNote: ZERO_NOTE,
  });
  const rows = () =>
    live().iops.map((rate, second) => [String(second), Number.isFinite(rate) ? iops(rate) : ""]);
  const data = () => ({ heads: ["Second", "IOPS"], rows: rows() });
  const frame = chartFrame(graph, "Pace", "IOPS of each second, log scale", null, data);
  const draw = (planned: readonly PlannedPhase[]) => {
    const rates = Float64Array.from(live().iops);
    const length = plannedSeconds(planned, live().phase) || SECONDS_MIN;
    const seconds = Float64Array.from(rates, (_, second) => second);
    const known = rates.filter(Number.isFinite);
    const most = known.reduce((a, b) => Math.max(a, b), 0);
    const least = known.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), most);
    graph.draw({
      layers: [{ x: seconds, y: rates, color: cssColor("--run-1") }],
      x: linear(0, Math.max(rates.length, length)),
      y: logScale(least, most, known.includes(0)),
    });
  };
  return { ...frame, draw };
}

function lastSecond({ phase, iops: rates, p99 }: Live): string {
  const last = rates.at(-1);
  if (last === undefined || !Number.isFinite(last)) return "";
  const wait = p99 === null ? "" : `, 99th percentile ${duration(p99)}`;
  return `${nameText(phase)}, second ${rates.length - 1}: ${iops(last)} IOPS${wait}`;
}

function phaseLine({ name, what, duration_ns, complete }: Phase): HTMLElement {
  const length = duration_ns > 0 ? `, ${clock(duration_ns)}` : "";
  return h("li", {}, h("b", {}, name), `: ${what}${length}${complete ? "" : ", not complete"}`);
}

/** The page of a run in progress; it follows the run until its end. */
export function livePage(name: string): HTMLElement {
  applyTheme(rememberedTheme());
  const title = h("h1", {}, nameText(name));
  const status = h("p", { role: "status", id: "live-status" }, "Waiting for the server…");
  const bar = h("progress", { max: 1, "aria-label": "Part of the run that is done", hidden: true });
  const done = h("p", { class: "quiet", id: "live-progress" });
  const phases = h("ol", {});
  let live = NOTHING;
  let now: Now | null = null;
  const chart = liveChart(() => live);
  const draw = () => {
    chart.draw(now?.planned ?? []);
    chart.say([lastSecond(live)]);
    const progress = now && progressOf(now.phases, now.planned ?? [], live);
    bar.hidden = !progress;
    if (!now || !progress) return;
    const kind = now.kind === "simulated" ? "virtual time" : "time";
    bar.value = progress.share;
    const left = [progress.words, clock(progress.leftNs), `of ${kind} left`].filter(Boolean).join(" ");
    done.textContent = `${wholePercent(progress.share)} done, ${left}`;
  };
  const events = new EventSource(`live/${encodeURIComponent(name)}`);
  const on = <T>(kind: string, act: (data: T) => void) =>
    events.addEventListener(kind, (event) => act(JSON.parse((event as MessageEvent<string>).data) as T));
  on<Now>("state", (state) => {
    now = state;
    title.textContent = `${heading(state.test)} on ${nameText(state.drive)}`;
    status.textContent = [state.kind, `${state.variant}: ${state.status}`].map(nameText).join(", ");
    phases.replaceChildren(...state.phases.map(phaseLine));
    draw();
  });
  on<Rows>("phase", (rows) => {
    live = withRows(rows);
    draw();
  });
  on<Second[]>("seconds", (news) => {
    live = withSeconds(live, news);
    draw();
  });
  on<End>("end", ({ status: last, error }) => {
    events.close();
    bar.hidden = true;
    done.textContent = "";
    const open = h("a", { href: openHash({ filter: {}, by: "", area: "", basket: [name] }) }, "Open the run");
    status.replaceChildren(
      error ? textNode(error) : `The run has ended: ${last}. `,
      ...(error ? [] : [open]),
    );
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) status.textContent = "The server does not offer this run.";
  });
  return h(
    "main",
    { id: "main", class: "wide bench" },
    h("p", {}, h("a", { class: "bench-back", href: "#" }, "← All runs")),
    h("header", {}, title, status),
    h("section", { "aria-label": "Progress" }, h("h2", {}, "Progress"), bar, done, chart.element),
    h("section", { "aria-label": "Phases" }, h("h2", {}, "Phases that have ended"), phases),
  );
}
