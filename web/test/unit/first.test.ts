import { describe, expect, test } from "vitest";
import { library } from "../../fixtures/library";
import { markedRun } from "../../fixtures/marks";
import { reportOf, runOf, SHAPES } from "../../fixtures/report";
import { appOf, chooseVariant, slotOf } from "../../src/app";
import { purposes, suiteMean } from "../../src/data/best";
import { noticeText } from "../../src/data/felt";
import { libraryOf, spareName } from "../../src/data/load";
import { means, overlayOf } from "../../src/data/overlay";
import { pairOf } from "../../src/data/pair";
import { productsOf, shortNames } from "../../src/data/products";
import { rankingOf } from "../../src/data/ranking";
import type { Report } from "../../src/data/schema.gen";
import { contest, lead, verdict } from "../../src/data/verdict";
import { wrapped } from "../../src/view/first/card";
import { pushedApart } from "../../src/view/first/curves";
import { titleOf } from "../../src/view/page/header";

const made = library(5, 120);

function rankOf(report: Report, products = productsOf(libraryOf(report))) {
  return (test: string, metric: string) => rankingOf(products, test, metric, "default", []);
}

const textOf = (parts: readonly (string | { text: string })[]) =>
  parts.map((part) => (typeof part === "string" ? part : part.text)).join("");

describe("the first screen", () => {
  test("its title names drives and question, or the one drive, or what somebody chose", () => {
    const products = productsOf(libraryOf(made));
    const untitled = { ...made, title: "SSD review" };
    expect(titleOf(untitled, products)).toBe("Five drives: which keeps its pace?");
    expect(titleOf(untitled, products.slice(0, 1))).toBe("Fixture Library 01 480 GB");
    expect(titleOf({ ...made, title: "Bay 3" }, products)).toBe("Bay 3");
    const without = made.runs.filter(({ test }) => test !== "consistency");
    const others = productsOf(libraryOf(reportOf(without)));
    expect(titleOf(untitled, others)).toBe("Five drives: which is fastest?");
    const idle = productsOf(libraryOf(reportOf(made.runs.map((run) => ({ ...run, test: "idle" })))));
    expect(titleOf(untitled, idle)).toMatch(/^Five drives: what does a pause give back, .*\?$/);
  });

  test("a test without a sentence of its own has the best and the last drive in its first figure", () => {
    const drives = new Map(made.runs.map((run) => [run.target.name, run]));
    const rankAt = (shares: number[]) => {
      const runs = [...drives.values()].slice(0, shares.length).map((run, at) => ({
        ...run,
        test: "idle",
        metrics: { "idle.writes_1800s.regained_share": shares[at] },
      }));
      return rankOf(reportOf(runs))("idle", "idle.writes_1800s.regained_share");
    };
    const three = rankAt([0.5, 0.788, 0]);
    const [best, last] = [three.entries[0], three.entries[2]].map(({ product }) => product.plain);
    expect(textOf(lead(three) ?? [])).toBe(
      `In “Writes 1800s: regained after a pause” ${best} is the best of 3 drives, 78.8%; ${last} is the last, 0%.`,
    );
    const pair = pairOf([three.entries[0].product, three.entries[1].product], "default");
    const main = pair.flatMap(({ rows }) => rows.filter(({ isMain }) => isMain));
    expect(main.map(({ figure }) => figure.name)).toEqual(["idle.writes_1800s.regained_share"]);
    expect(lead(rankAt([0.5, 0.5]))).toBeNull();
    expect(lead(rankAt([0.5]))).toBeNull();
  });

  test("its first sentence names the winner, the loser, and the one that stops", () => {
    const rank = rankOf(made);
    const { entries } = rank("consistency", "iops_steady_mean");
    const told = textOf(contest(rank) ?? []);
    expect(told).toContain(`${entries[0].product.plain} keeps the most of 5 drives, ${entries[0].text} IOPS`);
    expect(told).toContain(`${entries[4].product.plain} keeps the least, ${entries[4].text}`);
    const waits = made.runs.map((run, at) => ({
      ...run,
      metrics: { ...run.metrics, latency_ns_max: at === 0 ? 2.8e9 : 1e6 },
    }));
    const slow = textOf(contest(rankOf({ ...made, runs: waits })) ?? []);
    expect(slow).toMatch(/stops for up to 2\.80\ss at a time\.$/);
  });

  test("a mark that leaves the rank stands beside the pace", () => {
    const runs = made.runs.map((run) => markedRun(run, "unsettled"));
    const told = textOf(contest(rankOf({ ...made, runs })) ?? []);
    expect(told).toContain(" of random writes (snapshot); ");
    expect(told).toMatch(/keeps the least, [\d,]+ \(snapshot\)/);
  });

  test("it has no contest of one drive, and none where all keep the same", () => {
    expect(contest(rankOf(reportOf([runOf(SHAPES[0], 1)])))).toBeNull();
    const same = made.runs.map((run) => ({ ...run, metrics: { ...run.metrics, iops_steady_mean: 5_000 } }));
    expect(textOf(contest(rankOf({ ...made, runs: same })) ?? [])).toContain(
      "All 5 drives keep the same pace within 3%: 5,000 IOPS",
    );
  });

  test("a pace that was told is not told again", () => {
    const rank = rankOf(made);
    const { product } = rank("consistency", "iops_steady_mean").entries[0];
    const [first] = verdict(product, rank, true);
    expect(textOf(first)).toContain(`${product.plain} varies from one second to the next by`);
    expect(textOf(first)).not.toContain("keeps");
  });

  test("it opens on the best drive, with all drives in one graph and a colour each", () => {
    const app = appOf(libraryOf(made), "");
    const best = rankOf(made)("consistency", "iops_steady_mean").entries[0].product;
    expect(app.store.state).toMatchObject({ view: "compare", drive: best.key, variant: "default" });
    expect(app.store.state.compare).toHaveLength(5);
    const slots = app.products.map(({ key }) => slotOf(app, key));
    expect(slots.toSorted()).toEqual([1, 2, 3, 4, 5]);
    const compared = app.store.state.compare.map(
      (id) => app.library.runs.find((run) => run.id === id)?.drive.key ?? "",
    );
    expect(compared.map((key) => slotOf(app, key))).toEqual([1, 2, 3, 4, 5]);
    const linked = appOf(libraryOf(made), "#drive=fixture-library-01-480-gb&spare=25%25");
    expect(linked.store.state).toMatchObject({ view: "single", drive: "fixture-library-01-480-gb" });
  });

  test("a spare area moves a comparison of drives, and none of variants", () => {
    const app = appOf(libraryOf(made), "");
    chooseVariant(app, "25%");
    const variants = () =>
      app.store.state.compare.map((id) => app.library.runs.find((run) => run.id === id)?.variant);
    expect(variants()).toEqual(Array(5).fill("25%"));
    const own = app.library.drives[0].runs.map(({ id }) => id);
    app.store.set({ compare: own });
    chooseVariant(app, "default");
    expect(app.store.state.compare).toEqual(own);
  });
});

describe("curves of all drives", () => {
  const [even] = SHAPES;

  test("are means of parts of the time, seconds without a command included", () => {
    const { runs } = libraryOf(reportOf([runOf({ ...even, length: 100 }, 1)]));
    const values = means(runs[0], 200, 20);
    expect(values).toHaveLength(20);
    const { iops } = runs[0].columns;
    expect(values[0]).toBeCloseTo(iops.slice(0, 10).reduce((sum, value) => sum + value, 0) / 10);
    expect(values.slice(0, 10).every((value) => value > 0)).toBe(true);
    expect(values.slice(10).every(Number.isNaN)).toBe(true);
  });

  test("have a band where runs repeat, and none of a single run", () => {
    const shape = { ...even, length: 300, fallAt: 30, settleAt: 60 };
    const other = runOf({ ...shape, name: "Fixture Other 480" }, 9);
    const again = { ...runOf(shape, 2), run_id: "again" };
    const report = reportOf([runOf(shape, 1), again, other]);
    const overlay = overlayOf(productsOf(libraryOf(report)), "consistency", "default");
    expect(overlay?.lines.map(({ band }) => band !== null)).toEqual([true, false]);
    const [line] = overlay?.lines ?? [];
    line.band?.forEach(([low, high], at) => {
      expect(low <= line.values[at] && line.values[at] <= high).toBe(true);
    });
  });

  test("labels at their ends are apart and within the chart", () => {
    const labels = [50, 51, 52, 200, 201].map((end) => ({ end, y: end }));
    const places = pushedApart(labels, 10, 205).map(({ y }) => y);
    for (let at = 1; at < places.length; at++) expect(places[at] - places[at - 1]).toBeGreaterThanOrEqual(16);
    expect(Math.max(...places)).toBeLessThanOrEqual(205);
  });
});

describe("names", () => {
  test("lose the words that all of them begin with, and no more", () => {
    const products = productsOf(libraryOf(made));
    expect(shortNames(products).common).toEqual(["Fixture Library"]);
    expect([...shortNames(products).names.values()][0]).toBe("01 480 GB");
    const one = products.slice(0, 1);
    expect(shortNames(one).names.get(one[0].key)).toBe("Fixture Library 01 480 GB");
  });

  test("of spare areas tell the drive that a vendor would sell", () => {
    expect(spareName("default", 480e9)).toBe("as sold");
    expect(spareName("25%", 360e9)).toBe("25% spare: as a 360\u202fGB drive");
    expect(spareName("25%", null)).toBe("25% spare");
    expect(spareName("4GiB", 4 * 2 ** 30)).toBe("first 4GiB");
  });
});

describe("what a buyer asks", () => {
  test("whether a person notices is told in words", () => {
    expect(noticeText(12, 100)).toBe("daily, 12");
    expect(noticeText(0, 3)).toBe("rarely");
    expect(noticeText(0, 0)).toBe("none");
    expect(noticeText(0, null)).toBe("none");
  });

  test("each purpose has its best drive, with those that are the same", () => {
    const found = purposes(rankOf(made));
    expect(found.map(({ name }) => name)).toEqual(["Desktop", "Write-heavy work", "Notebook"]);
    for (const { best, ranking } of found) expect(best[0]).toBe(ranking.entries[0]);
    const same = made.runs.map((run) => ({ ...run, metrics: { ...run.metrics, iops_steady_mean: 5_000 } }));
    expect(purposes(rankOf({ ...made, runs: same }))[1].best).toHaveLength(5);
  });

  test("the mean over the suite is geometric, over tests that rank every drive by rates and times", () => {
    const products = productsOf(libraryOf(made));
    const mean = suiteMean(products, rankOf(made, products));
    expect(mean?.shares).toHaveLength(5);
    expect(mean?.shares.every(({ share }) => share > 0 && share <= 1)).toBe(true);
    const two = products.slice(0, 2);
    // 4 against 1 in three tests; the jitter is no speed.
    const figures = [
      "iops_steady_mean",
      "iops_steady_jitter_share",
      "corners.random_read.iops",
      "latency.random_read.latency_ns_mean",
    ];
    const runs = made.runs
      .filter(({ target }) => two.some(({ name }) => name === target.name))
      .filter(({ test }) => ["consistency", "corners", "latency"].includes(test))
      .map((run) => {
        const flat = figures
          .filter((metric) => metric in run.metrics)
          .map((metric) => [metric, run.target.name === two[0].name ? 4 : 1]);
        return { ...run, metrics: Object.fromEntries(flat) };
      });
    const report = reportOf(runs);
    const own = productsOf(libraryOf(report));
    const told = suiteMean(own, rankOf(report, own));
    expect(told?.tests).toBe(3);
    expect(told?.shares.map(({ share }) => Number(share.toFixed(3)))).toEqual([0.63, 0.397]);
  });
});

test("words of a card are broken into lines", () => {
  expect(wrapped("one two three four", 9, (text) => text.length)).toEqual(["one two", "three", "four"]);
});
