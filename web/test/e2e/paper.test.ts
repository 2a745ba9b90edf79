// Requirements of paper and narrow screens.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { fixtureReport, powerRuns, ptsRun, reportOf, runOf, SHAPES, trimRun } from "../../fixtures/report";
import { lab } from "./lab";
import { openDetails, settled } from "./page";

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
      await openDetails(page);
      await page.emulateMedia({ media: "print" });
      expect(await styles(page, places, "print-color-adjust"), places).toEqual(["exact"]);
      await page.context().close();
    }
  });

  test("the strip lines up with the graph above it and stays on one page", async () => {
    const page = await lab.page(fixtureReport(), "", { viewport: { width: 1_400, height: 900 } });
    await openDetails(page);
    const widths = () =>
      page
        .locator("#graph-whole .uplot, .strip .uplot")
        .evaluateAll((all) => [...new Set(all.map((e) => e.clientWidth))]);
    const [screen, ...more] = await widths();
    expect(more).toEqual([]);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    await settled(page);
    expect(await widths()).toEqual([690]);
    expect(await styles(page, ".why, .strip", "break-inside")).toEqual(["avoid"]);
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    expect(await widths()).toEqual([screen]);
    await page.context().close();
  });
});

describe("A4", () => {
  test.each([2, 6, 20])("cuts no column of %d drives", async (drives) => {
    const page = await lab.page(library(drives), "", { viewport: { width: 718, height: 1_000 } });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    await settled(page);
    const cut = await page
      .locator("table:visible")
      .evaluateAll((all) =>
        all
          .filter((table) => table.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
          .map((table) => table.className),
      );
    expect(cut).toEqual([]);
    await page.context().close();
  });
});

describe("little room", () => {
  const wide = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

  test.each([390, 800, 1_400])(
    "a name of 250 letters leaves the figures in sight at %d px",
    async (width) => {
      const name = "Enterprise-NVMe-".repeat(16).slice(0, 250);
      const runs = [runOf({ ...SHAPES[0], name }, 1), runOf(SHAPES[2], 2)];
      const hash = `#compare=${runs.map((run) => run.run_id)}`;
      const page = await lab.page(reportOf(runs), hash, { viewport: { width, height: 900 } });
      expect(await wide(page)).toBe(0);
      for (const table of [".drives", ".legend"]) {
        const head = await page.locator(`${table} tbody th`).first().boundingBox();
        expect(head?.width ?? 0, table).toBeLessThan(430);
        expect(head?.width ?? 0, table).toBeGreaterThan(140);
        const room = page.locator(".scroller").filter({ has: page.locator(`table${table}`) });
        const hidden = await room.evaluate((e) => e.scrollWidth - e.clientWidth);
        if (width === 1_400) expect(hidden, table).toBeLessThanOrEqual(0);
        const figure = await page.locator(`${table} tbody td`).first().boundingBox();
        expect((figure?.x ?? width) + (figure?.width ?? 0), table).toBeLessThanOrEqual(width);
      }
      await page.context().close();
    },
  );

  test.each([390, 720, 1_400])("no letter of a drawing is cut or covers another at %d px", async (width) => {
    const labels = ["50us", "1ms", "50ms"];
    const report = ptsRun();
    report.runs[0].tables.push({
      name: "histogram",
      title: "Response times",
      row_name: "below",
      columns: [{ name: "share", unit: "%" }],
      rows: labels.map((label, at) => ({ label, values: [at] })),
    });
    for (const made of [report, powerRuns()]) {
      const page = await lab.page(made, "", { viewport: { width, height: 900 } });
      const bad = await page.evaluate(() =>
        [...document.querySelectorAll(".drawing svg")].flatMap((svg) => {
          const place = svg.getBoundingClientRect();
          const texts = [...svg.querySelectorAll("text")].map((e) => ({
            text: e.textContent,
            box: e.getBoundingClientRect(),
          }));
          const cut = texts.filter(({ box }) => box.left < place.left - 0.5 || box.right > place.right + 0.5);
          const covered = texts.filter(({ box }, k) =>
            texts.some(
              (other, n) =>
                n > k &&
                box.left < other.box.right &&
                other.box.left < box.right &&
                Math.abs(box.top - other.box.top) < 8,
            ),
          );
          return [...cut, ...covered].map(({ text }) => text);
        }),
      );
      expect(bad).toEqual([]);
      await page.context().close();
    }
  });
});
