// Drives of the reference library beside those of a report.

import { describe, expect, test } from "vitest";
import { amongOthers } from "../../fixtures/context";
import { lab } from "./lab";
import { violations } from "./page";

describe("a page of one drive", () => {
  test("shows it among the reference library, and a button hides the others", async () => {
    const page = await lab.page(amongOthers(1, 8));
    const bars = page.locator("#chart-consistency-iops-steady-mean");
    const rows = bars.locator(".bar-row");
    expect(await rows.count()).toBe(9);
    expect(await bars.locator(".bar-row[data-slot=context]").count()).toBe(8);
    const lines = page.locator(".first-curves .many-line[data-slot=context]");
    expect(await lines.count()).toBe(8);
    expect(await page.locator(".sources").innerText()).toContain(
      "8 simulated drives of the reference library",
    );
    expect(await page.locator(".sources").innerText()).toContain("1 are stale");
    await page.locator("#context-switch").click();
    expect(await lines.count()).toBe(0);
    expect(await rows.count()).toBe(1);
    expect(await page.evaluate(() => location.hash)).toContain("alone=1");
    await page.locator("#context-switch").click();
    expect(await rows.count()).toBe(9);
    await page.context().close();
  });

  test("speaks of its own drive alone, without a violation, wide and narrow", async () => {
    const report = amongOthers(1, 8);
    for (const width of [1_400, 390]) {
      const page = await lab.page(report, "", { viewport: { width, height: 900 } });
      const verdict = await page.locator("#verdict").innerText();
      for (const { target } of report.context?.runs ?? []) expect(verdict).not.toContain(target.name);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      expect(await violations(page)).toEqual([]);
      await page.context().close();
    }
  });
});
