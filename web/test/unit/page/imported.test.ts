import { describe, expect, test } from "vitest";
import { importedRun } from "../../../fixtures/imported";
import { library } from "../../../fixtures/library";
import { bestValue, figureOf } from "../../../src/data/figures";
import { graphedHeading, libraryOf, plainName, runsBeside } from "../../../src/data/load";
import { pairOf } from "../../../src/data/pair";
import { type Product, productsOf } from "../../../src/data/products";
import { rankingOf } from "../../../src/data/ranking";
import type { Report, RunView } from "../../../src/data/schema.gen";
import { curvesOf } from "../../../src/data/tests";

const made = library(3, 120);

/** Faster than every other. */
function imported(change: Partial<RunView> = {}): RunView {
  return importedRun(made.runs[0], { metrics: { iops_steady_mean: 1e9 }, ...change });
}

const report: Report = { ...made, runs: [imported(), ...made.runs] };

function find(products: readonly Product[], name: string): Product {
  const found = products.find((product) => product.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

describe("an imported run", () => {
  test("is drawn beside the others, under its badge, and keeps its own section", () => {
    const all = libraryOf(report);
    expect(plainName(all.runs[0])).toBe("Somebody's Fixture (imported)");
    expect(graphedHeading(all)).toBe("Performance consistency");
    expect(runsBeside(all).some(({ view }) => view.test === "imported")).toBe(true);
    expect(find(productsOf(all), "Somebody's Fixture").source).toBe("imported");
  });

  test("is never ranked, whatever its value, and says why", () => {
    const ranking = rankingOf(
      productsOf(libraryOf(report)),
      "consistency",
      "iops_steady_mean",
      "default",
      [],
    );
    const own = ranking.entries.find(({ product }) => product.name === "Somebody's Fixture");
    expect(own).toMatchObject({ standing: "unlike", rank: null, value: 1e9 });
    expect(own?.reason).toBe("imported from fio-3.42, unknown: purge, fill");
    expect(ranking.ranked).toBe(3);
    expect(ranking.samples[0]?.view.test).toBe("consistency");
  });

  test("is not ranked among imported ones either", () => {
    const alone: Report = {
      ...made,
      runs: [imported(), imported({ run_id: "other", target: { ...imported().target, name: "Another" } })],
    };
    const products = productsOf(libraryOf(alone));
    expect(rankingOf(products, "consistency", "iops_steady_mean", "default", []).ranked).toBe(0);
    expect(bestValue(figureOf("iops_steady_mean"), libraryOf(alone).runs)).toBeNull();
    const [row] = pairOf([products[0], products[1]], "default")[0].rows;
    expect(row).toMatchObject({ ahead: null, difference: "not compared" });
  });

  test("of a simulated drive says both", () => {
    const target = { ...imported().target, kind: "simulated" };
    const all = libraryOf({ ...made, runs: [imported({ target }), ...made.runs] });
    expect(plainName(all.runs[0])).toBe("Somebody's Fixture (simulated, imported)");
  });

  test("has curves over the queue depth", () => {
    const tables = ["measured", "depths", "depths_sequential_64KiB_jobs1", "depths"];
    const drawn = curvesOf("imported", tables).map(({ table }) => table);
    expect(drawn).toEqual(["depths", "depths_sequential_64KiB_jobs1"]);
  });
});
