// What paper and narrow screens need.

import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fixtureReport, powerRuns, trimRun } from "../../fixtures/report";
import { Lab } from "./page";

let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open();
});

afterEach(() => {
  expect(lab.complaints.splice(0)).toEqual([]);
});

afterAll(() => lab.close());

describe("paper", () => {
  const styles = (page: Page, places: string, property: string) =>
    page
      .locator(places)
      .evaluateAll(
        (all, name) => [...new Set(all.map((e) => getComputedStyle(e).getPropertyValue(name)))],
        property,
      );

  test("the colours of legends and bars are printed", async () => {
    const compared = fixtureReport().runs.slice(0, 3);
    for (const [report, hash, places] of [
      [fixtureReport(), `#compare=${compared.map((run) => run.run_id)}`, ".legend .swatch"],
      [fixtureReport(), "", "#latency .key .swatch"],
      [trimRun(), "", ".passes-swatch, .result-table .barred"],
      [powerRuns(), "", ".power-fill, .power-track, .power-peak"],
    ] as const) {
      const page = await lab.page(report, hash);
      await page.emulateMedia({ media: "print" });
      expect(await styles(page, places, "print-color-adjust"), places).toEqual(["exact"]);
      await page.context().close();
    }
  });

  test("the strip lines up with the graph above it and stays on one page", async () => {
    const page = await lab.page(fixtureReport(), "", { viewport: { width: 1_400, height: 900 } });
    const widths = () =>
      page
        .locator("#graph-whole .uplot, .strip .uplot")
        .evaluateAll((all) => [...new Set(all.map((e) => e.clientWidth))]);
    const [screen, ...more] = await widths();
    expect(more).toEqual([]);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    await page.waitForTimeout(100);
    expect(await widths()).toEqual([690]);
    expect(await styles(page, ".why, .strip", "break-inside")).toEqual(["avoid"]);
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    expect(await widths()).toEqual([screen]);
    await page.context().close();
  });
});
