// The Bench over a library of 2,000 runs: the list, its choices, and a comparison of ten drives.

import type { Page } from "playwright-core";
import { benchFiles } from "../../web/fixtures/bench";
import { libraryRuns } from "../../web/fixtures/library";
import { Host } from "../../web/test/e2e/host";
import type { Lab } from "../../web/test/e2e/page";
import {
  type Button,
  buttonTimes,
  type Cost,
  loaded,
  seen,
  type Times,
  timesOf,
  tried,
  watch,
} from "./measure";

/** Every drive has 15 runs. */
const DRIVES = 134;
const SECONDS = 2_000;
const COMPARED = 10;

export interface LibraryFigures {
  runs: number;
  library_bytes: number;
  list: Times;
  list_again: Times;
  choices: Times[];
  comparison_first_screen: Times;
  comparison_whole_page: Times;
}

const BUTTONS: Button[] = [
  {
    name: "filter by test",
    presses: [
      { on: "[data-choice=test]", kind: "choose", value: "heavy" },
      { on: "[data-choice=test]", kind: "choose", value: "" },
    ],
  },
  {
    name: "filter by capacity",
    presses: [
      { on: "[data-choice=capacity]", kind: "choose", value: "480 GB" },
      { on: "[data-choice=capacity]", kind: "choose", value: "" },
    ],
  },
  {
    name: "words in the name",
    presses: [
      { on: "[data-choice=find]", kind: "type", value: "library 03" },
      { on: "[data-choice=find]", kind: "type", value: "" },
    ],
  },
  {
    name: "rank by another figure",
    presses: [
      { on: "[data-choice=by]", kind: "choose", value: "corners:corners.random_read.iops" },
      { on: "[data-choice=by]", kind: "choose", value: "consistency:iops_steady_mean" },
    ],
  },
  {
    name: "spare area",
    presses: [
      { on: "[data-choice=area]", kind: "choose", value: "25%" },
      { on: "[data-choice=area]", kind: "choose", value: "default" },
    ],
  },
  { name: "tick a drive", presses: [{ on: "tbody [data-pick]" }, { on: "tbody [data-pick]" }] },
  {
    name: "runs of a drive",
    presses: [
      { on: ".bench-list summary", kind: "fold" },
      { on: ".bench-list summary", kind: "fold" },
    ],
  },
];

/** From a press of "Compare" on ten ticked drives to the first screen of their page, and to all of it. */
async function compared(page: Page): Promise<[first: Cost, whole: Cost]> {
  for (let at = 0; at < COMPARED; at++) await page.locator("tbody tr > td:first-child input").nth(at).check();
  const start = await page.evaluate(() => {
    document.querySelector<HTMLElement>(".bench-basket a")?.click();
    return performance.timeOrigin + performance.now();
  });
  const [first, whole] = [await seen(page, ".glance"), await seen(page, "#glossary")];
  return [
    { ms: first - start, cpu_ms: 0 },
    { ms: whole - start, cpu_ms: 0 },
  ];
}

/** The list once more, in a tab that has shown it. */
async function reloaded(page: Page): Promise<Cost> {
  await page.reload({ waitUntil: "commit" });
  const at = await seen(page, ".bench-list");
  return { ms: at - (await page.evaluate(() => performance.timeOrigin)), cpu_ms: 0 };
}

interface Turn {
  list: Cost;
  again: Cost;
  choices: Cost[][];
  first: Cost;
  whole: Cost;
}

async function turn(lab: Lab, url: string): Promise<Turn> {
  const page = await lab.blank(new URL(url).origin);
  await watch(page, [".glance", "#glossary"]);
  const [, list] = await loaded(page, url, ".bench-list");
  const again = await reloaded(page);
  await page.locator(".bench-filters > summary").click();
  const choices = await tried(page, BUTTONS);
  const [first, whole] = await compared(page);
  await page.context().close();
  return { list, again, choices, first, whole };
}

export async function libraryFigures(lab: Lab, turns: number): Promise<LibraryFigures> {
  const views = libraryRuns(DRIVES, SECONDS);
  const files = benchFiles(views);
  const host = await Host.open(files);
  const all: Turn[] = [];
  for (let at = 0; at < turns; at++) all.push(await turn(lab, host.url));
  await host.close();
  const of = (name: string, cost: (one: Turn) => Cost) =>
    timesOf(
      name,
      all.map((one) => [cost(one)]),
    );
  return {
    runs: views.length,
    library_bytes: files.get("/library.json")?.length ?? 0,
    list: of("list, in a new tab", ({ list }) => list),
    list_again: of("list, loaded again", ({ again }) => again),
    choices: buttonTimes(
      BUTTONS,
      all.map(({ choices }) => choices),
    ),
    comparison_first_screen: of("ten drives: first screen", ({ first }) => first),
    comparison_whole_page: of("ten drives: whole page", ({ whole }) => whole),
  };
}
