// A reader who does not scroll: does the first screen answer who keeps the pace, by how much, what spare area
// changes, and whether a person notices? The drives are shipped models at full size, from the reference library.

import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { appOf, ranked } from "../../src/app";
import { libraryOf } from "../../src/data/load";
import { rankedIn } from "../../src/data/ranking";
import type { Report, RunView } from "../../src/data/schema.gen";
import { lab } from "./lab";

const DRIVES = [
  "sim:intel-ssd-730-480gb",
  "sim:ocz-vector-256gb",
  "sim:samsung-840-pro-256gb",
  "sim:sandisk-extreme-ii-480gb",
  "sim:seagate-600-480gb",
];

const packed = readFileSync(new URL("../../../drives/reference.zz", import.meta.url));
const reference: { runs: RunView[] } = JSON.parse(inflateSync(packed).toString());
const report: Report = {
  ...library(0),
  runs: reference.runs.filter(({ target }) => DRIVES.includes(target.spec)),
};

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
  expect(text).toContain("Samsung SSD 840 Pro 256 GB (simulated) stops for up to");
  expect(text).toMatch(/no command waits 0\.1 s ?, which is what a person notices/);
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await page.context().close();
});
