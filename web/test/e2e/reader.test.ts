// A reader who does not scroll: does the first screen answer who keeps the pace, by how much, what spare area
// changes, and whether a person notices?

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { appOf, ranked } from "../../src/app";
import { libraryOf } from "../../src/data/load";
import { rankedIn } from "../../src/data/ranking";
import { lab } from "./lab";

const made = library(5);
const runs = made.runs.map((run) =>
  run.test === "consistency" ? { ...run, metrics: { ...run.metrics, notice_waits: 3 } } : run,
);
const report = { ...made, runs };

/** The text of the page down to this height, as it stands without scrolling. */
function seen(page: Page, height: number): Promise<string> {
  return page.evaluate((limit) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const { bottom, width } = range.getBoundingClientRect();
      if (width > 0 && bottom <= limit) texts.push(node.textContent ?? "");
    }
    return texts.join(" ").replace(/\s+/g, " ");
  }, height);
}

test.each([
  { width: 1_400, height: 900, screens: 1 },
  { width: 390, height: 844, screens: 2 },
])("$width px wide, $screens of $height px tell the answer", async ({ width, height, screens }) => {
  const page = await lab.page(report, "", { viewport: { width, height } });
  const text = await seen(page, screens * height);
  const { entries } = ranked(appOf(libraryOf(report), ""), "consistency", "iops_steady_mean");
  const kept = rankedIn(entries);
  for (const { product, text: figure } of [kept[0], kept[kept.length - 1]]) {
    expect(text).toContain(product.name);
    expect(text).toContain(figure.replace(/\s+/g, " "));
  }
  expect(text).toContain("keeps the most of 5 drives");
  expect(text).toContain("keeps the least");
  expect(text).toMatch(/25% spare area it does ([\d.]+ times the pace|\d+% more)/);
  expect(text).toMatch(/3 commands wait 0\.1 s or longer ?, which a person notices/);
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await page.context().close();
});
