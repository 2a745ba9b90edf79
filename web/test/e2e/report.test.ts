import { deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  depthRuns,
  fixtureReport,
  manyRuns,
  mixedLengths,
  powerRuns,
  ptsRun,
  reportOf,
  runOf,
  SHAPES,
  shortRun,
  trimRun,
  unknownTest,
  withHealth,
} from "../../fixtures/report";
import type { Report } from "../../src/data/schema.gen";
import { lab } from "./lab";
import {
  axes,
  bundle,
  countDrawing,
  cssColor,
  firstDrive,
  fold,
  follow,
  openDetails,
  pixelsNear,
  pointIn,
  SLOT,
  settled,
  shares,
} from "./page";

/** A page with all details open, of the first drive unless its address says more. */
async function opened(made: Report, hash = firstDrive(made), options = {}): Promise<Page> {
  const page = await lab.page(made, hash, options);
  await openDetails(page);
  return page;
}

const GRAPHS = ["graph-whole", "graph-steady-log", "graph-steady-linear", "graph-latency"];
const STRIPS = [
  "waf",
  "freeSuperblocks",
  "bufferMb",
  "gcMoved",
  "controllerBusy",
  "channelBusy",
  "dieBusy",
].map((name) => `graph-why-${name}`);
const STALLING = "#drive=fixture-stalling-240&spare=default";
const report = fixtureReport();

function run(name: string, variant = "default") {
  const found = report.runs.find((one) => one.target.name === name && one.span.variant === variant);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

const title = (page: Page) => page.locator(".run-title").innerText();
const plain = (text: string | null) => (text ?? "").replaceAll("\u202f", " ");

describe("the bundle", () => {
  test("has exactly one place for data and asks for nothing outside", async () => {
    const html = await bundle();
    expect(html.split(SLOT)).toHaveLength(2);
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/<(script|link|img)[^>]+(src|href)="(?!data:)/);
    expect(html).not.toMatch(/@import|url\((?!data:|#)/);
  });

  test("without data says so and how to get some", async () => {
    const page = await lab.raw(await bundle());
    expect(await page.locator("h1").innerText()).toBe("This page holds no data");
    expect(await page.locator("main").innerText()).toContain("ssdlab report RUN...");
  });

  test.each([
    ["text that is no data", '{"runs": ['],
    ["data that was cut short", deflateSync(JSON.stringify(report)).subarray(0, 999).toString("base64")],
  ])("with %s says so", async (_, data) => {
    const page = await lab.raw((await bundle()).replace(SLOT, SLOT.replace("null", data)));
    expect(await page.locator("h1").innerText()).toContain("cannot be read");
    expect(lab.complaints.splice(0).join()).toContain("Error");
    await page.context().close();
  });

  test("treats names as text", async () => {
    const view = runOf({ ...SHAPES[0], name: "</script><img src=x onerror=alert(1)>" }, 1);
    const page = await opened(reportOf([view], "<b>title</b>"));
    expect(await page.locator("h1").innerText()).toBe("<b>title</b>");
    expect(await page.locator("img").count()).toBe(0);
    expect(await title(page)).toContain("<img src=x");
  });
});

describe("graphs", () => {
  test("points are on the canvas where the values say", async () => {
    const page = await opened(report, "#drive=fixture-even-480&spare=default");
    const color = await cssColor(page, "--run-1");
    const { iops } = run("Fixture Even 480").series;
    const whole = await axes(page, "graph-whole");
    for (const second of [5, 100, 300, 450, 900, 1_400, 1_990]) {
      const place = shares(whole, second, iops[second], true);
      expect(await pixelsNear(page, "graph-whole", place, color), `second ${second}`).toBeGreaterThan(0);
    }
    for (const [id, log] of [
      ["graph-steady-log", true],
      ["graph-steady-linear", false],
    ] as const) {
      const scale = await axes(page, id);
      expect(scale).toMatchObject({ xMin: 1_400, xMax: 2_000 });
      const place = shares(scale, 1_700, iops[1_700], log);
      expect(await pixelsNear(page, id, place, color), id).toBeGreaterThan(0);
    }
    expect(await pixelsNear(page, "graph-whole", shares(whole, 1_000, 300, true), color, 10)).toBe(0);
    await page.context().close();
  });

  test("the strip and the latencies draw as well", async () => {
    const page = await opened(report, "#drive=fixture-even-480&spare=default");
    const { series } = run("Fixture Even 480");
    const waf = await axes(page, "graph-why-waf");
    const place = shares(waf, 1_500, series.waf[1_500] ?? 0, true);
    expect(await pixelsNear(page, "graph-why-waf", place, await cssColor(page, "--run-1"))).toBeGreaterThan(
      0,
    );
    const latency = await axes(page, "graph-latency");
    for (const [column, name] of [
      ["latency_ns_p50", "--p50"],
      ["latency_ns_p99", "--p99"],
      ["latency_ns_max", "--max"],
    ] as const) {
      const at = shares(latency, 800, series[column][800] ?? 0, true);
      expect(await pixelsNear(page, "graph-latency", at, await cssColor(page, name), 3)).toBeGreaterThan(0);
    }
    await page.context().close();
  });

  test("seconds without completions stand on the zero line", async () => {
    const page = await opened(report, STALLING);
    const second = run("Fixture Stalling 240").series.iops.indexOf(0);
    const whole = await axes(page, "graph-whole");
    expect(whole.yZero).not.toBeNull();
    const place = shares(whole, second, whole.yZero ?? 1, true);
    expect(await pixelsNear(page, "graph-whole", place, await cssColor(page, "--run-1"))).toBeGreaterThan(2);
    expect(await page.locator("#graph-whole-summary").innerText()).toMatch(
      /In \d+ seconds \(2% of all\) no command completed/,
    );
    await page.context().close();
  });

  test("axes are the same for every drive and variant", async () => {
    const page = await opened(report);
    const seen = new Map<string, string>();
    for (const drive of await page.locator('input[name="drive"]').all()) {
      await drive.check();
      for (const variant of await page.locator('input[name="spare"]:enabled').all()) {
        await variant.check();
        for (const id of GRAPHS) {
          const now = JSON.stringify(await axes(page, id));
          expect(seen.get(id) ?? now).toBe(now);
          seen.set(id, now);
        }
      }
    }
    expect(seen.size).toBe(GRAPHS.length);
    await page.context().close();
  });

  test("a run that ended before steady state says so in the empty graph", async () => {
    const page = await opened(report, "#drive=fixture-block-1000&spare=default");
    const note = plain(await page.locator("#graph-steady-log .graph-note").innerText());
    expect(note).toBe("Ended after 612 s, before the part of these graphs begins at 1,400 s.");
    expect(await page.locator(".run-head .notice-bad").innerText()).toContain("interrupted");
    expect(await page.locator(".why .notice").innerText()).toContain("only a simulated drive tells");
    expect(await page.locator(".strip").isVisible()).toBe(false);
    await page.context().close();
  });
});

describe("runs of different lengths", () => {
  const mixed = mixedLengths();
  const headings = (page: Page) =>
    page.locator("#consistency > .chart h3, #consistency > .details > .charts-pair h3").allInnerTexts();
  const note = async (page: Page) => plain(await page.locator("#axes-note").innerText());
  const idOf = (name: string) => mixed.runs.find((one) => one.target.name === name)?.run_id ?? "";
  const short = idOf("Fixture short file");
  const bursts = idOf("Fixture Bursts 120");

  test("each length has axes of its own, and the page says so", async () => {
    const page = await opened(mixed, "#drive=fixture-bursts-120&spare=default");
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 2_000 });
    expect(await axes(page, "graph-steady-log")).toMatchObject({ xMin: 1_330, xMax: 2_000 });
    expect(await headings(page)).toEqual(["Whole run", ...Array(2).fill("Steady state, from 1,330 s")]);
    expect(await note(page)).toBe(
      "Axes: the 5 runs of about 2,000 s share these; runs of other lengths (15 s) have their own.",
    );
    const long = await axes(page, "graph-steady-linear");
    await page.locator('input[name="drive"][value="fixture-short-file"]').check();
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 15 });
    expect(await axes(page, "graph-latency")).toMatchObject({ xMin: 0, xMax: 15 });
    const steady = await axes(page, "graph-steady-linear");
    expect(steady).toMatchObject({ xMin: 11, xMax: 15 });
    expect(steady.yMax).toBeGreaterThan(long.yMax);
    expect(await headings(page)).toEqual(["Whole run", ...Array(2).fill("Steady state, from 11 s")]);
    expect(await note(page)).toContain("the run of 15 s has these");
    const series = mixed.runs.find((one) => one.run_id === short)?.series;
    const color = await cssColor(page, "--run-1");
    const place = shares(steady, 13, series?.iops[13] ?? 0, false);
    expect(await pixelsNear(page, "graph-steady-linear", place, color)).toBeGreaterThan(0);
    await page.context().close();
  });

  test("axis labels follow the class", async () => {
    const page = await opened(mixed, "#drive=fixture-bursts-120&spare=default");
    const picture = () =>
      page.locator("#graph-steady-linear canvas").evaluate((c) => (c as HTMLCanvasElement).toDataURL());
    const first = await picture();
    await page.locator('input[name="drive"][value="fixture-short-file"]').check();
    expect(await picture()).not.toBe(first);
    await page.locator('input[name="drive"][value="fixture-bursts-120"]').check();
    expect(await picture()).toBe(first);
    await page.context().close();
  });

  test("a shorter run is a guest on the axes of the longer one", async () => {
    const page = await opened(mixed, `#compare=${short},${bursts}`);
    const whole = await axes(page, "graph-whole");
    expect(whole).toMatchObject({ xMin: 0, xMax: 2_000 });
    expect(await note(page)).toContain(
      "Fixture short file (file), as sold, is shorter (15 s); it is drawn on the axes of the 2,000 s runs, and has no second in the steady-state graphs.",
    );
    const series = mixed.runs.find((one) => one.run_id === short)?.series;
    const place = shares(whole, 9, series?.iops[9] ?? 0, true);
    expect(await pixelsNear(page, "graph-whole", place, await cssColor(page, "--run-1"), 3)).toBeGreaterThan(
      0,
    );
    await page.context().close();
  });

  test("a zoom that another class does not reach waits there", async () => {
    const page = await opened(mixed, "#drive=fixture-bursts-120&spare=default&x=300-500");
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 300, xMax: 500 });
    await page.locator('input[name="drive"][value="fixture-short-file"]').check();
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 15 });
    expect(await page.locator("#zoom-reset").isVisible()).toBe(false);
    await page.locator('input[name="drive"][value="fixture-bursts-120"]').check();
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 300, xMax: 500 });
    await page.context().close();
  });

  test("the table compares only what ran for the same time", async () => {
    const page = await opened(mixed);
    const row = page.locator('[data-figure="iops_mean"]');
    expect(await row.locator("th").innerText()).toBe("Whole load, mean");
    expect(await row.locator(".best").count()).toBe(1);
    expect(await row.locator(`.best[data-run="${short}"]`).count()).toBe(0);
    expect(plain(await page.locator(`.figures thead [data-run="${short}"]`).innerText())).toContain("15 s");
    expect(await page.locator("#figures .group").allInnerTexts()).not.toContain("Other");
    expect(await page.locator(".figures thead .variant").allInnerTexts()).toEqual([
      "as sold",
      "25% spare",
      ...Array(4).fill("as sold"),
    ]);
    await page.context().close();
  });

  test("where all runs are of one length nothing is said of others", async () => {
    const page = await opened(report);
    expect(await page.locator("#axes-note").isVisible()).toBe(false);
    await page.context().close();
  });

  test("write amplification stays readable beside seconds with hardly a write", async () => {
    const page = await opened(mixed, "#drive=fixture-bursts-120&spare=default");
    const waf = await axes(page, "graph-why-waf");
    expect(waf.yMin).toBe(1);
    expect(waf.yMax).toBeLessThanOrEqual(20);
    expect(await page.locator("#graph-why-waf-summary").innerText()).toContain("stands on the upper edge");
    await page.context().close();
  });
});

describe("choosing", () => {
  test("by keyboard alone", async () => {
    const page = await opened(report);
    await page.locator('input[name="drive"]').first().focus();
    await page.keyboard.press("ArrowDown");
    expect(await title(page)).toContain("Fixture Uneven 256");
    expect(page.url()).toContain("#drive=fixture-uneven-256&spare=default");
    await page.locator('input[name="spare"]:checked').focus();
    await page.keyboard.press("ArrowRight");
    expect(await title(page)).toContain("25% spare");
    expect(
      await page.locator('input[name="spare"]:checked').evaluate((e) => e === document.activeElement),
    ).toBe(true);
    await page.context().close();
  });

  test("a variant that was not measured cannot be chosen", async () => {
    const page = await opened(report, "#drive=fixture-file-on-a-real-disk&spare=25%25");
    expect(await title(page)).toContain("as sold");
    expect(await page.locator('input[name="spare"][value="25%"]').isDisabled()).toBe(true);
    await page.context().close();
  });

  test("a link restores the view", async () => {
    const first = run("Fixture Even 480").run_id;
    const second = run("Fixture Stalling 240", "25%").run_id;
    const page = await opened(report, `#compare=${first},,${second}&latency=max&x=200-400`);
    const legend = page.locator(".legend tbody tr");
    expect(await legend.count()).toBe(2);
    expect(await legend.nth(1).locator(".swatch").getAttribute("style")).toContain("--run-3");
    expect(await page.locator('input[name="percentile"]:checked').inputValue()).toBe("max");
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 200, xMax: 400 });
    await follow(page, "#drive=fixture-even-480&spare=25%25");
    expect(await title(page)).toContain("25% spare");
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 2_000 });
    await page.context().close();
  });

  test("compare overlays runs in colours of their own", async () => {
    const page = await opened(report);
    await page.locator('input[name="view"][value="compare"]').check();
    expect(await page.locator(".legend tbody tr").count()).toBe(5);
    const whole = await axes(page, "graph-whole");
    for (const [k, name] of ["Fixture Even 480", "Fixture Uneven 256", "Fixture Stalling 240"].entries()) {
      const { iops } = run(name).series;
      const color = await cssColor(page, `--run-${k + 1}`);
      let drawn = 0;
      for (const second of [1_501, 1_601, 1_702, 1_803, 1_905].filter((s) => iops[s] > 0)) {
        drawn += await pixelsNear(page, "graph-whole", shares(whole, second, iops[second], true), color);
      }
      expect(drawn, name).toBeGreaterThan(5);
    }
    await page.context().close();
  });

  test("runs compared are told apart by what a person would notice", async () => {
    const page = await opened(report);
    expect(await page.locator(".differences li").count(), "one run is shown").toBe(0);
    await page.locator('input[name="view"][value="compare"]').check();
    const complete = report.runs.filter((r) => r.span.variant === "default" && r.status === "complete");
    const pairs = (complete.length * (complete.length - 1)) / 2;
    expect(await page.locator(".differences li").count()).toBe(pairs);
    await page.context().close();
  });

  test("no more runs than colours that can be told apart", async () => {
    const page = await opened(manyRuns());
    await page.locator('input[name="view"][value="compare"]').check();
    await page.getByRole("button", { name: "All as sold" }).click();
    expect(await page.locator(".legend tbody tr").count()).toBe(6);
    expect(await page.locator(".check input:not(:checked):enabled").count()).toBe(0);
    expect(await page.locator(".controls").innerText()).toContain("6 at most");
    await page.context().close();
  });
});

describe("pointing and zooming", () => {
  test("the tooltip tells the second, and every graph points at it", async () => {
    const page = await opened(report, "#drive=fixture-even-480&spare=default");
    const { series } = run("Fixture Even 480");
    const place = shares(await axes(page, "graph-whole"), 1_500, series.iops[1_500], true);
    await page.mouse.move(...(await pointIn(page, "graph-whole", place)));
    const tip = plain(await page.locator("#graph-whole .graph-tip").innerText());
    const second = Number(/Second ([\d,]+)/.exec(tip)?.[1].replace(",", ""));
    expect(Math.abs(second - 1_500)).toBeLessThanOrEqual(3);
    expect(tip).toContain(series.iops[second].toLocaleString("en-US"));
    for (const word of ["IOPS", "p50", "p99", "max", "WAF", "simulated"]) expect(tip).toContain(word);
    for (const id of [...GRAPHS, ...STRIPS]) {
      expect(await page.locator(`#${id} .graph-line`).isVisible(), id).toBe(true);
    }
    expect(await page.locator(".strip-value").first().innerText()).toBe((series.waf[second] ?? 0).toFixed(2));
    await page.mouse.move(0, 0);
    expect(await page.locator("#graph-latency .graph-line").isVisible()).toBe(false);
    await page.context().close();
  });

  test("an outlier can be picked, though its second is as narrow as any", async () => {
    const page = await opened(report, STALLING);
    const whole = await axes(page, "graph-whole");
    const zero = run("Fixture Stalling 240").series.iops.indexOf(0, 1_000);
    const place = shares(whole, zero, whole.yZero ?? 1, true);
    await page.mouse.move(...(await pointIn(page, "graph-whole", place)));
    const tip = plain(await page.locator("#graph-whole .graph-tip").innerText());
    expect(tip).toContain(`Second ${zero.toLocaleString("en-US")}`);
    expect(tip).toMatch(/IOPS\s+0/);
    expect(tip).toMatch(/p50\s+–/);
    await page.context().close();
  });

  test("drag zooms all graphs over time, button and double click reset", async () => {
    const page = await opened(report);
    const drag = async (id: string) => {
      const [fromX, y] = await pointIn(page, id, [0.5, 0.5]);
      const [toX] = await pointIn(page, id, [0.6, 0.5]);
      await page.mouse.move(fromX, y);
      await page.mouse.down();
      await page.mouse.move((fromX + toX) / 2, y);
      await page.mouse.move(toX, y);
      await page.mouse.up();
    };
    await drag("graph-steady-log");
    for (const id of [...GRAPHS, ...STRIPS]) {
      const { xMin, xMax } = await axes(page, id);
      expect(Math.abs(xMin - 1_700), id).toBeLessThan(3);
      expect(Math.abs(xMax - 1_760), id).toBeLessThan(3);
    }
    expect(page.url()).toMatch(/&x=1\d{3}/);
    await page.locator("#zoom-reset").click();
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 2_000 });
    expect(await page.locator("#zoom-reset").isVisible()).toBe(false);
    await drag("graph-whole");
    expect((await axes(page, "graph-whole")).xMin).toBeGreaterThan(900);
    expect(await axes(page, "graph-steady-log"), "not touched by this zoom").toMatchObject({ xMin: 1_400 });
    await page.mouse.dblclick(...(await pointIn(page, "graph-whole", [0.5, 0.5])));
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 2_000 });
    await page.context().close();
  });

  test("the keyboard walks, zooms and resets", async () => {
    const page = await opened(report, "#drive=fixture-even-480&spare=default");
    await page.locator("#graph-whole").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    expect(await page.locator("#graph-whole .graph-tip caption").innerText()).toBe("Second 11");
    expect(await page.locator("#graph-whole [aria-live]").textContent()).toContain("Second 11");
    await page.keyboard.press("+");
    expect((await axes(page, "graph-whole")).xMax).toBeLessThan(1_100);
    await page.keyboard.press("0");
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 2_000 });
    await page.context().close();
  });

  test("the exceedance curve tells how rare", async () => {
    const page = await opened(report, "#drive=fixture-even-480&spare=default");
    await page.mouse.move(...(await pointIn(page, "graph-exceedance", [0.4, 0.5])));
    expect(await page.locator("#graph-exceedance .graph-tip").innerText()).toMatch(
      /or longer[\s\S]*1 in [\d,.]+ commands/,
    );
    await page.context().close();
  });
});

describe("what must be said", () => {
  test("simulated stands by every name of a simulated drive", async () => {
    const page = await opened(report);
    const names = report.runs.filter((one) => one.target.kind === "simulated").map((one) => one.target.name);
    const views = [
      "#drive=fixture-even-480&spare=default",
      `#compare=${report.runs.slice(0, 6).map((r) => r.run_id)}`,
    ];
    for (const view of views) {
      await follow(page, view);
      await page.mouse.move(...(await pointIn(page, "graph-whole", [0.5, 0.5])));
      const bare = await page.evaluate((wanted) => {
        const found: string[] = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const text = walker.currentNode.textContent ?? "";
          const parent = walker.currentNode.parentElement;
          if (parent?.closest("script")) continue;
          for (const name of wanted.filter((one) => text.includes(one))) {
            const badge = parent?.closest(".drive-name")?.querySelector(".badge-simulated");
            const sign = parent?.closest(".signed")?.querySelector(".source-simulated");
            if (!badge && !sign && !text.includes(`${name} (simulated)`)) found.push(text);
          }
        }
        return found;
      }, names);
      expect(bare).toEqual([]);
    }
    const places = [".drives", ".controls", ".legend", ".figures thead", ".finding", ".method", ".graph-tip"];
    for (const place of places) {
      expect(await page.locator(`${place} .badge-simulated`).count(), place).toBeGreaterThan(0);
    }
    await page.context().close();
  });

  test("the table marks the best by more than colour and explains every figure", async () => {
    const page = await opened(report);
    const row = page.locator('[data-figure="iops_steady_mean"]');
    expect(await row.locator(".best").innerText()).toContain("★");
    const display = await row.locator(".best").evaluate((cell) => getComputedStyle(cell).display);
    expect(display, "it stays below the head of its run").toBe("table-cell");
    expect(await row.locator(".best").textContent()).toContain("best: ");
    await row.locator(".term").focus();
    expect(await page.locator("#hint").innerText()).toContain("averaged over the steady-state part");
    await page.keyboard.press("Escape");
    expect(await page.locator("#hint").isVisible()).toBe(false);
    const waf = page.locator('[data-figure="waf_steady"] td').last();
    expect(await waf.textContent()).toContain("not known");
    await fold(page.locator("#glossary summary"));
    expect(await page.locator("#glossary").textContent()).toContain("averaged over the steady-state part");
    await page.context().close();
  });

  test("figures can be copied as CSV", async () => {
    const page = await opened(report, undefined, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: "Copy as CSV" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text.split("\n")[0]).toContain('"Fixture Even 480 (simulated), as sold"');
    expect(text).toContain("\niops_steady_mean,iops,");
    await page.context().close();
  });

  test("findings lead to their figures, warnings and conditions are on the page", async () => {
    const page = await opened(report, "#drive=fixture-file-on-a-real-disk&spare=default");
    expect(await page.locator(".run-head .notice-warn").innerText()).toContain("A file was measured");
    await page.locator(".finding .figure-link").first().click();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("data-figure"))).toBe(
      "fall_start_s",
    );
    const method = await page.locator("#conditions").innerText();
    for (const word of ["Length of the load", "2,000\u202fs", "Block size", "4\u202fKiB", "Purged before"]) {
      expect(method).toContain(word);
    }
    for (const word of ["purge", "fill", "load", "Seed", "1006", "ssdlab run consistency file:", "Kernel"]) {
      expect(method).toContain(word);
    }
    await page.context().close();
  });

  test("a drive that tells about itself has its counters before and after, and heat is marked", async () => {
    const page = await opened(withHealth());
    const table = page.locator(".counters");
    expect(await table.locator("caption").textContent()).toBe(
      "The drive's own counters (NVMe SMART log): Fixture Block 1000, as sold",
    );
    const rows = await table
      .locator("tbody tr")
      .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent).join("|")));
    expect(rows.map(plain)).toEqual([
      "temperature|31 °C|84 °C|+53 °C",
      "written by the host|3.5 TB|4.75 TB|+1.25 TB",
      "programmed into NAND|5 TB|8 TB|+3 TB",
      "life used, as the drive estimates|3%|3%|unchanged",
      "errors that could not be corrected|0|0|unchanged",
      "throttled because of heat|7 s|48 s|+41 s",
      "switched on|1,204 h|–|–",
    ]);
    expect(plain(await table.locator(".bad").allInnerTexts().then(String))).toBe("+41 s");
    const health = plain(await page.locator(".health").innerText());
    expect(health).toContain("Temperature in 122 looks: 31 to 86 °C.");
    expect(health).toContain("2.40 bytes went to NAND for each byte written");
    expect(await page.locator(".run-head .notice-warn").innerText()).toContain("throttled for 41 s");
    expect(await page.locator("#conditions").innerText()).toContain("fixture-cut-off, 2 steps kept");
    await page.context().close();
  });

  test("a drive that tells nothing has no table of counters", async () => {
    const page = await opened(report);
    expect(await page.locator(".counters").count()).toBe(0);
    await page.context().close();
  });

  test("a test without graphs shows its figures", async () => {
    const page = await opened(unknownTest());
    expect(await page.locator("main .overline").first().innerText()).toBe("The four corners");
    expect(plain(await page.locator(".figures").innerText())).toContain("498 MB/s");
    expect(await page.locator("canvas").count()).toBe(0);
    await page.context().close();
  });

  test("a page without a consistency run begins with its drives, too", async () => {
    const page = await opened(unknownTest());
    const rows = await page.locator("#drives tbody tr").allInnerTexts();
    expect(rows.map(plain)).toHaveLength(1);
    expect(plain(rows[0])).toContain("Fixture Even 480");
    expect(plain(rows[0])).toContain("480 GB");
    await page.context().close();
  });

  test("what a review left out is said at the top, as text", async () => {
    const reasons = ["/dev/sdx: power: nothing tells what it draws", "/dev/sdx: pslc: <b>too small</b>"];
    const page = await opened({ ...unknownTest(), left_out: reasons });
    expect(await page.locator("header .left-out li").allInnerTexts()).toEqual(reasons);
    await page.context().close();
  });

  test("the drives' facts stand side by side, each with its source", async () => {
    const page = await opened(fixtureReport());
    const facts = page.locator("#facts");
    expect(await facts.locator("thead th").count()).toBe(
      1 + (await page.locator(".drives tbody tr").count()),
    );
    const price = facts.locator("tbody tr", { hasText: "Price per GB" }).locator("td").first();
    expect(plain(await price.innerText())).toContain("0.917 USD/GB");
    await price.locator("button").focus();
    expect(await page.locator("#hint").innerText()).toBe("published: made up");
    await page.context().close();
  });

  test("a test that decides shows its verdict, its passes and its table", async () => {
    const page = await opened(trimRun());
    expect(await page.locator("main h2").first().innerText()).toBe(
      "Does TRIM make a tortured drive fast again?",
    );
    expect(await page.locator("[data-verdict=fail]").innerText()).toContain("No. TRIM does not work");
    expect(await page.locator(".passes polyline").count()).toBe(2);
    expect(await page.locator(".passes-legend").innerText()).toContain("slowest zone 210");
    const bars = await page
      .locator(".result-table td.barred")
      .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).getPropertyValue("--share").trim()));
    expect(bars).toEqual(["100.0%", "50.0%"]);
    expect(await page.locator(".conditions-line").innerText()).toBe("purge: block-discard");
    await page.context().close();
  });

  test("tables that double from row to row are curves, with all drives on the same axes", async () => {
    const page = await opened(depthRuns());
    const plots = page.locator("[data-plot=depths]");
    expect(await plots.count()).toBe(2);
    expect(await plots.first().locator(".passes-line").count()).toBe(2);
    const key = plots.first().locator(".passes-legend .signed").first();
    expect(plain(await key.innerText())).toContain("Even 480");
    expect(await key.locator(".source-simulated").count()).toBe(1);
    const across = await plots
      .first()
      .locator(".passes-line")
      .first()
      .evaluate((path) =>
        [...(path.getAttribute("d") ?? "").matchAll(/[ML]([\d.]+)/g)].map((m) => Number(m[1])),
      );
    expect(across).toHaveLength(4);
    const steps = across.slice(1).map((x, at) => x - across[at]);
    expect(Math.max(...steps) - Math.min(...steps), "1, 2, 4 and 8 stand evenly").toBeLessThan(0.3);
    const labels = await plots.first().locator("text").allInnerTexts();
    expect(labels, "a depth that nobody measured takes no room").not.toContain("16");
    await page.context().close();
  });

  test("curves keep their letters on a narrow screen", async () => {
    const page = await opened(depthRuns(), undefined, { viewport: { width: 380, height: 800 } });
    const letters = await page.locator("[data-plot=depths] text").first().boundingBox();
    expect(letters?.height ?? 0).toBeGreaterThan(10);
    const wider = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(wider).toBe(0);
    await page.context().close();
  });

  test("rounds are drawn with the level of the steady ones, and their numbers are folded away", async () => {
    const page = await opened(ptsRun());
    expect(await page.locator("[data-plot=rounds] .level-band").count()).toBe(1);
    expect(await page.locator("[data-plot=rounds] circle").count()).toBe(6);
    const folded = page.locator("details.long-table");
    expect(await folded.locator("summary").innerText()).toContain("all 6 rows");
    expect(await folded.getAttribute("open")).toBeNull();
    expect(await page.locator(".conditions-line").innerText()).toContain("write cache: write back");
    await page.context().close();
  });

  test("the power test shows bars on one scale, and power beside IOPS", async () => {
    const page = await opened(powerRuns());
    expect(await page.locator("main .overline").first().innerText()).toBe("Power");
    const texts = await page.locator('[data-state="slumber"] .power-text').allInnerTexts();
    expect(texts.map(plain)).toEqual(["42 mW, peak 50 mW", "not measured"]);
    const width = (state: string, slot: number) =>
      page
        .locator(`[data-state="${state}"] .power-fill`)
        .nth(slot)
        .evaluate((fill) => fill.getBoundingClientRect().width);
    expect((await width("random_write", 1)) / (await width("random_write", 0))).toBeCloseTo(2, 1);
    expect((await width("random_write", 0)) / (await width("idle", 0))).toBeCloseTo(2.5 / 0.3, 0);
    expect(await width("sequential_write", 0)).toBe(0);
    // Two states of three lines each; of the second drive two lines have a gap.
    expect(await page.locator(".power-graph").nth(0).locator("polyline").count()).toBe(6);
    expect(await page.locator(".power-graph").nth(1).locator("polyline").count()).toBe(8);
    expect(plain(await page.locator(".passes-legend").nth(0).innerText())).toContain(
      "idle: 300 mW in every second",
    );
    await page.context().close();
  });

  test("every graph has a name and a text that stands for it", async () => {
    const page = await opened(report);
    const missing = await page.evaluate(() =>
      [...document.querySelectorAll(".graph")]
        .filter((graph) => {
          const text = document.getElementById(graph.getAttribute("aria-describedby") ?? "");
          return !graph.getAttribute("aria-label") || !text?.textContent?.trim();
        })
        .map((graph) => graph.id),
    );
    expect(missing).toEqual([]);
    for (const landmark of ["header", "main", "nav", "aside"]) {
      expect(await page.locator(landmark).count(), landmark).toBeGreaterThan(0);
    }
    await page.context().close();
  });
});

describe("light, dark, paper and small screens", () => {
  test("the graphs follow the scheme and the button", async () => {
    const page = await opened(report, "#drive=fixture-even-480&spare=default", { colorScheme: "dark" });
    const { iops } = run("Fixture Even 480").series;
    const place = shares(await axes(page, "graph-whole"), 100, iops[100], true);
    const dark = await cssColor(page, "--run-1");
    expect(await pixelsNear(page, "graph-whole", place, dark)).toBeGreaterThan(0);
    await page.locator("#theme").click();
    expect(await page.locator("#theme").innerText()).toBe("Theme: light");
    const light = await cssColor(page, "--run-1");
    expect(light).not.toBe(dark);
    expect(await pixelsNear(page, "graph-whole", place, light)).toBeGreaterThan(0);
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("#theme").click();
    expect(await pixelsNear(page, "graph-whole", place, dark)).toBeGreaterThan(0);
    await page.context().close();
  });

  test("paper is light, and the screen comes back as it was", async () => {
    const page = await opened(report, undefined, { colorScheme: "dark" });
    const dark = await cssColor(page, "--run-1");
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    expect(await cssColor(page, "--run-1")).not.toBe(dark);
    expect(await page.locator("#graph-whole .uplot").evaluate((e) => e.clientWidth)).toBeLessThan(720);
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    expect(await cssColor(page, "--run-1")).toBe(dark);
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
    await page.context().close();
  });

  test.each([400, 700, 1_000, 1_600])("nothing sticks out at %d px", async (width) => {
    for (const made of [report, manyRuns(), shortRun()]) {
      const page = await opened(made, undefined, { viewport: { width, height: 800 } });
      const inside = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
      expect(await inside()).toBe(true);
      if (made.runs.length > 1) {
        await page.locator('input[name="view"][value="compare"]').check();
        expect(await inside()).toBe(true);
      }
      await page.context().close();
    }
  });
});

describe("tables that are too wide", () => {
  test("seven runs fit at 1,280 px", async () => {
    const seven = reportOf([...report.runs.slice(0, 6), mixedLengths().runs[5]]);
    const page = await opened(seven);
    const room = page.locator("#figures .scroller");
    expect(await room.evaluate((e) => e.scrollWidth - e.clientWidth)).toBeLessThanOrEqual(0);
    expect(await page.locator("#figures .scroll-there").isVisible()).toBe(false);
    await page.context().close();
  });

  test("more say so, and a press moves on and back", async () => {
    const page = await opened(manyRuns(), undefined, { reducedMotion: "reduce" });
    await fold(page.locator("#figures summary"));
    const there = page.locator("#figures .scroll-there");
    const left = () => page.locator("#figures .scroller").evaluate((e) => e.scrollLeft);
    expect(await there.innerText()).toContain("more to the right");
    for (let press = 0; press < 10 && (await there.innerText()).includes("more"); press++) {
      const before = await left();
      await there.click();
      await settled(page);
      expect(await left()).toBeGreaterThan(before);
    }
    expect(await there.innerText()).toContain("back to the left");
    await there.click();
    expect(await left()).toBe(0);
    await page.context().close();
  });
});

describe("size", () => {
  test("one run of one minute and one without any second", async () => {
    const page = await opened(shortRun());
    expect(await axes(page, "graph-whole")).toMatchObject({ xMin: 0, xMax: 60 });
    expect(await page.locator('input[name="view"]').count()).toBe(0);
    await page.context().close();
    const empty = { ...runOf({ ...SHAPES[0], length: 0 }, 1), latency_bins: [], metrics: {}, findings: [] };
    const blank = await opened(reportOf([{ ...empty, status: "failed" }]));
    expect(await blank.locator("#graph-whole .graph-note").innerText()).toBe("Nothing was measured.");
    expect(await blank.locator(".status-failed").count()).toBeGreaterThan(0);
    await blank.context().close();
  });

  test("a run of an earlier version has no row for what nobody counted", async () => {
    const run = runOf(SHAPES[0], 1);
    const series = { ...run.series, controller_busy_share: [] };
    const page = await opened(reportOf([{ ...run, series }]));
    const row = (name: string) => page.locator(".strip-row", { has: page.locator(`#graph-why-${name}`) });
    expect(await row("controllerBusy").isVisible()).toBe(false);
    expect(await row("channelBusy").isVisible()).toBe(true);
    await page.context().close();
  });

  test("two million seconds do not freeze the page", async () => {
    const n = 2_000_000;
    const base = runOf({ ...SHAPES[0], length: 100 }, 1);
    const column = (value: (i: number) => number) => Array.from({ length: n }, (_, i) => value(i));
    const iops = column((i) => (i % 9_973 === 0 ? 0 : 2_000 + ((i * 7_919) % 60_000)));
    const series = {
      ...base.series,
      time_s: column((i) => i),
      iops,
      latency_ns_p50: column((i) => 400_000 + (i % 1_000)),
      latency_ns_p99: [],
      latency_ns_max: [],
      waf: [],
      telemetry: {},
      die_busy_share: [],
      channel_busy_share: [],
      controller_busy_share: [],
    };
    const page = await opened(reportOf([{ ...base, series, steady_from_s: 1_400_000 }]));
    const drawn = await countDrawing(page);
    const [x, y] = await pointIn(page, "graph-whole", [0.3, 0.4]);
    for (let step = 0; step < 10; step++) await page.mouse.move(x + step, y);
    expect(await page.locator("#graph-whole .graph-tip").isVisible()).toBe(true);
    expect(await drawn(), "a pointer draws no curve anew").toBeLessThan(1_000);
    await page.locator("#graph-whole").focus();
    await page.keyboard.press("+");
    await settled(page);
    expect((await axes(page, "graph-whole")).xMax).toBeLessThan(n);
    const shapes = await drawn();
    expect(shapes, "the zoom draws").toBeGreaterThan(1_000);
    const pixels = await page
      .locator("canvas")
      .evaluateAll((all) =>
        (all as HTMLCanvasElement[]).reduce((sum, { width, height }) => sum + width * height, 0),
      );
    expect(shapes, "shapes follow pixels, not seconds").toBeLessThan(pixels / 2);
    await page.context().close();
  });
});
