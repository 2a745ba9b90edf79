import { expect, test } from "vitest";
import { linear } from "../../src/chart/axis";
import { coversPoints, hits } from "../../src/chart/marks";

const frame = {
  box: { left: 0, top: 0, width: 100, height: 100 },
  x: linear(0, 100),
  y: linear(0, 100),
  pixelRatio: 1,
};
const layer = { x: Float64Array.of(10, 50), y: Float64Array.of(90, 150), color: "black" };
const box = (left: number, y: number) => ({ left, y, width: 20, height: 16 });

test("two labels in one row stay well apart, or would read as one", () => {
  expect(hits(box(0, 10), [box(30, 10)])).toBe(true);
  expect(hits(box(0, 10), [box(45, 10)])).toBe(false);
  expect(hits(box(0, 10), [box(30, 27)])).toBe(false);
});

test("a label knows the points it would hide, those on the upper edge too", () => {
  expect(coversPoints(box(5, 10), [layer], frame)).toBe(true);
  expect(coversPoints(box(5, 40), [layer], frame)).toBe(false);
  expect(coversPoints(box(20, 10), [layer], frame)).toBe(false);
  expect(coversPoints(box(40, 5), [layer], frame)).toBe(true);
  expect(coversPoints(box(40, 5), [{ ...layer, startX: 60 }], frame)).toBe(false);
});
