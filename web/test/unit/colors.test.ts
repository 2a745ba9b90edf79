// The colours are chosen once; this test shows that they are distinguishable.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync(new URL("../../src/style.css", import.meta.url), "utf8");
type Rgb = [number, number, number];

function block(start: string): Map<string, string> {
  const from = css.indexOf(start);
  const text = css.slice(css.indexOf("{", from) + 1, css.indexOf("}", from));
  return new Map([...text.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map((m) => [m[1], m[2].trim()]));
}

const themes = {
  light: block(":root {"),
  dark: block(':root[data-theme="dark"]'),
  "dark by preference": block(":root:not([data-theme])"),
};

const linearized = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);

function rgb(hex: string): Rgb {
  return [1, 3, 5].map((at) => linearized(Number.parseInt(hex.slice(at, at + 2), 16) / 255)) as Rgb;
}

const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(rgb(a)), luminance(rgb(b))].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, full severity, on linear RGB. */
const SIGHT: Record<string, number[]> = {
  usual: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function seen(hex: string, m: number[]): Rgb {
  const [r, g, b] = rgb(hex);
  return [0, 3, 6].map((row) => {
    const value = m[row] * r + m[row + 1] * g + m[row + 2] * b;
    return Math.min(1, Math.max(0, value));
  }) as Rgb;
}

/** Distance in OKLab, times 100. */
function distance(a: Rgb, b: Rgb): number {
  const [p, q] = [oklab(a), oklab(b)];
  return 100 * Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test("dark is the same however it was chosen", () => {
  expect([...themes["dark by preference"]]).toEqual([...themes.dark]);
});

describe.each(Object.entries(themes))("%s", (_, colors) => {
  const color = (name: string) => colors.get(name) ?? "#000000";
  const runs = [1, 2, 3, 4, 5, 6].map((k) => color(`--run-${k}`));

  test.each([
    ["--ink", "--paper"],
    ["--ink", "--surface"],
    ["--ink-2", "--paper"],
    ["--ink-2", "--surface"],
    ["--ink-2", "--grid-faint"],
    ["--accent", "--paper"],
    ["--ink", "--accent-soft"],
    ["--simulated", "--simulated-soft"],
    ["--warn", "--warn-soft"],
    ["--bad", "--bad-soft"],
    ["--bad", "--paper"],
  ])("text %s on %s meets AA", (text, ground) => {
    expect(contrast(color(text), color(ground))).toBeGreaterThanOrEqual(4.5);
  });

  test("points stand out from the graph's ground", () => {
    for (const run of runs) expect(contrast(run, color("--surface"))).toBeGreaterThanOrEqual(3);
  });

  test.each(Object.entries(SIGHT))("runs differ under %s", (_sight, matrix) => {
    for (let i = 0; i < runs.length; i++) {
      for (let k = 0; k < i; k++) {
        const apart = distance(seen(runs[i], matrix), seen(runs[k], matrix));
        expect(apart, `run ${i + 1} and run ${k + 1}`).toBeGreaterThan(10);
      }
    }
  });
});
