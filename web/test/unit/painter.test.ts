import { describe, expect, test } from "vitest";
import { linear, logScale } from "../../src/chart/axis";
import { claimPixels, type Frame, type Layer, pointSize } from "../../src/chart/painter";

const frame: Frame = {
  box: { left: 50, top: 10, width: 100, height: 100 },
  x: linear(0, 100),
  y: linear(0, 100),
  pixelRatio: 1,
};
const cell = (column: number, row: number) => row * 101 + column;

function layer(points: [number, number][], more: Partial<Layer> = {}): Layer {
  return {
    x: Float64Array.from(points, ([x]) => x),
    y: Float64Array.from(points, ([, y]) => y),
    color: "black",
    ...more,
  };
}

describe("claiming pixels", () => {
  test("a point claims the pixel at its place", () => {
    const [pixels] = claimPixels([layer([[20, 70]])], frame);
    expect(pixels).toEqual([cell(20, 30)]);
  });

  test("a pixel is claimed once", () => {
    const crowd = layer(Array.from({ length: 10_000 }, (_, i) => [i / 10_000, 50]));
    expect(claimPixels([crowd], frame)[0].length).toBeLessThanOrEqual(2);
  });

  test("runs take turns, so that none hides another", () => {
    const same: [number, number][] = Array.from({ length: 100 }, (_, i) => [i, 50]);
    const counts = claimPixels([layer(same), layer(same)], frame).map((pixels) => pixels.length);
    expect(counts).toEqual([50, 50]);
  });

  test("what is outside the seconds shown is not drawn, what is above stands on the edge", () => {
    const zoomed = { ...frame, x: linear(10, 20) };
    const points = layer([
      [5, 50],
      [15, 900],
      [25, 50],
    ]);
    expect(claimPixels([points], zoomed)[0]).toEqual([cell(50, 0)]);
  });

  test("the unknown is left out, zero on a log scale is not", () => {
    const y = logScale(1, 100, true);
    const points = layer([
      [10, Number.NaN],
      [20, 0],
    ]);
    expect(claimPixels([points], { ...frame, y })[0]).toHaveLength(1);
    expect(claimPixels([points], { ...frame, y: logScale(1, 100, false) })[0]).toHaveLength(0);
  });

  test("points left of the start are left out", () => {
    const points = layer(
      [
        [10, 50],
        [60, 50],
      ],
      { startX: 50 },
    );
    expect(claimPixels([points], frame)[0]).toEqual([cell(60, 50)]);
  });

  test("a column shorter than its seconds does no harm", () => {
    const points = { ...layer([[10, 50]]), y: new Float64Array(0) };
    expect(claimPixels([points], frame)[0]).toEqual([]);
  });
});

test("two million points claim each pixel at most once", () => {
  const n = 2_000_000;
  const x = Float64Array.from({ length: n }, (_, i) => i);
  const y = Float64Array.from({ length: n }, (_, i) => 1 + ((i * 7_919) % 90_000));
  const wide = {
    ...frame,
    box: { left: 0, top: 0, width: 1_200, height: 400 },
    x: linear(0, n),
    y: logScale(1, 90_000, true),
  };
  const [pixels] = claimPixels([{ x, y, color: "black" }], wide);
  expect(pixels.length).toBeGreaterThan(10_000);
  expect(new Set(pixels).size).toBe(pixels.length);
});

test("lonely points are larger than crowded ones", () => {
  expect(pointSize(60, frame)).toBeGreaterThan(pointSize(1_000_000, frame));
});
