// The Bench over a made-up library, from a web host with the headers of the server.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { benchFiles, benchLibrary, smallBenchFiles } from "../../fixtures/bench";
import { importedRun } from "../../fixtures/imported";
import { libraryRuns } from "../../fixtures/library";
import type { RunView } from "../../src/data/schema.gen";
import { benchPage, Host } from "./host";
import { lab } from "./lab";
import { axes, cssColor, fold, openDetails, pixelsNear, settled, shares, violations } from "./page";

const DRIVES = 12;
const views = libraryRuns(DRIVES, 120);

let host: Host;

beforeAll(async () => {
  host = await Host.open(benchFiles(views));
});

afterAll(async () => {
  await host.close();
});

const rows = (page: Page) => page.locator(".bench-list tbody tr");
const hash = (page: Page) => page.evaluate(() => location.hash);

async function keys(page: Page): Promise<(string | undefined)[]> {
  return rows(page).evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.key));
}

/** The values of a figure, best first. */
function values(test: string, metric: string): number[] {
  const found = views.filter((view) => view.test === test && view.span.variant === "default");
  return found.map(({ metrics }) => metrics[metric] ?? 0).sort((a, b) => b - a);
}

/** Axe finds nothing, and the page is as wide as its window. */
async function isSound(page: Page, width: number): Promise<void> {
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
}

describe("the list", () => {
  test("every drive stands in the order of the figure, with its exact rank", async () => {
    const page = await lab.at(host.url);
    expect(await rows(page).count()).toBe(DRIVES);
    expect(await page.locator("[data-choice=by]").inputValue()).toBe("consistency:iops_steady_mean");
    await page.selectOption("[data-choice=by]", "corners:corners.random_read.iops");
    const shown = await page.locator(".bench-value").allInnerTexts();
    const numbers = shown.map((text) => Number(text.replaceAll(",", "")));
    const expected = values("corners", "corners.random_read.iops").map((value) => Math.round(value));
    expect(numbers).toEqual(expected);
    expect(await page.locator(".bench-rank").allInnerTexts()).toEqual(
      expected.map((_, at) => String(at + 1)),
    );
    expect(await hash(page)).toContain("by=corners");
    expect(host.asked.filter((path) => path.startsWith("/runs/"))).toEqual([]);
    await page.context().close();
  });

  test("fields and words leave the drives that fit, and the address repeats the choice", async () => {
    const page = await lab.at(host.url);
    await fold(page.locator(".bench-filters summary"));
    await page.selectOption("[data-choice=source]", "drive");
    expect(await rows(page).count()).toBe(1);
    await page.selectOption("[data-choice=source]", "");
    await page.selectOption("[data-choice=use]", "client");
    expect(await rows(page).count(), "the measured drive has no use").toBe(DRIVES - 1);
    expect(await hash(page)).toContain("use=client");
    await page.selectOption("[data-choice=use]", "");
    await page.fill("[data-choice=find]", "library 03");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.selectOption("[data-choice=test]", "trim");
    const address = host.url + (await hash(page));
    const again = await lab.at(address);
    expect(await keys(again)).toEqual(["fixture-library-03-480-gb"]);
    expect(await again.locator("[data-choice=find]").inputValue()).toBe("library 03");
    expect(await again.locator(".bench-filters summary").innerText()).toBe("Filters: test");
    await fold(again.locator(".bench-filters summary"));
    expect(await again.locator("[data-choice=test]").inputValue()).toBe("trim");
    await again.fill("[data-choice=find]", "no such drive");
    await expect.poll(() => again.locator(".notice").innerText()).toContain("No run fits");
    await Promise.all([page.context().close(), again.context().close()]);
  });

  test("the picture is named by its figure, and choices stand beside it, or in a fold on a phone", async () => {
    const page = await lab.at(host.url);
    expect(await page.locator("#bench-figure").innerText()).toBe("Steady pace");
    expect(await page.locator("#bench-figure + p").innerText()).toBe(
      `Performance consistency · more is better · ${DRIVES} drives`,
    );
    const box = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => one.getBoundingClientRect().toJSON() as DOMRect);
    const top = async (selector: string) => (await box(selector)).top;
    expect((await box(".bench-form")).left).toBeGreaterThan((await box(".bench-list")).right);
    expect(await top(".bench-fill"), "the picture begins the page").toBeLessThan(320);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => page.locator(".bench-form").isVisible()).toBe(false);
    expect(await top(".bench-fill")).toBeLessThan(500);
    const widths = await page
      .locator(".bench-fill")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
    expect(widths[0], "the bar of the best has most of a phone").toBeGreaterThan(180);
    await page.locator(".bench-controls > summary").click();
    await page.selectOption("[data-choice=by]", "corners:corners.random_read.iops");
    expect(await page.locator("#bench-figure").innerText()).toBe("Random reads");
    await page.context().close();
  });

  test("a dozen headlines with the names of their tests come first, and a field finds any other figure", async () => {
    const page = await lab.at(host.url);
    const entries = await page.locator("[data-choice=by] option").allInnerTexts();
    expect(entries[0]).toBe("Steady pace · Performance consistency");
    expect(entries.length).toBeGreaterThan(11);
    expect(entries.length).toBeLessThan(22);
    const field = page.locator("[data-choice=figure]");
    await field.focus();
    expect(await page.locator("#bench-figures option").count()).toBeGreaterThan(100);
    await page.keyboard.type("sweep 4kib iops");
    await page.keyboard.press("Enter");
    await expect.poll(() => hash(page)).toContain("by=sweep%3Asweep.read_4KiB.iops");
    expect(await page.locator("[data-choice=by] option").first().innerText()).toContain("4KiB");
    expect(await page.locator(".bench-rank").first().innerText()).toBe("1");
    await field.fill("no such figure");
    await page.keyboard.press("Enter");
    expect(await field.evaluate((one: HTMLInputElement) => one.validationMessage)).toContain("no figure");
    await page.context().close();
  });

  test("views with names are links that keep the basket", async () => {
    const linked = views.map((view, at) => ({
      ...view,
      target: {
        ...view.target,
        facts: {
          interface: { value: at < 38 ? "SATA 6 Gb/s" : "PCIe 4.0 x4, NVMe", from: "assumed: made up" },
        },
      },
    }));
    const site = await Host.open(benchFiles(linked));
    const page = await lab.at(`${site.url}#basket=fixture-library-05-480-gb`);
    await page.getByRole("link", { name: "Most even SATA" }).click();
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await page.locator("#bench-figure").innerText()).toBe("Jitter from second to second");
    expect(await hash(page)).toContain("link=SATA");
    expect(await hash(page)).toContain("basket=fixture-library-05-480-gb");
    expect(await page.locator(".bench-views [aria-current]").innerText()).toBe("Most even SATA");
    await page.goBack();
    await expect.poll(() => rows(page).count()).toBe(DRIVES);
    await page.context().close();
    await site.close();
  });

  test("a drive below full size stands in the fold of its drive, and is not ranked beside the others", async () => {
    const scaled = (view: RunView): RunView => ({
      ...view,
      run_id: `${view.run_id}-scaled`,
      metrics: { ...view.metrics, iops_steady_mean: 1e6 },
      target: {
        ...view.target,
        name: `${view.target.name} [scale=1/64]`,
        capacity_bytes: 4e9,
        details: { ...view.target.details, scale: "1/64" },
      },
    });
    const own = views.filter(({ target }) => target.name === views[0].target.name);
    const alone = views[19];
    const library = [
      ...views.filter(({ target }) => target.name !== alone.target.name),
      ...own.map(scaled),
      scaled(alone),
    ];
    const site = await Host.open(benchFiles(library));
    const page = await lab.at(site.url);
    expect(await rows(page).count()).toBe(DRIVES);
    const last = rows(page).last();
    expect(await last.locator(".bench-rank").innerText()).toBe("");
    expect(await last.locator(".bench-reason").innerText()).toBe(
      "not ranked: simulated at 1/64 of full size, and the others at full size",
    );
    const folded = page.locator('[data-key="fixture-library-01-480-gb"]');
    expect(await folded.locator("summary").innerText()).toContain(String(2 * own.length));
    await fold(folded.locator("summary"));
    expect(await folded.locator("li", { hasText: "at 1/64 of full size" }).count()).toBe(own.length);
    await folded.locator("td:first-child input").check();
    expect(await page.locator(".bench-basket").innerText(), "without those below full size").toContain(
      `${own.length} runs`,
    );
    const before = await lab.at(`${site.url}#basket=fixture-library-01-480-gb-scale-1-64`);
    expect(await before.locator(".bench-basket").innerText(), "an address of before").toContain(
      `${own.length} runs: Fixture Library 01 480 GB [scale=1/64]`,
    );
    await Promise.all([page.context().close(), before.context().close()]);
    await site.close();
  });

  test("axe finds nothing, in both themes and on a phone, and nothing scrolls sideways", async () => {
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 390],
    ] as const) {
      const page = await lab.at(host.url, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      const open = (selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((one) => one.setAttribute("open", ""));
      for (const one of [".bench-controls", ".bench-filters", ".bench-list details"]) await open(one);
      await page.locator("tbody [data-pick]").first().check();
      await isSound(page, width);
      await page.context().close();
    }
  });
});

describe("the basket", () => {
  test("many drives are chosen with one press, and two of them open side by side", async () => {
    const page = await lab.at(`${host.url}#by=corners:corners.random_read.iops`);
    const shown = await keys(page);
    const chosen = () =>
      page
        .locator("tbody [data-pick]:checked")
        .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.pick));
    await page.getByRole("button", { name: "Choose the first 5 shown" }).click();
    expect(await chosen()).toEqual(shown.slice(0, 5));
    await page.getByRole("button", { name: `Choose all ${DRIVES} shown` }).click();
    expect(await chosen()).toEqual(shown);
    await page.getByRole("button", { name: "Clear" }).click();
    expect(await chosen()).toEqual([]);
    expect(await hash(page)).not.toContain("basket");
    for (const key of shown.slice(0, 2)) await page.locator(`[data-pick="${key}"]`).check();
    await page.getByRole("link", { name: "Compare 2 chosen" }).click();
    await page.waitForSelector("#glossary");
    expect(await page.locator(".pair tbody tr").count()).toBeGreaterThan(5);
    expect(await page.locator("#pair .pair").first().isVisible(), "product against product is open").toBe(
      true,
    );
    expect(await page.locator('input[name="view"][value="compare"]').isChecked()).toBe(true);
    await page.context().close();
  });

  test("chosen drives open as the page of a report, and their runs alone are fetched", async () => {
    const page = await lab.at(`${host.url}#test=corners`);
    const chosen = (await keys(page)).slice(0, 2);
    for (const key of chosen) await page.locator(`[data-pick="${key}"]`).check();
    expect(await page.locator(".bench-basket").innerText()).toContain("2 runs");
    const before = host.asked.length;
    await page.getByRole("link", { name: "Compare 2 chosen" }).click();
    await page.waitForSelector(".glance");
    expect(await page.locator(".glance tbody tr").count()).toBe(2);
    const asked = host.asked.slice(before).filter((path) => path.startsWith("/runs/"));
    expect(asked).toHaveLength(2);
    expect(asked.every((path) => path.startsWith("/runs/corners-"))).toBe(true);
    await page.locator(".sort-button").first().click();
    expect(await hash(page)).toMatch(/basket=.*open.*sort=/);
    await page.reload();
    await page.waitForSelector(".glance");
    expect(await page.locator("[aria-sort]").count()).toBe(1);
    await page.locator(".bench-back").click();
    await page.waitForSelector(".bench-list");
    expect(await page.locator("input:checked").count()).toBe(2);
    await page.context().close();
  });

  test("the figures of the list show at once, and the runs follow without another load", async () => {
    const files = benchFiles(views);
    const slow = await Host.open(files, new Map(), (path) => path.startsWith("/runs/"));
    const page = await lab.at(slow.url);
    const chosen = (await keys(page)).slice(0, 10);
    for (const key of chosen) await page.locator(`[data-pick="${key}"]`).check();
    await page.evaluate(() => {
      (window as unknown as { same: boolean }).same = true;
    });
    await page.getByRole("link", { name: "Compare 10 chosen" }).click();
    await page.waitForSelector(".glance");
    expect(await page.locator(".glance tbody tr").count()).toBe(10);
    expect(await page.locator("#verdict").innerText()).toContain("TRIM works");
    await page.locator('[data-sort="consistency.iops_steady_mean"]').click();
    expect(await page.locator("canvas").count()).toBe(0);
    slow.release();
    await page.waitForSelector(".uplot canvas");
    expect(await page.locator("[aria-sort]").count(), "the choice of the meantime is kept").toBe(1);
    expect(await page.evaluate(() => (window as unknown as { same?: boolean }).same)).toBe(true);
    await page.context().close();
    await slow.close();
  });

  test("a small site draws means, says so, and tells nothing of single seconds", async () => {
    const some = views.slice(0, 30);
    const small = await Host.open(smallBenchFiles(some));
    const page = await lab.at(`${small.url}#basket=${some[0].run_id},${some[1].run_id}&open`);
    await page.waitForSelector(".uplot canvas");
    expect(await page.locator("#consistency .how-to").first().innerText()).toContain(
      "Small form: each point is the mean of 5 s.",
    );
    await openDetails(page);
    expect(await page.locator(".why").innerText()).toContain("the small form of the library leaves out");
    expect(await page.locator("#consistency").innerText()).not.toContain("no command completed");
    expect(await page.locator(".glance tbody tr").count()).toBe(1);
    await page.context().close();
    await small.close();
  });

  test("a result of another program has no rank in the list", async () => {
    const imported = views
      .slice(0, 30)
      .map((view, at) =>
        at === 0 ? importedRun(view, { run_id: "other", metrics: { iops_steady_mean: 1e9 } }) : view,
      );
    const mixed = await Host.open(benchFiles(imported));
    const page = await lab.at(`${mixed.url}#by=imported:iops_steady_mean`);
    expect(await page.locator(".bench-rank").first().innerText()).toBe("");
    expect(await page.locator(".bench-value").first().innerText()).toContain("†");
    expect(await page.locator(".bench-reason").innerText()).toContain("imported from fio-3.42");
    await page.context().close();
    await mixed.close();
  });

  test("a graph of a fetched run has its seconds", async () => {
    const { run_id } = views[0];
    const page = await lab.at(`${host.url}#basket=${run_id}&open`);
    await page.waitForSelector(".uplot canvas");
    expect(await page.locator("h1").innerText()).toContain("onsistency");
    await page.context().close();
  });
});

describe("strangers", () => {
  const HOSTILE = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script>&amp;</option>`;

  test("a hostile name, note or reason is text everywhere", async () => {
    const hostile = libraryRuns(2, 60).map((view, at) => ({
      ...view,
      run_id: `run-${at}`,
      test: at === 3 ? HOSTILE : view.test,
      status: at === 4 ? ("running" as const) : view.status,
      target: {
        ...view.target,
        name: HOSTILE,
        firmware: HOSTILE,
        facts: { family: { value: HOSTILE, from: HOSTILE }, controller: { value: HOSTILE, from: HOSTILE } },
      },
      span: { ...view.span, variant: HOSTILE },
      warnings: [HOSTILE],
      metrics: { ...view.metrics, [HOSTILE]: 1 },
    }));
    const library = benchLibrary(hostile, [{ name: HOSTILE, reason: HOSTILE }]);
    const bad = await Host.open(benchFiles(hostile, { ...library, title: HOSTILE, is_live: true }));
    const page = await lab.at(bad.url);
    await fold(page.locator("#rejected summary"));
    for (const one of await page.locator(".bench-list summary").all()) await fold(one);
    const pure = async () => {
      expect(await page.locator("#app img, #app script").count()).toBe(0);
      expect(await page.evaluate(() => (window as unknown as { hit?: number }).hit)).toBeUndefined();
      expect(await page.locator("#app").innerText()).toContain("<img src=x");
    };
    await pure();
    await page.locator(".bench-list tbody tr [data-pick]").first().check();
    await page.getByRole("link", { name: "Compare 1 chosen" }).click();
    await page.waitForSelector(".glance, section");
    await pure();
    await page.context().close();
    await bad.close();
  });

  test("an address full of nonsense gives the list", async () => {
    for (const nonsense of ["#%%%", "#basket=%E0%A4%A,x&by=:::&area=%", "#test=__proto__&by=__proto__:x"]) {
      const page = await lab.at(host.url + nonsense);
      expect(await page.locator("h1").innerText()).toBe("Fixture Bench");
      await page.context().close();
    }
  });

  test("from disk the page says what it needs and asks for nothing", async () => {
    const [html] = await benchPage();
    const page = await lab.raw(html);
    expect(await page.locator("h1").innerText()).toBe("A Bench needs a web server");
    await page.context().close();
  });

  test("a library that is gone is said", async () => {
    const empty = await Host.open(new Map());
    const page = await lab.at(empty.url);
    expect(await page.locator("main").innerText()).toContain("library.json: 404");
    // Chromium tells about the missing file as well.
    lab.complaints.splice(0);
    await page.context().close();
    await empty.close();
  });
});

test("a run in progress is drawn second by second, and its end is told", async () => {
  const event = (kind: string, data: unknown) => `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
  const phase = { name: "fill", what: "sequential writes", duration_ns: 4e9, complete: true };
  const now = {
    ...{ test: "consistency", drive: "A drive", kind: "simulated", variant: "default", status: "running" },
    planned: [
      { name: "fill", duration_ns: 9e9, is_estimate: true, is_optional: false },
      { name: "load", duration_ns: 120e9, is_estimate: false, is_optional: false },
    ],
  };
  const seconds = Array.from({ length: 58 }, (_, second) => ({
    ...{ phase: "load", second, iops: 30_993_440 + second, latency_ns_p99: 2e6 },
  }));
  const text = [
    event("state", { ...now, phases: [phase] }),
    event("phase", { phase: "fill", iops: [10, 20], latency_ns_p99: [null, null] }),
    event("seconds", seconds),
  ].join("");
  const streams = new Map([["/live/some-run", text]]);
  const live = await Host.open(new Map(), streams);
  const page = await lab.at(`${live.url}#live=some-run`, { bypassCSP: true });
  const summary = page.locator("#graph-live-summary");
  await expect.poll(() => summary.innerText()).toContain("load, second 57: 30,993,497 IOPS");
  expect(await page.locator("#live-progress").innerText()).toBe("50% done, 62\u202fs of virtual time left");
  expect(await page.locator("progress").evaluate((one: HTMLProgressElement) => one.value)).toBeCloseTo(0.5);
  expect(await page.locator("ol").innerText()).toContain("fill");
  const { xMax, yMin, yMax } = await axes(page, "graph-live");
  expect(xMax, "the axis has the planned length").toBe(120);
  expect(yMin, "two decades at least").toBeLessThanOrEqual(yMax / 100);
  expect(yMax).toBeGreaterThanOrEqual(30_993_497);
  const last = shares(await axes(page, "graph-live"), 57, 30_993_497, true);
  expect(await pixelsNear(page, "graph-live", last, await cssColor(page, "--run-1"))).toBeGreaterThan(0);
  expect(await page.locator(".chart-head").innerText()).toContain("IOPS of each second, log scale");
  streams.set("/live/some-run", text + event("end", { status: "complete" }));
  await page.reload();
  await expect.poll(() => page.locator("#live-status").innerText()).toContain("The run has ended: complete");
  expect(await page.locator("progress").isVisible()).toBe(false);
  await page.setViewportSize({ width: 390, height: 844 });
  await settled(page);
  await isSound(page, 390);
  await page.context().close();
  await live.close();
});
