// The first screen, rankings, two drives side by side, exports, and what all readers need.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { commandsRun, fixtureReport, powerRuns, reportOf, trimRun } from "../../fixtures/report";
import { lab } from "./lab";
import { cssColor, fold, openDetails, violations } from "./page";

const many = library(20);

const still = { reducedMotion: "reduce" } as const;
const focusedId = (page: Page) => page.evaluate(() => document.activeElement?.id);
const hash = (page: Page) => page.evaluate(() => location.hash);

describe("at a glance", () => {
  const names = (page: Page) => page.locator(".glance tbody .product-name").allInnerTexts();
  const column = (page: Page, at: number) =>
    page
      .locator(`.glance tbody td:nth-of-type(${at}) .glance-button`)
      .evaluateAll((all) =>
        all.map((one) => Number.parseFloat((one.firstChild?.textContent ?? "").replaceAll(",", ""))),
      );

  test("the first screen has the verdict, its sources and every drive", async () => {
    const page = await lab.page(many);
    expect(await page.locator("#verdict .sentence").count()).toBe(5);
    expect(await page.locator(".sources").innerText()).toContain("19 drives simulated");
    expect(await page.locator(".sources").innerText()).toContain("1 drive measured on a drive");
    expect(await names(page)).toEqual([...new Set(many.runs.map(({ target }) => target.name))]);
    const top = await page.locator(".glance tbody tr").first().boundingBox();
    expect(top?.y ?? 9_999).toBeLessThan(900);
    await page.context().close();
  });

  test("a head sorts by click and by keyboard, both ways, and the address holds it", async () => {
    const page = await lab.page(many);
    const before = await names(page);
    const head = page.locator('[data-sort="consistency.iops_steady_mean"]');
    await head.click();
    const down = await column(page, 1);
    expect(down).toEqual([...down].sort((a, b) => b - a));
    expect(await page.locator("[aria-sort]").getAttribute("aria-sort")).toBe("descending");
    await page.keyboard.press("Enter");
    const up = await column(page, 1);
    expect(up).toEqual([...up].sort((a, b) => a - b));
    expect(await hash(page)).toContain("sort=-consistency.iops_steady_mean");
    await page.keyboard.press("Enter");
    expect(await names(page)).toEqual(before);
    const linked = await lab.page(many, "#sort=consistency.iops_steady_mean");
    expect(await column(linked, 1)).toEqual(down);
    await page.context().close();
    await linked.context().close();
  });

  test("the best five of a column are shaded, best darkest", async () => {
    const page = await lab.page(many, "#sort=consistency.iops_steady_mean");
    const ranks = await page
      .locator(".glance tbody td:nth-of-type(1)")
      .evaluateAll((cells) => cells.map((cell) => (cell as HTMLElement).dataset.rank ?? ""));
    expect(ranks).toEqual(["1", "2", "3", "4", "5", ...Array(15).fill("")]);
    await page.context().close();
  });

  test("a cell leads to its chart by arrows and Enter, and the link opens there", async () => {
    const page = await lab.page(many, "", still);
    await page.locator('.glance-button[tabindex="0"]').focus();
    for (let press = 0; press < 4; press++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await focusedId(page)).toBe("chart-corners-corners-random-read-iops");
    const address = await hash(page);
    expect(address).toContain("at=chart-corners-corners-random-read-iops");
    const linked = await lab.page(many, address, still);
    await expect.poll(() => focusedId(linked)).toBe("chart-corners-corners-random-read-iops");
    expect(
      await linked.evaluate(() => Math.abs(document.activeElement?.getBoundingClientRect().top ?? 999)),
    ).toBeLessThan(400);
    await page.context().close();
    await linked.context().close();
  });

  test("a figure of the verdict leads to the chart that shows it", async () => {
    const page = await lab.page(many, "", still);
    const link = page.locator("#verdict .verdict-link").first();
    const figure = (await link.innerText()).replace(" IOPS", "");
    await link.click();
    expect(await focusedId(page)).toBe("chart-consistency-iops-steady-mean");
    const values = await page.locator("#chart-consistency-iops-steady-mean .bar-value").allTextContents();
    expect(values).toContain(figure);
    await page.context().close();
  });

  test("an absent value has its reason", async () => {
    const lacking = {
      ...many,
      runs: many.runs.filter((run) => run.test !== "power" || run.target.kind !== "block"),
    };
    const spec = many.runs.at(-1)?.target.spec;
    const page = await lab.page({ ...lacking, left_out: [`${spec}: power: nothing tells what it draws`] });
    const cell = page.locator(".glance .absent").first();
    expect(await cell.textContent()).toBe("cannot: nothing tells what it draws");
    const chart = page.locator("#chart-power-power-idle-power-w-mean");
    await chart.scrollIntoViewIfNeeded();
    await expect
      .poll(() => chart.innerText())
      .toContain("Cannot: nothing tells what it draws: Fixture Library 20 240 GB.");
    await page.context().close();
  });
});

describe("the first screen", () => {
  const made = library(5);
  const wide = { viewport: { width: 1_400, height: 900 } };
  const bottom = async (page: Page, place: string) => {
    const box = await page.locator(place).first().boundingBox();
    return (box?.y ?? 9_999) + (box?.height ?? 0);
  };

  test("tells who wins and who loses, by how much and why, with all curves and the spare areas", async () => {
    const page = await lab.page({ ...made, title: "SSD review" }, "", wide);
    expect(await page.title()).toBe("Five drives: which keeps its pace?");
    expect(await page.locator("h1").innerText()).toBe("Five drives: which keeps its pace?");
    const means = made.runs.filter(({ test, span }) => test === "consistency" && span.variant === "default");
    const sorted = means.sort(
      (a, b) => (b.metrics.iops_steady_mean ?? 0) - (a.metrics.iops_steady_mean ?? 0),
    );
    const first = await page.locator("#verdict .sentence").first().innerText();
    expect(first).toContain(`${sorted[0].target.name}`);
    expect(first).toContain("keeps the most of 5 drives");
    expect(first).toMatch(new RegExp(`${sorted[4].target.name}.* keeps the least`));
    expect(await page.locator("#curves .many-line").count()).toBe(5);
    expect(await page.locator("#curves .first-label text").count()).toBe(5);
    expect(await bottom(page, "#curves svg")).toBeLessThan(900);
    expect(await bottom(page, "#glance-title")).toBeLessThan(900);
    expect(page.url()).not.toContain("#");
    const chosen = await page.locator('.glance tr[data-slot="1"] .product-name').innerText();
    expect(chosen, "it opens on the best drive").toBe(sorted[0].target.name);
    const slots = await page
      .locator(".glance tbody tr")
      .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.slot).sort());
    expect(slots).toEqual(["1", "2", "3", "4", "5"]);
    await page.context().close();
  });

  test("a press on a spare area moves every chart, and a step back undoes it", async () => {
    const page = await lab.page(made, "", wide);
    const label = () => page.locator("#curves .first-label text").first().textContent();
    const bar = () => page.locator("#chart-consistency-iops-steady-mean .bar-value").first().textContent();
    const before = [await label(), await bar()];
    await page.locator('#curves [data-variant="25%"]').click();
    expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.variant)).toBe("25%");
    const after = [await label(), await bar()];
    for (const at of [0, 1]) expect(after[at]).not.toBe(before[at]);
    const heads = await page.locator(".legend tbody .variant").allInnerTexts();
    expect(heads).toEqual(Array(5).fill("25% spare"));
    await page.goBack();
    await expect.poll(label).toBe(before[0]);
    expect(await bar()).toBe(before[1]);
    await page.context().close();
  });

  test("a press on a name brings its curve forward among grey ones", async () => {
    const page = await lab.page(made, "", wide);
    await page.locator(".glance .product-button").nth(1).click();
    const slots = () =>
      page
        .locator("#curves .many-line")
        .evaluateAll(
          (all) => all.map((one) => (one as SVGElement).dataset.slot).filter((slot) => slot !== "0").length,
        );
    expect(await slots()).toBe(2);
    await page.locator(".glance .product-button").nth(1).click();
    expect(await slots()).toBe(5);
    await page.context().close();
  });

  test("of one drive has its name and a curve for each spare area", async () => {
    const page = await lab.page({ ...library(1), title: "SSD review" }, "", wide);
    expect(await page.locator("h1").innerText()).toBe("Fixture Library 01 480 GB");
    const labels = await page.locator("#curves .first-label text").allTextContents();
    expect(labels).toHaveLength(2);
    expect(labels.sort().map((label) => label.replace(/ {2}.*/, ""))).toEqual([
      "25% spare: as a 380\u202fGB drive",
      "as sold",
    ]);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(9_000);
    await page.context().close();
  });

  test("of five drives is at most 12,000 px tall, and asks what a drive is best for", async () => {
    const page = await lab.page(made, "", wide);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(12_000);
    expect(await page.locator(".best-for dt").allInnerTexts()).toEqual([
      "Desktop",
      "Write-heavy work",
      "Notebook",
      "Price",
    ]);
    await page.locator(".best-for .verdict-link").nth(1).click();
    expect(await focusedId(page)).toBe("chart-consistency-iops-steady-mean");
    expect(await page.locator("#suite-mean").innerText()).toContain("Geometric mean over");
    await page.context().close();
  });

  test("of two drives opens them side by side", async () => {
    const page = await lab.page(library(2), "", wide);
    expect(await page.locator(".pair tbody tr[data-figure]").count()).toBeGreaterThan(3);
    await page.context().close();
  });

  test("is a card of 1200 by 630 at a press", async () => {
    const page = await lab.page(made, "", wide);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#card").click()]);
    const content = await readFile(await download.path());
    expect([content.readUInt32BE(16), content.readUInt32BE(20)]).toEqual([1_200, 630]);
    await page.context().close();
  });
});

describe("ranked bars", () => {
  test.each([390, 1_400])("have names in full and begin at one line at %d px", async (width) => {
    const page = await lab.page(library(5), "", { viewport: { width, height: 900 } });
    const names = await page.locator("#consistency .bar-name").allTextContents();
    expect(names.filter((name) => name.includes("…"))).toEqual([]);
    expect(new Set(names)).toEqual(
      new Set(["01 480 GB", "02 240 GB", "03 480 GB", "04 240 GB", "05 480 GB"]),
    );
    const starts = await page
      .locator("main rect.bar")
      .evaluateAll((bars) => [...new Set(bars.map((bar) => bar.getAttribute("x")))]);
    expect(starts).toHaveLength(1);
    await page.context().close();
  });

  const chart = (page: Page) => page.locator("#chart-consistency-iops-steady-mean");

  test("all drives stand in one chart, best first, with lengths in proportion", async () => {
    const page = await lab.page(many);
    const rows = await chart(page)
      .locator(".bar-row")
      .evaluateAll((all) =>
        all.map((row) => ({
          value: Number((row.querySelector(".bar-value")?.textContent ?? "").replaceAll(",", "")),
          width: Number(row.querySelector(".bar")?.getAttribute("width")),
        })),
      );
    expect(rows).toHaveLength(20);
    for (const { value, width } of rows) expect(width / rows[0].width).toBeCloseTo(value / rows[0].value, 2);
    await page.context().close();
  });

  test("a press on a name brings the drive forward everywhere, and the address keeps it", async () => {
    const page = await lab.page(many);
    await page.locator(".glance .product-button").nth(4).click();
    const color = await cssColor(page, "--run-2");
    const key = "fixture-library-05-480-gb";
    const slots = await page
      .locator(`[data-product="${key}"]`)
      .evaluateAll((all) => [...new Set(all.map((one) => (one as HTMLElement).dataset.slot))]);
    expect(slots).toEqual(["2"]);
    const fill = await chart(page)
      .locator(`[data-product="${key}"] .bar`)
      .evaluate((bar) => getComputedStyle(bar).getPropertyValue("--slot").trim());
    expect(fill).toBe(color);
    const linked = await lab.page(many, await hash(page));
    expect(await linked.locator(`.glance tr[data-product="${key}"]`).getAttribute("data-slot")).toBe("2");
    await page.context().close();
    await linked.context().close();
  });

  test("simulated and real ones differ by shape", async () => {
    const page = await lab.page(many);
    expect(await chart(page).locator(".source-simulated").count()).toBe(19);
    expect(await chart(page).locator("circle.source-drive").count()).toBe(1);
    expect(await chart(page).locator(".bar-simulated").count()).toBe(19);
    await page.context().close();
  });

  test("follow the spare area of the page", async () => {
    const page = await lab.page(many);
    const values = () => chart(page).locator(".bar-value").allTextContents();
    const before = await values();
    await page.locator('input[name="spare"][value="25%"]').check();
    const after = await values();
    expect(after).not.toEqual(before);
    expect(await page.locator("#consistency .chart-conditions").first().innerText()).toContain("25% spare");
    await page.context().close();
  });

  test("any figure of a test is a choice away", async () => {
    const page = await lab.page(many);
    const section = page.locator("#test-sweep");
    expect(await section.locator(".bars").count()).toBe(0);
    await section.locator("select").selectOption("sweep.read_4KiB.mb_per_s");
    expect(await section.locator(".bars .bar-row").count()).toBe(20);
    expect(await section.locator(".bars h3").textContent()).toBe("Read 4KiB: data rate");
    await page.context().close();
  });

  test("curves of twenty drives show the chosen ones, and the one under the pointer", async () => {
    const page = await lab.page(many);
    const plot = page.locator("#test-sweep [data-plot=sizes]").first();
    expect(await plot.locator(".many-line").count()).toBe(20);
    expect(await plot.locator(".many-legend li:visible").count()).toBe(1);
    const line = plot.locator('.many-line[data-product="fixture-library-09-480-gb"]');
    await plot.scrollIntoViewIfNeeded();
    // A chart that scrolls into view may be laid out anew while the pointer is on its way.
    const hovered = async () => {
      await line
        .locator(".many-reach")
        .hover({ force: true, timeout: 2_000 })
        .catch(() => undefined);
      return plot.locator(".many-line:hover").count();
    };
    await expect.poll(hovered, { timeout: 30_000 }).toBe(1);
    await page.context().close();
  });
});

describe("passes", () => {
  test("of all drives share their axes, a plot for each pass", async () => {
    const page = await lab.page(many);
    await openDetails(page);
    await fold(page.locator("#test-linear .overlay summary"));
    const plots = page.locator("#test-linear .overlay [data-plot]");
    expect(await plots.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.plot))).toEqual([
      "write",
      "read",
    ]);
    expect(await plots.first().locator(".many-line").count()).toBe(20);
    expect(await plots.first().locator('[data-slot="1"]').count()).toBeGreaterThan(0);
    await page.context().close();
  });
});

describe("the events of a run", () => {
  test("stand in words above the strip, and follow the chosen run", async () => {
    const page = await lab.page(fixtureReport(), "#drive=fixture-stalling-240&spare=default");
    const kinds = () =>
      page.locator(".events li").evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.event));
    expect(await kinds()).toEqual(expect.arrayContaining(["fall", "steady"]));
    expect(await page.locator(".events").innerText()).toContain("240");
    await page.locator('input[name="drive"][value="fixture-file-on-a-real-disk"]').check();
    expect(await page.locator(".events").isVisible()).toBe(false);
    await page.context().close();
  });
});

describe("product against product", () => {
  test("every figure of two drives stands side by side, and the address holds the two", async () => {
    const page = await lab.page(many);
    await fold(page.locator("#pair summary"));
    await page.locator('#pair select[data-side="1"]').selectOption("fixture-library-04-240-gb");
    expect(await page.locator(".pair thead th").nth(2).innerText()).toContain("Fixture Library 04 240 GB");
    const few = await page.locator(".pair tr[data-figure]").count();
    await page.locator("#pair-every").check();
    expect(await page.locator(".pair tr[data-figure]").count()).toBeGreaterThan(3 * few);
    expect(await page.locator("#pair .felt li").allInnerTexts()).toHaveLength(4);
    const linked = await lab.page(many, await hash(page));
    expect(await linked.locator(".pair thead th").nth(2).innerText()).toContain("Fixture Library 04 240 GB");
    await page.context().close();
    await linked.context().close();
  });

  test("other conditions are said, and nobody is ahead", async () => {
    const [first, ...rest] = library(2).runs;
    const report = reportOf([{ ...first, config: { ...first.config, queue_depth: 1 } }, ...rest]);
    const page = await lab.page(report, "#pair=fixture-library-01-480-gb,fixture-library-02-240-gb");
    const group = page.locator(".pair tbody").first();
    expect(await group.innerText()).toContain("Not compared; the two runs differ in: queue depth.");
    expect(await group.locator(".ahead").count()).toBe(0);
    await page.context().close();
  });
});

describe("exports", () => {
  async function saved(page: Page, chart: string, label: string): Promise<{ name: string; content: Buffer }> {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(`${chart} .tool-button`, { hasText: label }).first().click(),
    ]);
    return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
  }

  test("bars are saved as SVG, PNG and CSV with their values", async () => {
    const page = await lab.page(many);
    const chart = "#chart-consistency-iops-steady-mean";
    const value = (await page.locator(`${chart} .bar-value`).first().textContent()) ?? "";
    const svg = await saved(page, chart, "SVG");
    expect(svg.name).toBe("steady-pace.svg");
    expect(svg.content.toString()).toContain(`>${value}</text>`);
    expect(svg.content.toString()).not.toContain("var(--");
    const png = await saved(page, chart, "PNG");
    expect(png.content.subarray(1, 4).toString()).toBe("PNG");
    expect(png.content.readUInt32BE(16)).toBeGreaterThan(500);
    const csv = (await saved(page, chart, "CSV")).content.toString();
    expect(csv.split("\n")).toHaveLength(21);
    expect(csv).toContain(`"${value}"`);
    await page.context().close();
  });

  /** Pixels of a picture that are not grey. */
  function coloured(page: Page, png: Buffer): Promise<number> {
    return page.evaluate(async (data) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), {
        width: image.width,
        height: image.height,
      });
      const context = canvas.getContext("2d");
      context?.drawImage(image, 0, 0);
      const pixels = context?.getImageData(0, 0, image.width, image.height).data ?? [];
      let count = 0;
      for (let at = 0; at < pixels.length; at += 4) {
        const [red, green, blue] = [pixels[at], pixels[at + 1], pixels[at + 2]];
        if (Math.max(red, green, blue) - Math.min(red, green, blue) > 40) count += 1;
      }
      return count;
    }, png.toString("base64"));
  }

  test("single commands are drawn as densities, said in words, and saved", async () => {
    const page = await lab.page(commandsRun());
    const charts = page.locator("#commands .density");
    expect(await charts.count()).toBe(2);
    const words = (await page.locator("#commands").innerText()).replaceAll("\u202f", " ");
    expect(words).toContain("Every command has a point.");
    expect(words).toMatch(
      /write: [\d,]+ commands: half within [\d.]+ [mµ]s, the slowest within [\d.]+ [mµ]s\./,
    );
    for (const name of ["latency", "offset"]) {
      const chart = `#commands [data-plot="${name}"]`;
      expect((await saved(page, chart, "SVG")).content.toString()).not.toContain("var(--");
      expect(await coloured(page, (await saved(page, chart, "PNG")).content)).toBeGreaterThan(5_000);
      const csv = (await saved(page, chart, "CSV")).content.toString().split("\n");
      expect(csv.length).toBeGreaterThan(1_000);
    }
    await page.context().close();
  });

  test("a table of every second shows its first rows, and all of them at a press", async () => {
    const page = await lab.page(reportOf(fixtureReport().runs.slice(0, 1)));
    const chart = page.locator("#consistency > .chart").first();
    await chart.locator(".tool-button", { hasText: "Table" }).click();
    expect(await chart.locator("tbody tr").count()).toBe(200);
    await chart.getByRole("button", { name: "Show all 2,000 rows" }).click();
    expect(await chart.locator("tbody tr").count()).toBe(2_000);
    expect((await saved(page, "#consistency > .chart", "CSV")).content.toString().split("\n")).toHaveLength(
      2_001,
    );
    await page.context().close();
  });

  test("every chart of the page offers its table, and pictures that open", async () => {
    const runs = [...fixtureReport().runs.slice(0, 2), ...trimRun().runs, ...powerRuns().runs];
    const page = await lab.page(reportOf(runs), "", { viewport: { width: 1_400, height: 900 } });
    await openDetails(page);
    const charts = page.locator("figure.chart:not(.power)");
    const count = await charts.count();
    expect(count).toBeGreaterThan(8);
    for (let at = 0; at < count; at++) {
      const chart = charts.nth(at);
      await chart.locator(".tool-button", { hasText: "Table" }).click();
      expect(await chart.locator(".chart-table tbody tr").count(), `chart ${at}`).toBeGreaterThan(0);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        chart.locator(".tool-button", { hasText: "SVG" }).click(),
      ]);
      const text = (await readFile(await download.path())).toString();
      const broken = await page.evaluate(
        (svg) =>
          new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("parsererror")?.textContent ??
          "",
        text,
      );
      expect(broken, `chart ${at}`).toBe("");
    }
    await page.context().close();
  });
});

describe("a page of twenty drives and the whole suite", () => {
  const size = (page: Page) =>
    page.evaluate(() => ({
      tall: document.documentElement.scrollHeight,
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      table: [...document.querySelectorAll(".scroller")].map((one) => one.scrollWidth - one.clientWidth)[0],
    }));

  test("is at most 12,000 px tall at 1,400 px, and needs no sideways scrolling at 1,280 px", async () => {
    const page = await lab.page(many, "", { viewport: { width: 1_400, height: 900 } });
    expect((await size(page)).tall).toBeLessThanOrEqual(12_000);
    await page.context().close();
    const narrower = await lab.page(many, "", { viewport: { width: 1_280, height: 900 } });
    const { wide, table } = await size(narrower);
    expect(wide).toBe(0);
    expect(table).toBeLessThanOrEqual(0);
    await narrower.context().close();
  });

  test("shows all drives beside each other within three screens", async () => {
    const page = await lab.page(many);
    const boxes = [page.locator(".glance tbody tr"), page.locator("#consistency .bars").first()];
    const [rows, bars] = await Promise.all(boxes.map((one) => one.last().boundingBox()));
    expect(rows?.y ?? 9_999).toBeLessThan(2 * 900);
    expect((bars?.y ?? 9_999) + (bars?.height ?? 0)).toBeLessThan(3 * 900);
    await page.context().close();
  });

  test("has charts side by side whose heads and rows are level", async () => {
    const page = await lab.page(many, "", { viewport: { width: 1_400, height: 900 } });
    const charts = await page.locator("#consistency .bars").evaluateAll((all) =>
      all.map((one) => {
        const top = (of: string) => one.querySelector(of)?.getBoundingClientRect().top ?? Number.NaN;
        return { chart: one.getBoundingClientRect().top, head: top("h3"), row: top(".bar-row") };
      }),
    );
    const level = charts.filter(({ chart }) => Math.abs(chart - charts[0].chart) < 1);
    expect(level.length).toBeGreaterThan(1);
    for (const { row } of level) expect(Math.abs(row - level[0].row)).toBeLessThan(1);
    await page.context().close();
  });

  test("fits a phone, and paper", async () => {
    const page = await lab.page(many, "", { viewport: { width: 390, height: 800 } });
    expect((await size(page)).wide).toBe(0);
    await page.emulateMedia({ media: "print" });
    expect(await page.locator(".tool-buttons:visible, .figure-picker:visible").count()).toBe(0);
    expect((await page.pdf()).length).toBeGreaterThan(20_000);
    await page.context().close();
  });
});

describe("axe finds no violation", () => {
  test.each(["light", "dark"] as const)("in the %s theme", async (colorScheme) => {
    const runs = [...fixtureReport().runs, ...trimRun().runs, ...powerRuns().runs];
    const page = await lab.page(reportOf(runs), "", { colorScheme });
    await fold(page.locator("#pair summary"));
    await page.locator(".tool-button", { hasText: "Table" }).first().click();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  test.each([390, 1_280])("with twenty drives at %d px", async (width) => {
    const page = await lab.page(many, "", { viewport: { width, height: 900 } });
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});
