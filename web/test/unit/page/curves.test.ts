// The lines of a plot.

import { expect, test } from "vitest";
import { columnShapes } from "../../../src/view/results/curves";

test("no two columns of a run look alike", () => {
  const ends = ["mean", "median", "p99", "p99.9"];
  const mixed = ["read", "write"].flatMap((kind) => ends.map((end) => `${kind} ${end}`));
  const many = Array.from({ length: 12 }, (_, at) => `column ${at}`);
  for (const names of [ends, mixed, many]) {
    const shapes = columnShapes(names).map((shape) => JSON.stringify(shape));
    expect(new Set(shapes).size).toBe(names.length);
  }
  expect(columnShapes(mixed)[1]).toEqual({ color: 2, dashed: false });
  expect(columnShapes(mixed)[5]).toEqual({ color: 2, dashed: true });
});
