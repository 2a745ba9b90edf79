// Texts of strangers in a real browser: nothing runs, nothing is asked for, nothing leaves the screen.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { benchFiles, benchLibrary, smallBenchFiles } from "../../fixtures/bench";
import { hostileRuns, MIXTURES, mixed, TEXTS } from "../../fixtures/hostile";
import { reportOf } from "../../fixtures/report";
import { nameText, visible } from "../../src/data/format";
import type { Report } from "../../src/data/schema.gen";
import { Host } from "./host";
import { lab } from "./lab";
import { openAll, settled } from "./page";

/** Nothing of the text became an element, ran, or turned into an address; nothing is wider than the window. */
async function harmless(page: Page, what: string): Promise<void> {
  const found = await page.evaluate(() => {
    const here = [...document.querySelectorAll("#app *")];
    const isForeign = (one: Element) =>
      /^(script|img|iframe|object|embed|style|link|meta|base|form|title)$/i.test(one.tagName) &&
      !one.matches("form.controls, form.bench-form, svg title");
    const addresses = here.map((one) => one.getAttribute("href") ?? one.getAttribute("src") ?? "");
    return {
      hit: (window as unknown as { hit?: number }).hit ?? null,
      foreign: here.filter(isForeign).map((one) => one.outerHTML.slice(0, 200)),
      handlers: here.filter((one) => one.getAttributeNames().some((name) => name.startsWith("on"))).length,
      addresses: addresses.filter((one) => !/^(#|https?:|data:image\/png|$)/.test(one)),
      hidden: getComputedStyle(document.body).display === "none",
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      turning: /[\u202a-\u202e\u2066-\u2069\u2028\u2029]|\p{Cc}(?<![\t\n\r])/u.test(document.body.innerText),
    };
  });
  const nothing = {
    hit: null,
    foreign: [],
    handlers: 0,
    addresses: [],
    hidden: false,
    overflow: 0,
    turning: false,
  };
  expect(found, what).toEqual(nothing);
}

function hostileReport(text: string): Report {
  const report = reportOf(hostileRuns(text), text);
  const [first, second] = report.runs;
  return {
    ...report,
    tool_version: text,
    left_out: [text, `${first.target.spec}: power: ${text}`],
    differences: [{ run_ids: [first.run_id, second.run_id], is_noticed: true, text }],
    words: [
      {
        chapter: "verdict",
        content: [
          { kind: "paragraph", content: [{ kind: "text", text }] },
          { kind: "link", link: text, content: [{ kind: "text", text }] },
          { kind: "code-block", text },
        ],
      },
    ],
  };
}

test("every text is in a mixture, whose names nobody cuts unless it is of one text", () => {
  expect(MIXTURES.flat().sort()).toEqual(Object.keys(TEXTS).sort());
  for (const kinds of MIXTURES.filter(({ length }) => length > 1)) {
    const text = mixed(kinds);
    expect(nameText(text), kinds.join()).toBe(visible(text));
  }
});

describe.each(MIXTURES.map((kinds) => [kinds.join(", "), mixed(kinds)]))(
  "texts of the kinds %s",
  (kind, text) => {
    test("are text on a page, in every fold and every choice, wide and narrow", async () => {
      const page = await lab.page(hostileReport(text));
      await harmless(page, kind);
      await openAll(page);
      await harmless(page, `${kind}, open`);
      await page.locator("#pair-every").check();
      await page.locator('input[name="view"][value="compare"]').check();
      const pickers = await page.locator(".figure-picker select").all();
      for (const picker of pickers.slice(0, 3)) await picker.selectOption({ index: 1 });
      await settled(page);
      await harmless(page, `${kind}, compared`);
      await page.setViewportSize({ width: 390, height: 900 });
      await settled(page);
      await harmless(page, `${kind}, narrow`);
      await page.context().close();
    });

    test.each(["Bench", "small site"])("are text in a %s, in the list and opened", async (form) => {
      const runs = hostileRuns(text);
      const library = benchLibrary(runs, [{ name: text, reason: text }]);
      const live = { ...library, title: text, tool_version: text, is_live: true };
      const host = await Host.open(form === "Bench" ? benchFiles(runs, live) : smallBenchFiles(runs));
      const page = await lab.at(host.url);
      await openAll(page);
      await harmless(page, `${kind}, list`);
      await page.setViewportSize({ width: 390, height: 900 });
      await page.locator(".bench-list tbody tr [data-pick]").first().check();
      await settled(page);
      await harmless(page, `${kind}, narrow list`);
      await page.getByRole("link", { name: "Compare 1 chosen" }).click();
      await page.waitForSelector("#glossary, main section");
      await settled(page);
      await harmless(page, `${kind}, opened`);
      await page.context().close();
      await host.close();
    });
  },
);

test("a name of 100,000 letters is cut, and its title has all of them", async () => {
  const page = await lab.page(hostileReport(TEXTS.long));
  const name = page.locator(".glance tbody .product-button").first();
  expect(((await name.locator(".product-name").textContent()) ?? "").length).toBeLessThanOrEqual(110);
  expect(((await name.getAttribute("title")) ?? "").length).toBeGreaterThan(100_000);
  expect(await page.title()).toHaveLength(200);
  expect(await page.locator("h1").getAttribute("title")).toHaveLength(100_000);
  await page.context().close();
});

test("a run in progress shows names and phases of strangers as text", async () => {
  for (const kind of ["attribute", "turned", "long"]) {
    const text = TEXTS[kind];
    const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    const phase = { name: text, what: text, duration_ns: 4e9, complete: false };
    const now = { test: text, drive: text, kind: text, variant: text, status: text, phases: [phase] };
    const second = { phase: text, second: 0, iops: 1_000, latency_ns_p99: 2e6 };
    const stream = [event("state", now), event("seconds", [second]), event("end", { error: text })].join("");
    const host = await Host.open(new Map(), new Map([["/live/some-run", stream]]));
    const page = await lab.at(`${host.url}#live=some-run`, { viewport: { width: 390, height: 900 } });
    const summary = page.locator("#graph-live-summary");
    await expect.poll(() => summary.innerText()).toContain("second 0: 1,000 IOPS");
    await harmless(page, kind);
    await page.context().close();
    await host.close();
  }
});

test("no cell of a downloaded table is a formula", async () => {
  const page = await lab.page(hostileReport(TEXTS.formula));
  await openAll(page);
  // A browser permits few downloads without a press: the content is taken before it is saved.
  const tables = await page.evaluate(async () => {
    const saved: Blob[] = [];
    const names: string[] = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob: Blob) => {
      saved.push(blob);
      return make.call(URL, new Blob([]));
    };
    HTMLAnchorElement.prototype.click = function () {
      names.push(this.download);
    };
    for (const button of document.querySelectorAll<HTMLElement>("#app .tool-button")) {
      if (button.textContent?.startsWith("CSV")) button.click();
    }
    return { names, texts: await Promise.all(saved.map((blob) => blob.text())) };
  });
  expect(tables.texts.length).toBeGreaterThan(10);
  for (const name of tables.names) expect(name).toMatch(/^[a-z0-9-]+\.csv$/);
  expect(tables.texts.filter((text) => text.includes("'=cmd")).length).toBeGreaterThan(5);
  for (const text of tables.texts) expect(text).not.toMatch(/(^|[,;"\n\t])[=@+]/);
  await page.context().close();
});

test("pictures of hostile charts are sound SVG and nothing but shapes", async () => {
  for (const kinds of [["script", "control", "emoji"], ["stacked"]]) {
    const page = await lab.page(hostileReport(mixed(kinds)));
    const chart = page.locator("#chart-consistency-iops-steady-mean .tool-button", { hasText: "SVG" });
    const [download] = await Promise.all([page.waitForEvent("download"), chart.click()]);
    const text = await readFile(await download.path(), "utf8");
    const wrong = await page.evaluate((svg) => {
      const read = new DOMParser().parseFromString(svg, "image/svg+xml");
      return read.querySelectorAll("parsererror, script, foreignObject, [onload], [onerror]").length;
    }, text);
    expect(wrong, kinds.join()).toBe(0);
    await page.context().close();
  }
});
