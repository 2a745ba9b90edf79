// The Bench over a made-up library, from a web host with the headers of the server.

import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { benchFiles, benchLibrary, smallBenchFiles } from "../../fixtures/bench";
import { importedRun } from "../../fixtures/imported";
import { libraryRuns } from "../../fixtures/library";
import { benchPage, Host } from "./host";
import { fold, Lab, openDetails } from "./page";

const DRIVES = 12;
const views = libraryRuns(DRIVES, 120);

let lab: Lab;
let host: Host;

beforeAll(async () => {
  lab = await Lab.open();
  host = await Host.open(benchFiles(views));
});

afterEach(() => {
  expect(lab.complaints.splice(0)).toEqual([]);
});

afterAll(async () => {
  await lab.close();
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
    await page.selectOption("[data-choice=source]", "drive");
    expect(await rows(page).count()).toBe(1);
    await page.selectOption("[data-choice=source]", "");
    await page.fill("[data-choice=find]", "library 03");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.selectOption("[data-choice=test]", "trim");
    const address = host.url + (await hash(page));
    const again = await lab.at(address);
    expect(await keys(again)).toEqual(["fixture-library-03-480-gb"]);
    expect(await again.locator("[data-choice=find]").inputValue()).toBe("library 03");
    expect(await again.locator("[data-choice=test]").inputValue()).toBe("trim");
    await again.fill("[data-choice=find]", "no such drive");
    await expect.poll(() => again.locator(".notice").innerText()).toContain("No run fits");
    await Promise.all([page.context().close(), again.context().close()]);
  });

  test("axe finds nothing, in both themes and on a phone, and nothing scrolls sideways", async () => {
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 390],
    ] as const) {
      const page = await lab.at(host.url, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      await page
        .locator(".bench-list details")
        .first()
        .evaluate((one) => one.setAttribute("open", ""));
      await page.addScriptTag({ content: axe.source });
      const { violations } = await page.evaluate(() =>
        (window as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ["violations"] }),
      );
      expect(violations.map(({ id, nodes }) => [id, nodes[0].html])).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await page.context().close();
    }
  });
});

describe("the basket", () => {
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

  test("a small site draws medians, says so, and tells nothing of single seconds", async () => {
    const some = views.slice(0, 30);
    const small = await Host.open(smallBenchFiles(some));
    const page = await lab.at(`${small.url}#basket=${some[0].run_id},${some[1].run_id}&open`);
    await page.waitForSelector(".uplot canvas");
    expect(await page.locator("#consistency .how-to").first().innerText()).toContain(
      "Small form: each point is the median of 5 s.",
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
  const now = { test: "consistency", drive: "A drive", kind: "block", variant: "default", status: "running" };
  const seconds = Array.from({ length: 30 }, (_, second) => ({
    ...{ phase: "load", second, iops: 1000 + second, latency_ns_p99: 2e6 },
  }));
  const text = [
    event("state", { ...now, phases: [phase] }),
    event("phase", { phase: "fill", iops: [10, 20], latency_ns_p99: [null, null] }),
    event("seconds", seconds),
    event("end", { status: "complete" }),
  ].join("");
  const live = await Host.open(new Map(), new Map([["/live/some-run", text]]));
  const page = await lab.at(`${live.url}#live=some-run`);
  await expect.poll(() => page.locator(".live-dot").count()).toBe(30);
  expect(await page.locator("#live-now").innerText()).toContain("load, second 29: 1,029 IOPS");
  expect(await page.locator("ol").innerText()).toContain("fill");
  expect(await page.locator("#live-status").innerText()).toContain("The run has ended: complete");
  await page.context().close();
  await live.close();
});
