// Finding one's way: links, sections, names for readers of screens, and the keyboard.

import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fixtureReport, ptsRun, reportOf, trimRun, unknownTest } from "../../fixtures/report";
import type { Report, RunView } from "../../src/data/schema.gen";
import { Lab } from "./page";

let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open();
});

afterEach(() => {
  expect(lab.complaints.splice(0)).toEqual([]);
});

afterAll(() => lab.close());

/** A sentence for each figure of the run. */
function withFindings(run: RunView): RunView {
  const findings = Object.keys(run.metrics).map((metric) => ({ metric, text: `This rests on ${metric}.` }));
  return { ...run, findings };
}

const others = [ptsRun(), trimRun(), unknownTest()].flatMap(({ runs }) => runs).map(withFindings);
const everything: Report = reportOf([...fixtureReport().runs.map(withFindings), ...others]);

describe("links", () => {
  test("every finding leads to the row of its figure, folded away or not", async () => {
    const page = await lab.page(everything, "", { reducedMotion: "reduce" });
    const dead = await page.evaluate(() => {
      const links = [...document.querySelectorAll<HTMLElement>(".figure-link")];
      return links.flatMap((link) => {
        for (const folded of document.querySelectorAll<HTMLDetailsElement>(".all-figures"))
          folded.open = false;
        const label = link.textContent?.split(":")[0] ?? "";
        link.focus();
        link.click();
        const row = document.activeElement as HTMLElement;
        const there = row.dataset.figure !== undefined && row.checkVisibility();
        const own = link.closest("section.other-test");
        const same = own === null || own.contains(row);
        return there && same && row.querySelector("th")?.textContent === label ? [] : [link.textContent];
      });
    });
    expect(dead).toEqual([]);
    expect(await page.locator(".other-test .figure-link").count()).toBeGreaterThan(5);
    await page.context().close();
  });
});

describe("the keyboard", () => {
  const spoken = (page: Page, id: string) => page.locator(`#${id} > [aria-live]`).textContent();

  test("each graph of the strip speaks its own quantity first", async () => {
    const page = await lab.page(fixtureReport());
    for (const [column, label] of [
      ["waf", "Write amplification"],
      ["freeSuperblocks", "Free superblocks"],
      ["bufferMb", "Write buffer"],
      ["gcMoved", "Cleaning"],
      ["dieBusy", "Dies busy"],
    ]) {
      const id = `graph-why-${column}`;
      await page.locator(`#${id}`).focus();
      await page.keyboard.press("ArrowRight");
      expect(await spoken(page, id)).toMatch(new RegExp(`^Second 1,001, .*, ${label}, [\\d.]+.*, IOPS, `));
    }
    await page.context().close();
  });

  test("Home and End are the first and the last point, zoomed or not", async () => {
    const page = await lab.page(fixtureReport());
    await page.locator("#graph-whole").focus();
    await page.keyboard.press("End");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 1,999, .* IOPS, [\d,]+, /);
    await page.keyboard.press("ArrowRight");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 1,999, /);
    await page.keyboard.press("Home");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 0, .* IOPS, [\d,]+, /);
    await page.evaluate(() => {
      location.hash = "#drive=fixture-even-480&spare=default&x=100.4-199.6";
    });
    await expect.poll(() => page.locator("#graph-whole").getAttribute("data-x-max")).toBe("199.6");
    await page.locator("#graph-whole").focus();
    await page.keyboard.press("End");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 199, /);
    await page.keyboard.press("Home");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 101, /);
    await page.context().close();
  });

  test("the distribution is walked from its middle, bin by bin", async () => {
    const page = await lab.page(fixtureReport());
    await page.locator("#graph-exceedance").focus();
    const heard = new Set<string | null>();
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"]) {
      await page.keyboard.press(key);
      heard.add(await spoken(page, "graph-exceedance"));
    }
    expect(heard.size).toBe(3);
    expect([...heard].every((text) => text?.includes("1 in"))).toBe(true);
    await page.context().close();
  });
});
