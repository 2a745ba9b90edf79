import { describe, expect, test } from "vitest";
import { amongOthers } from "../../fixtures/context";
import { appOf, contextShown, ranked, rankedAmong } from "../../src/app";
import { libraryOf } from "../../src/data/load";
import { overlayOf } from "../../src/data/overlay";
import { fromHash, toHash } from "../../src/state";

const STEADY = ["consistency", "iops_steady_mean"] as const;

function page(own: number, beside: number, hash = "") {
  return appOf(libraryOf(amongOthers(own, beside)), hash);
}

describe("drives of the reference library", () => {
  test("have a place by their value, and no rank", () => {
    const app = page(3, 5);
    const { entries, ranked: count } = rankedAmong(app, ...STEADY);
    const values = entries.map(({ value }) => value ?? 0);
    expect(values).toHaveLength(8);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(count).toBe(3);
    const own = entries.filter(({ product }) => !product.context);
    expect(own.map(({ rank }) => rank)).toEqual([1, 2, 3]);
    expect(entries.filter(({ rank }) => rank === null)).toHaveLength(5);
    expect(entries.filter(({ label }) => label === "stale")).toHaveLength(1);
  });

  test("stay out of what is said of the drives of the page", () => {
    const app = page(3, 5);
    expect(app.products).toHaveLength(3);
    expect(ranked(app, ...STEADY).entries).toHaveLength(3);
    expect(app.library.runs.every(({ drive }) => !drive.key.startsWith("reference-"))).toBe(true);
  });

  test("stand beside runs under their own conditions alone, whatever their hosts", () => {
    const report = amongOthers(1, 4);
    const [first, ...rest] = report.context?.runs ?? [];
    const other = { ...first, config: { ...first.config, duration_s: 7 } };
    const changed = { ...report, context: { runs: [other, ...rest], stale: [] } };
    const app = appOf(libraryOf(changed), "");
    expect(first.test).toBe("consistency");
    const { entries } = rankedAmong(app, ...STEADY);
    expect(entries).toHaveLength(4);
    expect(entries.map(({ rank }) => rank)).toEqual(Array(4).fill(null));
  });

  test("have curves without a gap beside those of the page", () => {
    const { products, context } = page(2, 3);
    const overlay = overlayOf(products, "consistency", "default", context);
    const lines = overlay?.lines ?? [];
    expect(lines.map((line) => line.context !== undefined)).toEqual([false, false, true, true, true]);
    for (const { values } of lines) expect(values.some(Number.isNaN)).toBe(false);
  });

  test("leave the page by the address", () => {
    const app = page(2, 3, "#alone=1");
    expect(contextShown(app)).toEqual([]);
    expect(rankedAmong(app, ...STEADY).entries).toHaveLength(2);
    expect(fromHash(toHash(app.store.state)).hasContext).toBe(false);
  });
});
