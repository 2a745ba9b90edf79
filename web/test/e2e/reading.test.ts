// Finding one's way: links, sections, names for readers of screens, and the keyboard.

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
