// What comes from others: results of other programs, and the editor's words.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { importedRun } from "../../fixtures/imported";
import { library } from "../../fixtures/library";
import type { WordsNode } from "../../src/data/schema.gen";
import { lab } from "./lab";

const made = library(4, 300);
const text = (words: string): WordsNode => ({ kind: "text", text: words });
const figure: WordsNode = {
  kind: "figure",
  figure: { run_id: made.runs[0].run_id, metric: "iops_steady_mean" },
};
const depths = {
  name: "depths_random_64KiB_jobs1",
  title: "Queue depth, random 64KiB",
  row_name: "queue depth",
  columns: [{ name: "read", unit: "IOPS" }],
  rows: ["1", "2", "4"].map((label) => ({ label, values: [1000 * Number(label)] })),
};
const report = {
  ...made,
  runs: [...made.runs, importedRun(made.runs[0], { metrics: { iops_steady_mean: 1e7 }, tables: [depths] })],
  words: [
    { chapter: "verdict", content: [{ kind: "paragraph", content: [text("It keeps "), figure, text(".")] }] },
    {
      chapter: "corners",
      content: [
        { kind: "paragraph", content: [text("<img src=x onerror=alert(1)>")] },
        {
          kind: "paragraph",
          content: [{ kind: "link", link: "javascript:alert(1)", content: [text("no link")] }],
        },
      ],
    },
  ],
};

let page: Page;

beforeAll(async () => {
  page = await lab.page(report);
  await page.waitForSelector("#test-imported");
});

describe("a result of another program", () => {
  test("has its badge, no rank, and the reason for that", async () => {
    const bars = page.locator("#chart-consistency-iops-steady-mean");
    const words = await bars.innerText();
    expect(words).toContain("Somebody's Fixture");
    expect(words).toContain("Imported from fio-3.42, unknown: purge, fill");
    expect(await page.locator(".sources").innerText()).toContain("measured by another program");
    expect(await page.locator("#drives .badge", { hasText: "imported" }).count()).toBeGreaterThan(0);
  });

  test("has a section with its tables and curves", async () => {
    const section = page.locator("#test-imported");
    expect(await section.locator(".curves").count()).toBe(1);
    expect(await section.innerText()).toContain("What did other programs measure?");
  });
});

describe("the editor's words", () => {
  test("stand in their chapters, with figures of the page", async () => {
    const words = page.locator('[data-chapter="verdict"]');
    expect(await words.innerText()).toMatch(/It keeps [\d\u202f,.]+/);
    await words.getByRole("button").click();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("chart-consistency-iops-steady-mean");
  });

  test("are text, whatever they hold", async () => {
    const words = page.locator('#test-corners [data-chapter="corners"]');
    expect(await words.innerText()).toContain("<img src=x onerror=alert(1)>");
    expect(await words.locator("img, a, script").count()).toBe(0);
  });
});
