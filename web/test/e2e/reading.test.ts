// Orientation on the page: links, sections, names for screen readers, and the keyboard.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  depthRuns,
  fixtureReport,
  powerRuns,
  ptsRun,
  reportOf,
  trimRun,
  unknownTest,
} from "../../fixtures/report";
import type { Report, RunView } from "../../src/data/schema.gen";
import { lab } from "./lab";
import { firstDrive, follow, openDetails } from "./page";

/** A page with all details open, of the first drive unless its address says more. */
async function opened(made: Report, hash = firstDrive(made), options = {}): Promise<Page> {
  const page = await lab.page(made, hash, options);
  await openDetails(page);
  return page;
}

/** A sentence for each figure of the run. */
function withFindings(run: RunView): RunView {
  const findings = Object.keys(run.metrics).map((metric) => ({ metric, text: `This rests on ${metric}.` }));
  return { ...run, findings };
}

const others = [ptsRun(), trimRun(), unknownTest()].flatMap(({ runs }) => runs).map(withFindings);
const everything: Report = reportOf([...fixtureReport().runs.map(withFindings), ...others]);

describe("links", () => {
  test("every finding leads to the row of its figure, folded away or not", async () => {
    const page = await opened(everything, undefined, { reducedMotion: "reduce" });
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
    const page = await opened(fixtureReport());
    for (const [column, label] of [
      ["waf", "Write amplification"],
      ["freeSuperblocks", "Free superblocks"],
      ["bufferMb", "Write buffer"],
      ["gcMoved", "Cleaning"],
      ["controllerBusy", "Controller busy"],
      ["channelBusy", "Channels busy"],
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
    const page = await opened(fixtureReport());
    await page.locator("#graph-whole").focus();
    await page.keyboard.press("End");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 1,999, .* IOPS, [\d,]+, /);
    await page.keyboard.press("ArrowRight");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 1,999, /);
    await page.keyboard.press("Home");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 0, .* IOPS, [\d,]+, /);
    await follow(page, "#drive=fixture-even-480&spare=default&x=100.4-199.6");
    expect(await page.locator("#graph-whole").getAttribute("data-x-max")).toBe("199.6");
    await page.locator("#graph-whole").focus();
    await page.keyboard.press("End");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 199, /);
    await page.keyboard.press("Home");
    expect(await spoken(page, "graph-whole")).toMatch(/^Second 101, /);
    await page.context().close();
  });

  test("the distribution is walked from its middle, bin by bin", async () => {
    const page = await opened(fixtureReport());
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

describe("sections", () => {
  test.each([390, 800, 1_400])("can be reached at %d px, with consistency runs or without", async (width) => {
    for (const made of [everything, reportOf(others)]) {
      const page = await opened(made, undefined, {
        viewport: { width, height: 900 },
        reducedMotion: "reduce",
      });
      const nav = page.getByRole("navigation", { name: "Sections of this page" });
      const handle = nav.locator("summary");
      expect(await handle.isVisible()).toBe(width < 976);
      if (await handle.isVisible()) {
        expect(await nav.locator(".page-link").first().isVisible()).toBe(false);
        await handle.click();
      }
      const headings = await page
        .locator("main > section")
        .evaluateAll((all) =>
          all.map((one) => (one as HTMLElement).dataset.name ?? one.querySelector("h2")?.innerText),
        );
      expect(await nav.locator(".page-link").allInnerTexts()).toEqual(headings);
      const last = headings.at(-1) ?? "";
      await nav.getByRole("button", { name: last, exact: true }).click();
      const reached = await page.evaluate(() => {
        const section = document.activeElement as HTMLElement;
        const name = section.dataset.name ?? section.querySelector("h2")?.textContent;
        return [name, section.getBoundingClientRect().top < innerHeight];
      });
      expect(reached).toEqual([last, true]);
      await page.context().close();
    }
  });

  test("a single one needs no links", async () => {
    const [run] = ptsRun().runs;
    const unknown = { ...run, target: { ...run.target, facts: {} } };
    const page = await opened(reportOf([unknown]));
    expect(await page.locator("nav").count()).toBe(0);
    await page.context().close();
  });
});

describe("names", () => {
  test("every figure, table and disclosure has a name of its own with the drive in it", async () => {
    const twice = [...depthRuns().runs, ...powerRuns().runs, ...others];
    const page = await opened(reportOf([...fixtureReport().runs.slice(0, 2), ...twice]));
    const tree = await page.locator("body").ariaSnapshot();
    expect(tree).toContain("- figure");
    expect(tree).not.toMatch(/^\s*- '?(figure|table|region)'?:?$/m);
    const figures = await page.locator("figure").count();
    const heard = await page.locator("figure").evaluateAll((all) =>
      all.map((figure) => {
        const ids = figure.getAttribute("aria-labelledby")?.split(" ") ?? [];
        const texts = ids.map((id) => document.getElementById(id)?.textContent);
        return figure.getAttribute("aria-label") ?? texts.join(", ");
      }),
    );
    expect(new Set(heard).size).toBe(figures);
    expect(heard).toContain("Power beside IOPS: Fixture A (simulated), as sold");
    expect(heard).toContain("Speed over the address space: Fixture Even 480 (simulated), as sold");
    expect(heard).toContain("Whole run, IOPS, log scale");
    const captions = await page.locator(".result-table caption").allTextContents();
    expect(new Set(captions).size).toBe(captions.length);
    expect(captions).toContain("Queue depth · Fixture Uneven 256 simulated as sold");
    const methods = await page.locator(".method summary").allTextContents();
    expect(methods).toContain("How it was measured, Power: Fixture A simulated as sold ");
    expect(methods).toContain(
      "How it was measured, Performance consistency: Fixture Even 480 simulated as sold ",
    );
    const folded = await page.locator(".all-figures summary").allTextContents();
    expect(folded).toContain("All figures: Queue depth");
    await page.context().close();
  });

  test("a tile, a column of a comparison and a row of the table say what must be known", async () => {
    const text = "mixes two regimes: 90,000 IOPS until 20 s, 30,000 IOPS from then on";
    const marks: RunView["marks"] = [
      { metric: "iops_steady_mean", kind: "two-regimes", text, levels: [90_000, 30_000] },
      { metric: "latency_steady_ns_p999", kind: "few-samples", text: "too few commands (440)" },
    ];
    const [first, second] = fixtureReport().runs;
    const metrics = { ...first.metrics, latency_steady_ns_p999: null };
    const page = await opened(reportOf([{ ...first, marks, metrics }, second]));
    const said = await page.locator(".tile .mark").allInnerTexts();
    expect(said).toEqual([text, "too few commands (440)"]);
    const cell = page.locator('[data-figure="iops_steady_mean"] .mark-sign').first();
    expect(await cell.getAttribute("title")).toBe(text);
    await follow(page, `#compare=${[first.run_id, second.run_id]}`);
    expect(await page.locator(".legend .mark-sign").count()).toBe(2);
    await page.context().close();
  });

  test("a drive below full size has its reservation in tiles, table and sentences", async () => {
    const text = "at scale 1/32: not that of the whole drive";
    const lost = ["iops_steady_min", "iops_steady_cv", "latency_steady_ns_p999", "latency_ns_max"];
    const marks = lost.map((metric) => ({ metric, kind: "scale" as const, text }));
    const [first, second] = fixtureReport().runs;
    const target = { ...first.target, details: { ...first.target.details, scale: "1/32" } };
    const page = await opened(reportOf([{ ...first, target, marks }, second]));
    expect(await page.locator(".tile .mark").allInnerTexts()).toEqual(lost.map(() => text));
    for (const metric of lost) {
      const cells = page.locator(`[data-figure="${metric}"] td`);
      expect(await cells.first().locator(".mark-sign").getAttribute("title")).toBe(text);
      expect(await cells.nth(1).locator(".mark-sign").count()).toBe(0);
      expect(await cells.first().getAttribute("class")).not.toBe("best");
    }
    expect(await page.locator('[data-figure="iops_steady_mean"] .mark-sign').count()).toBe(0);
    expect(await page.locator(".method").first().textContent()).toContain("Scale, share of full size1/32");
    await page.context().close();
  });

  test("figures say what part of the run they are of", async () => {
    const compared = fixtureReport().runs.slice(0, 2);
    const page = await opened(fixtureReport());
    const labels = ["Steady p99.9 latency", "Longest command, whole run"];
    const tiles = await page.locator(".tile dt").allInnerTexts();
    expect(tiles).toEqual(expect.arrayContaining(labels));
    await follow(page, `#compare=${compared.map((run) => run.run_id)}`);
    const heads = await page.locator(".legend thead th").allInnerTexts();
    expect(heads).toEqual(expect.arrayContaining(labels));
    await page.context().close();
  });
});
