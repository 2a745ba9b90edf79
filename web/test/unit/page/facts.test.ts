// Facts of drives side by side.

import { describe, expect, test } from "vitest";
import { reportOf, runOf, SHAPES } from "../../../fixtures/report";
import { libraryOf } from "../../../src/data/load";
import type { RunView } from "../../../src/data/schema.gen";
import { factRows } from "../../../src/view/page/fact-rows";

const run = runOf({ ...SHAPES[0], kind: "simulated", length: 60 }, 1);
const bare: RunView = { ...run, target: { ...run.target, name: "Bare", facts: {} } };

function rows(...views: RunView[]): Map<string, (string | null)[]> {
  const found = factRows(libraryOf(reportOf(views)));
  const text = (value: string | undefined) => value?.replaceAll("\u202f", " ") ?? null;
  return new Map(found.map(({ label, cells }) => [label, cells.map((cell) => text(cell?.text))]));
}

describe("facts", () => {
  test("a row has a cell for each drive, and rows that nobody knows are left out", () => {
    const table = rows(run, bare);
    expect(table.get("Controller")).toEqual(["Fixture FX-1", null]);
    expect(table.get("Rated sequential read")).toEqual(["545 MB/s", null]);
    expect(table.get("Rated power, idle")).toEqual(["470 mW", null]);
    expect(table.get("Price")).toEqual(["439.99 USD", null]);
    expect(table.has("DRAM")).toBe(false);
    expect(rows(bare)).toEqual(new Map());
  });

  test("rated figures stand beside those that another test of the drive measured", () => {
    const corners = {
      ...run,
      test: "corners",
      run_id: "corners",
      metrics: { "corners.sequential_read.mb_per_s": 530.4 },
    };
    const table = rows(run, corners);
    expect(table.get("Simulated sequential read")).toEqual(["530 MB/s"]);
    expect([...table.keys()].indexOf("Simulated sequential read")).toBe(
      [...table.keys()].indexOf("Rated sequential read") + 1,
    );
  });

  test("a price per GB is that of the whole drive", () => {
    const details = { ...run.target.details, scale: "1/64" };
    const part = { ...run.target, capacity_bytes: run.target.capacity_bytes / 64, details };
    const perGb = rows(run).get("Price per GB");
    expect(perGb).toEqual(["0.917 USD/GB"]);
    expect(rows({ ...run, target: part }).get("Price per GB")).toEqual(perGb);
  });
});
