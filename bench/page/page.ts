// The page of a report on 20 drives: its size, the time to its first screen, and the time of every kind of button.

import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { library } from "../../web/fixtures/library";
import type { Report } from "../../web/src/data/schema.gen";
import { bundle, type Lab, SLOT } from "../../web/test/e2e/page";
import { type Button, buttonTimes, type Cost, loaded, type Times, timesOf, tried } from "./measure";

const DRIVES = 20;
const SECONDS = 2_000;
const BINS_AN_OCTAVE = 128;

export interface PageFigures {
  bytes: number;
  first_screen: Times;
  whole_page: Times;
  buttons: Times[];
}

/** Latencies as a run of the program has them: the edges of the bins of its histogram. */
function binned(values: readonly (number | null)[]): (number | null)[] {
  return values.map((ns) => {
    if (ns === null || ns < BINS_AN_OCTAVE) return ns;
    const bin = 2 ** Math.floor(Math.log2(ns)) / BINS_AN_OCTAVE;
    return Math.floor(ns / bin) * bin;
  });
}

function report(): Report {
  const made = library(DRIVES, SECONDS);
  const runs = made.runs.map((run) => {
    const { latency_ns_p50, latency_ns_p99, latency_ns_max } = run.series;
    const series = {
      ...run.series,
      time_s: [],
      latency_ns_p50: binned(latency_ns_p50),
      latency_ns_p99: binned(latency_ns_p99),
      latency_ns_max: binned(latency_ns_max),
    };
    return { ...run, series };
  });
  return { ...made, runs };
}

/** A made-up report, or a real one from a file. */
async function pageText(file: string | undefined): Promise<string> {
  if (file) return readFile(file, "utf8");
  const packed = deflateSync(JSON.stringify(report()), { level: 9 }).toString("base64");
  return (await bundle()).replace(SLOT, SLOT.replace("null", packed));
}

const bars = ".bars .tool-button";

/** Every kind of button of the page; the last press of each leaves it as it was. */
const BUTTONS: Button[] = [
  { name: "one run", presses: [{ on: 'input[name="view"]', at: 0 }] },
  {
    name: "drive",
    presses: [
      { on: 'input[name="drive"]', at: 7 },
      { on: 'input[name="drive"]', at: 0 },
    ],
  },
  {
    name: "spare area",
    presses: [
      { on: 'input[name="spare"]', at: 1 },
      { on: 'input[name="spare"]', at: 0 },
    ],
  },
  { name: "sort", presses: [0, 0, 0, 5, 5, 5].map((at) => ({ on: ".sort-button", at })) },
  { name: "highlight", presses: [4, 9, 4, 9].map((at) => ({ on: ".glance .product-button", at })) },
  { name: "cell to its chart", presses: [{ on: ".glance-button", at: 30 }] },
  { name: "link to a chapter", presses: [{ on: ".page-link", at: 5 }] },
  {
    name: "two drives: open and close",
    presses: [
      { on: "#pair summary", kind: "fold" },
      { on: "#pair summary", kind: "fold" },
    ],
  },
  {
    name: "two drives: choose, every figure",
    presses: [
      { on: "#pair summary", kind: "fold" },
      { on: '#pair select[data-side="1"]', kind: "choose", value: "last" },
      { on: "#pair-every" },
      { on: "#pair-every" },
      { on: "#pair summary", kind: "fold" },
    ],
  },
  {
    name: "compare runs",
    presses: [
      { on: 'input[name="view"]', at: 1 },
      { on: ".compare-list input", at: 8 },
      { on: 'input[name="percentile"]', at: 0 },
      { on: ".compare-list input", at: 8 },
      { on: 'input[name="view"]', at: 0 },
    ],
  },
  {
    name: "zoom and back",
    presses: [
      { on: "#graph-whole", kind: "key", value: "+" },
      { on: "#graph-whole", kind: "key", value: "+" },
      { on: "#graph-whole", kind: "key", value: "0" },
    ],
  },
  {
    name: "table of a chart",
    presses: [
      { on: bars, at: 0 },
      { on: bars, at: 0 },
    ],
  },
  {
    name: "table of every second",
    presses: [
      { on: "#consistency > .chart .tool-button", at: 0 },
      { on: "#consistency > .chart .tool-button", at: 0 },
    ],
  },
  {
    name: "another figure",
    presses: [
      { on: "#test-corners .figure-picker select", kind: "choose", value: "corners.random_write_deep.iops" },
      { on: "#test-corners .figure-picker select", kind: "choose", value: "" },
    ],
  },
  {
    name: "fold of drives",
    presses: [
      { on: ".drives-fold summary", kind: "fold" },
      { on: ".drives-fold summary", kind: "fold" },
    ],
  },
  {
    name: "fold of all figures",
    presses: [
      { on: "#figures summary", kind: "fold" },
      { on: "#figures summary", kind: "fold" },
    ],
  },
  {
    name: "details of a test, its figures, and a run",
    presses: [
      { on: "#test-sweep > .details > summary", kind: "fold" },
      { on: "#test-sweep .all-figures summary", kind: "fold" },
      { on: "#test-sweep .all-figures summary", kind: "fold" },
      { on: "#test-sweep .record summary", kind: "fold" },
      { on: "#test-sweep .record summary", kind: "fold" },
      { on: "#test-sweep > .details > summary", kind: "fold" },
    ],
  },
  {
    name: "passes of all drives",
    presses: [
      { on: "#test-linear > .details > summary", kind: "fold" },
      { on: "#test-linear .overlay summary", kind: "fold" },
      { on: "#test-linear .overlay summary", kind: "fold" },
      { on: "#test-linear > .details > summary", kind: "fold" },
    ],
  },
  {
    name: "words and figures explained",
    presses: [
      { on: "#glossary summary", kind: "fold" },
      { on: "#glossary summary", kind: "fold" },
    ],
  },
  { name: "theme", presses: [{ on: "#theme" }, { on: "#theme" }, { on: "#theme" }] },
];

/** The product that a made-up or real report has last. */
async function lastProduct(page: Page): Promise<string> {
  const last = page.locator('#pair select[data-side="1"] option').last();
  return (await last.getAttribute("value")) ?? "";
}

/** One load of the page, and one press of everything. */
async function turn(lab: Lab, address: string): Promise<{ first: Cost; whole: Cost; costs: Cost[][] }> {
  const page = await lab.blank("", { reducedMotion: "reduce" });
  const [first, whole] = await loaded(page, address, "#glossary");
  const product = await lastProduct(page);
  const buttons = BUTTONS.map((button) => ({
    ...button,
    presses: button.presses.map((press) => (press.value === "last" ? { ...press, value: product } : press)),
  }));
  const costs = await tried(page, buttons);
  await page.context().close();
  return { first, whole, costs };
}

export async function pageFigures(lab: Lab, turns: number, file?: string): Promise<PageFigures> {
  const text = await pageText(file);
  const address = await lab.file(text);
  const all: Awaited<ReturnType<typeof turn>>[] = [];
  for (let at = 0; at < turns; at++) all.push(await turn(lab, address));
  const of = (name: string, cost: (one: (typeof all)[number]) => Cost) =>
    timesOf(
      name,
      all.map((one) => [cost(one)]),
    );
  return {
    bytes: Buffer.byteLength(text),
    first_screen: of("first screen", ({ first }) => first),
    whole_page: of("whole page", ({ whole }) => whole),
    buttons: buttonTimes(
      BUTTONS,
      all.map(({ costs }) => costs),
    ),
  };
}
