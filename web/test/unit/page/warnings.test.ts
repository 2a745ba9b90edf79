// Warnings of a run with many steps.

import { expect, test } from "vitest";
import { alike } from "../../../src/view/text/findings";

test("warnings that differ in names and numbers alone stand together", () => {
  const late = (step: string, most: string) =>
    `phase \`${step}\`: the longest latency, ${most}, is of a command that ended after it`;
  const slow = (step: string, rate: number) =>
    `phase \`${step}\`: the target did not keep up with a rate of poisson:${rate}`;
  const other = "the write cache was off";
  const warnings = [late("a", "839 ms"), slow("a", 100), late("b1", "1.1 s"), other, slow("b", 2_000)];
  expect(alike(warnings)).toEqual([
    [late("a", "839 ms"), late("b1", "1.1 s")],
    [slow("a", 100), slow("b", 2_000)],
    [other],
  ]);
});
