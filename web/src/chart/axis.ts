// Scales and their ticks. Pure arithmetic; no library, no DOM.

export interface LinearScale {
  kind: "linear";
  min: number;
  max: number;
}

/** `low` is the lowest value with a place of its own; zeros stand on `zeroAt`, below it. */
export interface LogScale {
  kind: "log";
  min: number;
  max: number;
  low: number;
  zeroAt: number | null;
}

export type Scale = LinearScale | LogScale;

export interface Tick {
  value: number;
  label: string;
}

/** Share of the axis below `low` for the zero line. */
const ZERO_BAND = 0.16;
/** Depth of the line in that band; below it there must be room for a word. */
const ZERO_DEPTH = 0.4;
const FLOAT_SLACK = 1e-9;

export function linear(min: number, max: number): LinearScale {
  return { kind: "linear", min, max: max > min ? max : min + 1 };
}

/** Decade at the bottom, 1-2-5 at the top, at least two decades: a smaller range makes noise look like drama. */
export function logScale(lowest: number, highest: number, withZero: boolean): LogScale {
  const max = roundUp(highest > 0 ? highest : 1, [1, 2, 5, 10]);
  const wanted = lowest > 0 && lowest <= highest ? lowest : max;
  const low = 10 ** Math.floor(Math.log10(Math.min(wanted, max / 100)) + FLOAT_SLACK);
  if (!withZero) return { kind: "log", min: low, max, low, zeroAt: null };
  const band = (max / low) ** (ZERO_BAND / (1 - ZERO_BAND));
  return { kind: "log", min: low / band, max, low, zeroAt: low / band ** ZERO_DEPTH };
}

/** A log axis over this range, rounded outwards to 1, 2 or 5; for ratios, which seldom span two decades. */
export function logFrom(lowest: number, highest: number): LogScale {
  const low = 1 / roundUp(1 / lowest, [1, 2, 5, 10]);
  const max = roundUp(Math.max(highest, low * 2), [1, 2, 5, 10]);
  return { kind: "log", min: low, max, low, zeroAt: null };
}

function roundUp(value: number, steps: readonly number[]): number {
  const decade = 10 ** Math.floor(Math.log10(value) + FLOAT_SLACK);
  const step = steps.find((s) => s * decade >= value * (1 - FLOAT_SLACK)) ?? 10;
  return clean(step * decade);
}

/** 0.30000000000000004 must not reach a label. */
function clean(value: number): number {
  return Number(value.toPrecision(12));
}

/** A distance between ticks in which people count. */
export function niceStep(span: number, count: number): number {
  return roundUp(span / count, [1, 2, 2.5, 5, 10]);
}

/** Smallest whole number of nice steps that covers `highest`. */
export function niceTop(highest: number, count = 5): number {
  if (!(highest > 0)) return 1;
  const step = niceStep(highest, count);
  return clean(Math.ceil(highest / step - FLOAT_SLACK) * step);
}

export function linearTicks(scale: LinearScale, count: number, label: (value: number) => string): Tick[] {
  return ticksEvery(niceStep(scale.max - scale.min, Math.max(1, count)), scale, label);
}

/** Ticks at whole numbers only: there is nothing between two seconds. */
export function wholeTicks(scale: LinearScale, count: number, label: (value: number) => string): Tick[] {
  const span = scale.max - scale.min;
  const nice = niceStep(span, Math.max(1, count));
  const step = Number.isInteger(nice) ? nice : roundUp(Math.max(1, nice), [1, 2, 5, 10]);
  return ticksEvery(step, scale, label);
}

function ticksEvery(step: number, scale: LinearScale, label: (value: number) => string): Tick[] {
  const ticks: Tick[] = [];
  for (let k = Math.ceil(scale.min / step - FLOAT_SLACK); k * step <= scale.max * (1 + FLOAT_SLACK); k++) {
    const value = clean(k * step);
    ticks.push({ value, label: label(value) });
  }
  return ticks;
}

/** Between 1 and 2 there must be room for two labels. */
const DECADE_WITH_STEPS = 48;
const LABEL_PIXELS = 14;

/** Decades, with 2 and 5 named if an axis of that length has room; the zero line comes first. */
export function logTicks(
  scale: LogScale,
  label: (value: number) => string,
  pixels = Number.POSITIVE_INFINITY,
): Tick[] {
  const decades = Math.log10(scale.max / scale.low);
  const perDecade = pixels / Math.log10(scale.max / scale.min);
  const multiples = decades < 2.5 && perDecade >= DECADE_WITH_STEPS ? [1, 2, 5] : [1];
  const values = multiplesOf(scale, multiples);
  // The end of an axis that is no decade: named, if its label stays clear of the last one.
  const beyond = Math.log10(scale.max / (values.at(-1) ?? scale.max)) * perDecade;
  if (Number.isFinite(pixels) && beyond >= LABEL_PIXELS) values.push(scale.max);
  const ticks: Tick[] = scale.zeroAt === null ? [] : [{ value: scale.zeroAt, label: "0" }];
  for (const value of values) ticks.push({ value, label: label(value) });
  return ticks;
}

/** Faint lines between the decades. */
export function minorTicks(scale: LogScale): number[] {
  const decades = Math.log10(scale.max / scale.low);
  return decades > 5 ? [] : multiplesOf(scale, [2, 3, 4, 5, 6, 7, 8, 9]);
}

function multiplesOf(scale: LogScale, multiples: readonly number[]): number[] {
  const values: number[] = [];
  for (
    let exponent = Math.floor(Math.log10(scale.low) + FLOAT_SLACK);
    10 ** exponent <= scale.max;
    exponent++
  ) {
    for (const multiple of multiples) {
      const value = clean(multiple * 10 ** exponent);
      if (value >= scale.low * (1 - FLOAT_SLACK) && value <= scale.max * (1 + FLOAT_SLACK))
        values.push(value);
    }
  }
  return values;
}

/**
 * From a value to a place between `from` (at `min`) and `to` (at `max`). NaN for a value without a place: unknown, or
 * zero on a log scale without a zero line.
 */
export function projector(scale: Scale, from: number, to: number): (value: number) => number {
  if (scale.kind === "linear") {
    const factor = (to - from) / (scale.max - scale.min);
    return (value) => from + (value - scale.min) * factor;
  }
  const base = Math.log10(scale.min);
  const factor = (to - from) / (Math.log10(scale.max) - base);
  const zero = scale.zeroAt === null ? Number.NaN : from + (Math.log10(scale.zeroAt) - base) * factor;
  return (value) => (value > 0 ? from + (Math.log10(value) - base) * factor : value <= 0 ? zero : Number.NaN);
}

/** The visual middle. */
export function middleOf({ kind, min, max }: Scale): number {
  return kind === "log" ? Math.sqrt(min * max) : (min + max) / 2;
}

export interface Extent {
  lowest: number;
  highest: number;
  zeros: number;
}

/** Smallest positive value, largest value and number of zeros, from index `from` on. */
export function extend(extent: Extent, values: Float64Array, from = 0): Extent {
  let { lowest, highest, zeros } = extent;
  for (let i = from; i < values.length; i++) {
    const value = values[i];
    if (value > 0) {
      if (value < lowest) lowest = value;
      if (value > highest) highest = value;
    } else if (value === 0) zeros++;
  }
  return { lowest, highest, zeros };
}

export const NO_EXTENT: Extent = { lowest: Number.POSITIVE_INFINITY, highest: 0, zeros: 0 };

/** Index of the first element that is not below `value`; the array is sorted. */
export function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Indices of the first and the last element within the scale, the last one before the first if there is none. */
export function rangeWithin(sorted: Float64Array, { min, max }: Scale): [first: number, last: number] {
  let end = lowerBound(sorted, max);
  while (sorted[end] === max) end++;
  return [lowerBound(sorted, min), end - 1];
}

/** Index of the element nearest to `value`, or -1 if there is none. */
export function nearestIndex(sorted: Float64Array, value: number): number {
  const at = lowerBound(sorted, value);
  if (at === sorted.length) return at - 1;
  if (at === 0) return 0;
  return value - sorted[at - 1] <= sorted[at] - value ? at - 1 : at;
}

/** Steps through long columns: the top does not need every second of a week. */
const SAMPLES = 20_000;

function strideOf(columns: readonly Float64Array[]): number {
  return Math.max(1, Math.ceil(columns.reduce((sum, column) => sum + column.length, 0) / SAMPLES));
}

/**
 * Top of a linear axis for columns with rare spikes. A single extreme second must not flatten the rest, so that
 * spikes above twice the 99.5th percentile are drawn on the upper edge instead.
 */
export function robustTop(columns: readonly Float64Array[]): { top: number; clipped: boolean } {
  const stride = strideOf(columns);
  const sample: number[] = [];
  let highest = 0;
  for (const column of columns) {
    for (let i = 0; i < column.length; i++) {
      if (column[i] > highest) highest = column[i];
      if (i % stride === 0 && column[i] >= 0) sample.push(column[i]);
    }
  }
  sample.sort((a, b) => a - b);
  const usual = sample[Math.floor(sample.length * 0.995)] ?? 0;
  const clipped = usual > 0 && highest > usual * 2;
  return { top: niceTop(clipped ? usual * 1.15 : highest, 2), clipped };
}

interface Weighted {
  values: Float64Array;
  weights: Float64Array;
}

/**
 * The value below which all but one in a hundred of the weight lies in every column, and whether anything lies far
 * beyond it. Each column counts for itself, so that an extreme one keeps its range among calm ones.
 */
export function weightedTop(columns: readonly Weighted[]): { lowest: number; top: number; clipped: boolean } {
  const { lowest, highest } = columns.reduce((extent, { values }) => extend(extent, values), NO_EXTENT);
  if (highest === 0) return { lowest: 1, top: 1, clipped: false };
  const stride = strideOf(columns.map(({ values }) => values));
  const usual = Math.max(...columns.map((column) => weightedQuantile(column, 0.99, stride)));
  const clipped = usual > 0 && highest > usual * 2;
  return { lowest, top: clipped ? usual * 1.15 : highest, clipped };
}

function weightedQuantile({ values, weights }: Weighted, share: number, stride: number): number {
  const sample: [value: number, weight: number][] = [];
  for (let i = 0; i < values.length; i += stride) {
    if (values[i] > 0 && weights[i] > 0) sample.push([values[i], weights[i]]);
  }
  sample.sort(([a], [b]) => a - b);
  let left = sample.reduce((sum, [, weight]) => sum + weight, 0) * share;
  for (const [value, weight] of sample) {
    left -= weight;
    if (left <= 0) return value;
  }
  return sample.at(-1)?.[0] ?? 0;
}
