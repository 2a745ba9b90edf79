// A quick review of small simulated drives, as a newcomer makes first: long names, short runs, few ranks.

import { describe, expect, test } from "vitest";
import { quickReview, SCALE } from "../../fixtures/quick";
import { lab } from "./lab";
import { fold, openDetails, violations } from "./page";

const made = quickReview();
const wide = { viewport: { width: 1_400, height: 900 } };

const open = (width: number) => lab.page(made, "", { viewport: { width, height: 900 } });

describe("a quick review of five small drives", () => {
  test("has a line for each drive, though a run has fewer seconds than a chart has points", async () => {
    const page = await lab.page(made, "", wide);
    const lines = page.locator("#curves .many-line .passes-line");
    expect(await lines.count()).toBe(5);
    const widths = await lines.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
    const plot = await page.locator("#curves .passes-grid").first().boundingBox();
    for (const width of widths) expect(width).toBeGreaterThan(0.9 * (plot?.width ?? 1e9));
    const pieces = await lines.evaluateAll((all) =>
      all.map((one) => (one.getAttribute("d") ?? "").split("M").length - 1),
    );
    expect(pieces).toEqual([1, 1, 1, 1, 1]);
    await page.context().close();
  });

  test("judges nothing, and recommends nothing, where two small drives happened to become even", async () => {
    const page = await lab.page(made, "", wide);
    const note = await page.locator("#whole-note").innerText();
    expect(note).toContain(
      "These are quick runs: each began on a fresh drive and took little time, and some used",
    );
    expect(note).not.toContain("Steady state was not reached");
    const verdict = await page.locator("#verdict").innerText();
    expect(verdict).toMatch(/^In a quick run Fixture Library 0\d .* wrote for 60\ss, at last at/);
    expect(verdict).not.toMatch(/keeps|stops for/);
    expect(verdict).toMatch(/of 2 ranked/);
    expect(await page.locator(".best-for dt").allInnerTexts(), "a price is of no run").toEqual(["Price"]);
    expect(await page.locator("#suite-mean").count()).toBe(0);
    await page.context().close();
  });

  test("is at most 12,000 px tall, and two screens lie between the first question and the second", async () => {
    const page = await lab.page(made, "", wide);
    const [first, second] = await Promise.all(
      ["#consistency", "#test-trim"].map((id) => page.locator(id).boundingBox()),
    );
    expect((second?.y ?? 1e9) - (first?.y ?? 0)).toBeLessThanOrEqual(2 * 1_000);
    expect(
      await page.locator("#consistency .all-figures:visible, #consistency .finding:visible").count(),
    ).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(12_000);
    await page.context().close();
  });

  test.each([390, 1_400])("has names that touch no bar and end in no other row at %d px", async (width) => {
    const page = await open(width);
    const rows = await page.locator("#consistency .bar-row").evaluateAll((all) =>
      all.map((row) => {
        const box = (of: string) => row.querySelector(of)?.getBoundingClientRect();
        const [name, bar] = [box(".bar-name"), box(".bar")];
        const middle = (of?: DOMRect) => ((of?.top ?? 0) + (of?.bottom ?? 0)) / 2;
        const isLevel = Math.abs(middle(name) - middle(bar)) < 6;
        return { gap: (bar?.left ?? 0) - (name?.right ?? 1e9), isLevel, edge: name?.right ?? 1e9 };
      }),
    );
    expect(rows.length).toBeGreaterThanOrEqual(15);
    for (const { gap, isLevel, edge } of rows) {
      if (isLevel) expect(gap).toBeGreaterThan(2);
      else expect(edge).toBeLessThanOrEqual(width);
    }
    expect(rows.some(({ isLevel }) => isLevel)).toBe(true);
    const reason = page.locator("#consistency .bar-reason").first();
    const height = (await reason.boundingBox())?.height ?? 0;
    expect(height > 10, "a phone has the reason below the bars").toBe(width === 390);
    const label = await page.locator("#consistency .bar-value").last().textContent();
    expect(label?.includes("below full size")).toBe(width === 1_400);
    await page.context().close();
  });

  test("breaks no word of a name at a glance", async () => {
    const page = await lab.page(made, "", wide);
    const lines = await page.locator(".glance tbody .product-name").evaluateAll(
      (all, scale) =>
        all.map((one) => {
          const text = one.firstChild as Text;
          const range = document.createRange();
          range.setStart(text, text.data.indexOf(scale));
          range.setEnd(text, text.data.indexOf(scale) + scale.length);
          return range.getClientRects().length;
        }),
      SCALE,
    );
    expect(lines).toEqual([1, 1, 1, 1, 1]);
    await page.context().close();
  });

  test("speaks of no shades where no cell has one, and cuts no conditions", async () => {
    const page = await lab.page(made, "", wide);
    expect(await page.locator(".glance [data-rank]").count()).toBe(0);
    expect(await page.locator("#glance").innerText()).not.toContain("darker");
    const conditions = await page
      .locator(".chart-conditions")
      .evaluateAll((all) =>
        all.map((one) => ({ text: one.textContent ?? "", hidden: one.scrollWidth - one.clientWidth })),
      );
    expect(conditions.length).toBeGreaterThan(3);
    for (const { text, hidden } of conditions) {
      expect(text).not.toContain("…");
      expect(hidden).toBe(0);
    }
    await page.context().close();
  });

  test("leaves out of its charts what all names have in common, and says so", async () => {
    const page = await lab.page(made, "", wide);
    const names = await page.locator("#consistency .bar-name").allTextContents();
    expect(new Set(names)).toEqual(
      new Set(["01 480 GB", "02 240 GB", "03 480 GB", "04 240 GB", "05 480 GB"]),
    );
    expect(await page.locator("#consistency .chart-conditions").first().innerText()).toContain(
      `names without “Fixture Library” and “${SCALE}”`,
    );
    await page.context().close();
  });

  test("draws a drive in one colour in all charts, with one key for each", async () => {
    const page = await lab.page(made, "", wide);
    const slots = (places: string) =>
      page
        .locator(places)
        .evaluateAll((all) =>
          Object.fromEntries(
            all.map((one) => [(one as HTMLElement).dataset.product, (one as HTMLElement).dataset.slot]),
          ),
        );
    const inBars = await slots("#consistency .bar-row[data-product]");
    expect(new Set(Object.values(inBars)).size).toBe(5);
    for (const chart of ["#test-qd-sweep [data-plot]", "#test-mixed [data-plot]"]) {
      expect(await slots(`${chart} .many-line`), chart).toEqual(inBars);
      const keys = page.locator(chart).first().locator(".passes-legend li[data-product]");
      expect(await keys.count()).toBe(5);
    }
    const inkOf = (shape: string, property: "fill" | "stroke") =>
      page
        .locator(`#test-qd-sweep [data-plot] .many-line[data-slot="2"] ${shape}`)
        .first()
        .evaluate((one, name) => getComputedStyle(one)[name], property);
    expect(await inkOf("circle", "fill")).toBe(await inkOf(".passes-line", "stroke"));
    await page.context().close();
  });

  test("is at most 9,000 px tall for one of them, with short chapters side by side and its facts in a fold", async () => {
    const [{ target }] = made.runs;
    const one = { ...made, runs: made.runs.filter((run) => run.target.name === target.name) };
    const page = await lab.page(one, "", wide);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(9_000);
    const [left, right] = await page
      .locator("main > .half")
      .evaluateAll((all) => all.map((section) => section.getBoundingClientRect()));
    expect([left.top, left.right < right.left]).toEqual([right.top, true]);
    expect(await page.locator("#facts table").isVisible()).toBe(false);
    await page.context().close();
  });

  test("takes no more room at a glance than its few figures need", async () => {
    const few = { ...made, runs: made.runs.filter(({ test }) => test === "consistency") };
    for (const [report, isWide] of [
      [few, false],
      [made, true],
    ] as const) {
      const page = await lab.page(report, "", wide);
      const table = await page.locator("table.glance").boundingBox();
      expect((table?.width ?? 0) > 1_000).toBe(isWide);
      await page.context().close();
    }
  });

  test.each([390, 1_400])(
    "has nothing that axe finds, and no sideways scrolling, at %d px",
    async (width) => {
      const page = await open(width);
      await fold(page.locator("#pair summary").first());
      await openDetails(page);
      const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
      expect(await page.evaluate(overflow)).toBe(0);
      expect(await violations(page)).toEqual([]);
      await page.context().close();
    },
  );
});
