// Every place of the page and of the Bench that names a figure, with a run that has each kind of mark.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { benchFiles, smallBenchFiles } from "../../fixtures/bench";
import { type Kind, markedRun, quickRun, stoppedRun, TEXTS } from "../../fixtures/marks";
import { reportOf, runOf, SHAPES } from "../../fixtures/report";
import { wordsOfMark } from "../../src/data/marks";
import type { RunView } from "../../src/data/schema.gen";
import { Host } from "./host";
import { lab } from "./lab";
import { fold, follow, openDetails, settled, violations } from "./page";

const NAME = "Fixture Marked";
const KEY = "fixture-marked";
const CHART = "#chart-consistency-iops-steady-mean";
const KINDS = Object.keys(TEXTS) as Kind[];

function drive(name: string, seed: number, steady = SHAPES[0].steady): RunView {
  return runOf({ ...SHAPES[0], name, steady, length: 300, fallAt: 60, settleAt: 120 }, seed);
}

const others = [drive("Fixture B", 2), drive("Fixture C", 3, 12_000)];

const plain = async (page: Page, selector: string) =>
  (await page.locator(selector).first().innerText()).replaceAll("\u202f", " ");

describe.each(KINDS)("a fast drive whose figures are %s", (kind) => {
  const { label, reason, force } = wordsOfMark(kind);
  const disqualifies = force === "disqualifies";
  const isRanked = force === "remark";
  const isKnown = kind !== "not-steady";
  const runs = [markedRun(drive(NAME, 1, 40_000), kind), ...others];

  test("is ranked nowhere on the page that the mark forbids, and stands with its mark in words", async () => {
    const page = await lab.page(reportOf(runs), `#drive=${KEY}&sort=consistency.iops_steady_mean`);
    await openDetails(page);
    // The verdict.
    const verdict = await plain(page, "#verdict");
    expect(verdict.includes(`${NAME} (simulated) keeps`)).toBe(!disqualifies);
    if (!isKnown) expect(verdict).toContain("steady state was not reached");
    // The table at a glance, sorted by the figure.
    const row = page.locator(`.glance tr[data-product="${KEY}"]`);
    const cell = row.locator("td").first();
    expect(await cell.innerText()).toContain(label);
    expect(await cell.locator("sup").count()).toBe(isRanked ? 1 : 0);
    expect(
      (await cell.getAttribute("title")) ?? (await cell.locator("button").getAttribute("title")),
    ).toContain(TEXTS[kind]);
    const first = page.locator(".glance tbody tr").first();
    expect(await first.getAttribute("data-product")).toBe(isRanked ? KEY : "fixture-c");
    // The ranked bars, their sentence, and their table.
    const bars = page.locator(CHART);
    const best = `best ${isRanked ? NAME : "Fixture C"} (simulated)`;
    expect(await bars.getAttribute("aria-label")).toContain(best);
    if (isKnown) {
      const bar = bars.locator(`.bar-row[data-product="${KEY}"]`);
      expect(await bar.locator(".bar-rank").textContent()).toBe(isRanked ? "1" : "");
      expect(await bar.locator(".bar-value").textContent()).toContain(label);
      expect(await bar.locator("title").textContent()).toContain(TEXTS[kind]);
    } else expect((await bars.innerText()).toLowerCase()).toContain(TEXTS[kind]);
    await bars.locator(".tool-button", { hasText: "Table" }).click();
    const line = bars.locator(".chart-table tbody tr", { hasText: NAME });
    expect(await line.locator("td, th").nth(1).innerText()).toBe(isRanked ? "1" : "");
    expect(await line.innerText()).toContain(TEXTS[kind]);
    // The tiles, all figures, and the two side by side.
    expect(await page.locator(".tile").first().innerText()).toContain(TEXTS[kind]);
    const cells = page.locator('#figures tr[data-figure="iops_steady_mean"] td');
    expect(await cells.first().locator(".mark-sign").getAttribute("title")).toBe(TEXTS[kind]);
    expect(await cells.first().innerText()).toContain(label);
    expect((await cells.first().getAttribute("class"))?.includes("best") ?? false).toBe(isRanked);
    await fold(page.locator("#pair summary").first());
    const pair = page.locator('.pair tr[data-figure="iops_steady_mean"]');
    expect(await pair.innerText()).toContain(`(${label})`);
    expect(await pair.locator(".ahead").count()).toBe(disqualifies ? 0 : 1);
    // The strip and the comparison.
    const isUnsteady = kind === "two-regimes" || (disqualifies && kind !== "scale");
    expect(await page.locator('.events [data-event="steady"]').count()).toBe(isUnsteady ? 0 : 1);
    const heading = await plain(page, "#graph-steady-log-title");
    expect(heading.startsWith("Steady state")).toBe(!disqualifies);
    await follow(page, `#compare=${runs.map(({ run_id }) => run_id)}`);
    expect(await page.locator(".legend .mark-sign").first().getAttribute("title")).toBe(TEXTS[kind]);
    await page.context().close();
  });

  test("is ranked in no list of a Bench or of a small site that the mark forbids", async () => {
    for (const files of [benchFiles(runs), smallBenchFiles(runs)]) {
      const host = await Host.open(files);
      const page = await lab.at(host.url);
      const row = page.locator(`.bench-list tr[data-key="${KEY}"]`);
      expect(await row.locator(".bench-rank").innerText()).toBe(isRanked ? "1" : "");
      const shown = row.locator(".bench-bar");
      expect(await shown.innerText()).toContain(isRanked ? label : reason);
      expect(await page.locator(".bench-rank").first().innerText()).toBe("1");
      await row.locator("[data-pick]").check();
      await page.getByRole("link", { name: "Compare 1 chosen" }).click();
      await page.waitForSelector(".glance");
      await settled(page);
      expect((await page.locator("#verdict").innerText()).includes("keeps")).toBe(!disqualifies);
      await page.context().close();
      await host.close();
    }
  });
});

describe("quick runs", () => {
  const quick = [quickRun("Fixture Quick A", 78_000, 5), quickRun("Fixture Quick B", 60_000, 6)];

  test("alone say so in the first line, and judge nothing", async () => {
    const page = await lab.page(reportOf(quick));
    const order = await page
      .locator(".masthead > *")
      .evaluateAll((all) => all.map((one) => one.id || one.tagName));
    expect(order.indexOf("whole-note")).toBe(order.indexOf("H1") + 1);
    const note = await plain(page, "#whole-note");
    expect(note).toContain("These are quick runs");
    expect(note).toContain("fresh drive");
    expect(note).toContain("first 4GiB");
    expect(note).toContain("Steady state was not reached");
    const verdict = await plain(page, "#verdict");
    expect(verdict).toMatch(
      /In a quick run Fixture Quick A wrote for 60 s on a fresh drive, in the last part at [\d,]+ IOPS; steady/,
    );
    expect(verdict).not.toMatch(/keeps|vary by|no command waits/);
    expect(await page.locator(".controls").innerText()).toContain("Part of the drive");
    expect(await page.locator(".controls").innerText()).not.toContain("Spare area");
    const cell = page.locator(".glance tbody td").first();
    expect(await cell.innerText()).toContain("not steady");
    expect(await cell.getAttribute("title")).toBe(TEXTS["not-steady"]);
    await openDetails(page);
    expect(await page.locator("#graph-steady-log-title").innerText()).toContain("no steady state");
    await page.context().close();
  });

  test("beside whole ones are named as left out, with interrupted ones, and have no rank", async () => {
    const page = await lab.page(reportOf([...others, ...quick, stoppedRun("Fixture Stopped", 7)]));
    const note = await plain(page, "#whole-note");
    expect(note).toContain("2 quick runs of Fixture Quick A, Fixture Quick B");
    expect(note).toContain("1 interrupted run of Fixture Stopped");
    expect(note).toContain("Only whole runs are ranked.");
    const ranked = await page
      .locator(".glance tr[data-product]")
      .evaluateAll((rows) =>
        rows.filter((row) => row.querySelector("sup")).map((row) => (row as HTMLElement).dataset.product),
      );
    expect(ranked).toEqual(["fixture-b", "fixture-c"]);
    await follow(page, "#drive=fixture-stopped");
    expect(await plain(page, "#verdict")).toContain(
      "Fixture Stopped: its run was interrupted after 12 s of random writes, and nothing is judged by it.",
    );
    await page.context().close();
  });

  test("leave nothing for axe to find, in both themes and on a phone", async () => {
    const marked = KINDS.map((kind, at) => markedRun(drive(`Fixture ${kind}`, at, 9_000 + at), kind));
    const report = reportOf([...others, ...marked, ...quick, stoppedRun("Fixture Stopped", 7)]);
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 390],
    ] as const) {
      const page = await lab.page(report, "", {
        colorScheme,
        viewport: { width, height: 900 },
        bypassCSP: true,
      });
      expect(await violations(page)).toEqual([]);
      const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
      expect(await page.evaluate(overflow)).toBe(0);
      await page.context().close();
    }
  });

  test("are told apart in the lists of a Bench, which says what it does not rank", async () => {
    const host = await Host.open(benchFiles([...others, ...quick, stoppedRun("Fixture Stopped", 7)]));
    const page = await lab.at(host.url);
    expect(await plain(page, "#whole-note")).toContain("2 quick runs");
    expect(await page.locator(".bench-rank").allInnerTexts()).toEqual(["1", "2", "", "", ""]);
    for (const [key, word] of [
      ["fixture-quick-a", "quick"],
      ["fixture-stopped", "interrupted"],
    ]) {
      const row = page.locator(`.bench-list tr[data-key="${key}"]`);
      await fold(row.locator("summary"));
      expect(await row.locator(".bench-runs").innerText()).toContain(`· ${word}`);
    }
    await page.context().close();
    await host.close();
  });
});
