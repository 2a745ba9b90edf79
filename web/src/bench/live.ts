// A run in progress: its phases, and the IOPS of every second as the server tells them.

import { duration, iops, nameText, seconds } from "../data/format";
import type { Phase } from "../data/schema.gen";
import { heading } from "../data/tests";
import { h, textNode } from "../dom";
import { svg } from "../view/results/svg";
import { openHash } from "./address";

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

const WIDTH = 900;
const HEIGHT = 260;
const LEFT = 70;
const BOTTOM = 24;

/** Most points on the graph; of more seconds each point is the mean of several. */
const POINTS_MAX = 900;

export function thinned(values: readonly number[]): number[] {
  const each = Math.ceil(values.length / POINTS_MAX);
  if (each <= 1) return [...values];
  return Array.from({ length: Math.ceil(values.length / each) }, (_, at) => {
    const part = values.slice(at * each, (at + 1) * each).filter(Number.isFinite);
    return part.length === 0 ? Number.NaN : part.reduce((a, b) => a + b, 0) / part.length;
  });
}

function graph({ iops: rates }: Live): SVGElement {
  const points = thinned(rates);
  const top = Math.max(1, ...points.filter(Number.isFinite));
  const x = (at: number) => LEFT + ((WIDTH - LEFT - 8) * (at + 0.5)) / Math.max(points.length, 60);
  const y = (value: number) => 8 + (HEIGHT - BOTTOM - 8) * (1 - value / top);
  const dots = points.flatMap((value, at) =>
    Number.isFinite(value) ? [svg("circle", { cx: x(at), cy: y(value), r: 1.6, class: "live-dot" })] : [],
  );
  const label = (value: number) =>
    svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end", class: "bar-value" }, iops(value));
  return svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "live-graph",
      role: "img",
      "aria-label": "IOPS of every second",
    },
    svg("line", { x1: LEFT, x2: WIDTH, y1: y(0), y2: y(0), class: "bar-rail" }),
    svg("line", { x1: LEFT, x2: WIDTH, y1: y(top), y2: y(top), class: "bar-rail" }),
    label(0),
    label(top),
    ...dots,
  );
}

function phaseLine({ name, what, duration_ns, complete }: Phase): HTMLElement {
  const length = duration_ns > 0 ? `, ${seconds(duration_ns / 1e9)}` : "";
  return h("li", {}, h("b", {}, name), `: ${what}${length}${complete ? "" : ", not complete"}`);
}

/** The page of a run in progress; it follows the run until its end. */
export function livePage(name: string): HTMLElement {
  const title = h("h1", {}, nameText(name));
  const status = h("p", { role: "status", id: "live-status" }, "Waiting for the server…");
  const figure = h("div", { class: "drawing" });
  const said = h("p", { class: "quiet", id: "live-now" });
  const phases = h("ol", {});
  let live = NOTHING;
  const draw = () => {
    figure.replaceChildren(graph(live));
    const last = live.iops.at(-1);
    const wait = live.p99 === null ? "" : `, 99th percentile ${duration(live.p99)}`;
    said.textContent =
      last === undefined || !Number.isFinite(last)
        ? ""
        : `${nameText(live.phase)}, second ${live.iops.length - 1}: ${iops(last)} IOPS${wait}`;
  };
  const events = new EventSource(`live/${encodeURIComponent(name)}`);
  const on = <T>(kind: string, act: (data: T) => void) =>
    events.addEventListener(kind, (event) => act(JSON.parse((event as MessageEvent<string>).data) as T));
  on<Now>("state", (now) => {
    title.textContent = `${heading(now.test)} on ${nameText(now.drive)}`;
    status.textContent = [now.kind, `${now.variant}: ${now.status}`].map(nameText).join(", ");
    phases.replaceChildren(...now.phases.map(phaseLine));
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
    title,
    status,
    figure,
    said,
    phases,
  );
}
