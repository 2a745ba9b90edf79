// The questions of a newcomer, each answered from the page alone: the table in docs/reference/page.md.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { lab } from "./lab";
import { fold, follow, openDetails } from "./page";

let page: Page;
const made = library(6);

beforeAll(async () => {
  page = await lab.page(made);
  await openDetails(page);
});

const plain = (text: string | null) => (text ?? "").replaceAll("\u202f", " ");

/** The drive with the best value of a figure, by the data and not by the page. */
function best(test: string, metric: string, better: "higher" | "lower"): string {
  const runs = made.runs.filter((run) => run.test === test && run.span.variant === "default");
  const value = (run: (typeof runs)[number]) => run.metrics[metric] ?? Number.NaN;
  const sorted = [...runs].sort((a, b) => (better === "higher" ? value(b) - value(a) : value(a) - value(b)));
  return sorted[0].target.name;
}

async function firstByHead(key: string): Promise<string> {
  await page.locator(`[data-sort="${key}"]`).click();
  const name = await page.locator(".glance tbody .product-name").first().innerText();
  await follow(page, "#sort=");
  return name;
}

const ANSWERS: Record<string, () => Promise<void>> = {
  "Which drive keeps the highest pace?": async () => {
    const wanted = best("consistency", "iops_steady_mean", "higher");
    expect(await firstByHead("consistency.iops_steady_mean")).toBe(wanted);
  },
  "Which drive is most even?": async () => {
    expect(await firstByHead("consistency.iops_steady_jitter_share")).toBe(
      best("consistency", "iops_steady_jitter_share", "lower"),
    );
  },
  "How much does spare area help this drive?": async () => {
    expect(await page.locator("#verdict").innerText()).toContain(
      "With 25% spare area it does 2.7 times the pace",
    );
  },
  "What happens at second 300?": async () => {
    const events = plain(await page.locator(".events").innerText());
    expect(events).toMatch(/90 s The fall\..*\n240 s Steady state\./);
  },
  "Why does the pace fall?": async () => {
    expect(await page.locator('.events [data-event="fall"]').innerText()).toContain("erased superblocks");
    expect(await page.locator("#graph-why-freeSuperblocks").isVisible()).toBe(true);
  },
  "Which drive is best for heavy work?": async () => {
    const wanted = best("heavy", "avg_data_rate_mb_per_s", "higher");
    expect(await firstByHead("heavy.avg_data_rate_mb_per_s")).toBe(wanted);
    expect(await page.locator("#test-heavy .bar-row title").first().textContent()).toContain(wanted);
  },
  "Which drive is best for heavy work when it is full?": async () => {
    const wanted = best("heavy-full", "avg_data_rate_mb_per_s", "higher");
    expect(await firstByHead("heavy-full.avg_data_rate_mb_per_s")).toBe(wanted);
  },
  "Does it keep its rate when it is warm?": async () => {
    const text = (await page.locator("#test-thermal").innerText()).toLowerCase();
    expect(text).toContain("rate kept at the end");
    expect(text).toContain("highest temperature");
  },
  "What does a pause give back, and how long does it take to wake up?": async () => {
    const text = (await page.locator("#test-idle").innerText()).toLowerCase();
    expect(text).toContain("regained after a pause");
    expect(text).toContain("time to wake up");
  },
  "Does TRIM work?": async () => {
    expect(await page.locator("#verdict").innerText()).toMatch(
      /TRIM (works|does not work)|Whether TRIM works/,
    );
  },
  "Would I notice?": async () => {
    await fold(page.locator("#pair summary"));
    expect(await page.locator(".felt h3").innerText()).toBe("Would I notice at work?");
    const felt = plain(await page.locator(".felt li").first().innerText());
    expect(felt).toMatch(/saves .* of waiting/);
    expect(felt).toMatch(/and \d+ and \d+ take 0.1 s or longer, which a person sees/);
  },
  "How much time does this drive save me in a day?": async () => {
    const block = page.locator("#test-feel .savings");
    expect(plain(await block.locator("p").first().innerText())).toMatch(
      /^In a day of such work .* takes [\d. a-z]+ less than the slowest drives here and the same time as the fastest\.$/,
    );
    expect(await block.locator("tbody tr").count()).toBe(3);
  },
  "Which of these two is better, and by how much?": async () => {
    const row = page.locator('.pair tr[data-figure="iops_steady_mean"]');
    expect(await row.locator(".ahead").count()).toBe(1);
    expect(await row.locator("td").last().innerText()).toMatch(/more|higher/);
  },
  "What was simulated?": async () => {
    expect(await page.locator(".sources").innerText()).toContain("5 drives simulated from published facts.");
    expect(await page.locator(".glance .source-simulated").count()).toBe(5);
  },
  "Why has this drive no value here?": async () => {
    const lacking = {
      ...made,
      runs: made.runs.filter((run) => run.test !== "light" || run.target.kind !== "block"),
    };
    const other = await lab.page(lacking);
    expect(await other.locator("#test-light .bars").first().innerText()).toContain(
      "No run: Fixture Library 06 240 GB.",
    );
    expect(await other.locator(".glance .absent").first().textContent()).toBe("–: no run");
    await other.context().close();
  },
  "How was it measured, and how do I repeat it?": async () => {
    expect(await page.locator("#conditions pre").last().textContent()).toContain(
      "ssdlab run consistency sim:",
    );
  },
};

describe("a newcomer", () => {
  test.each(Object.entries(ANSWERS))("%s", async (_, answer) => answer());

  test("the list in the documentation is this one", async () => {
    const text = await readFile(new URL("../../../docs/reference/page.md", import.meta.url), "utf8");
    const rows = [...text.matchAll(/^\| ([A-Z][^|]*\?) \|/gm)].map(([, question]) => question);
    expect(rows).toEqual(Object.keys(ANSWERS));
  });
});
