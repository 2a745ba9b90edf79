// Points on a canvas: every occupied pixel is filled once, so two million points cost little more than two thousand.
// Runs that share a graph claim pixels in turn, second by second, so that none of them hides behind the last one.

import { lowerBound, projector, type Scale } from "./axis";

export interface Layer {
  x: Float64Array;
  y: Float64Array;
  color: string;
  /** Points left of this are not drawn. */
  startX?: number;
  /** `points` by default; `joined` adds a thin line where points stand far apart; `step` is a line alone. */
  style?: "points" | "joined" | "step";
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Frame {
  box: Box;
  x: Scale;
  y: Scale;
  pixelRatio: number;
}

interface Slice {
  layer: Layer;
  from: number;
  to: number;
}

/** Zeros are drawn taller by this factor, up to a number of CSS pixels: the words below them stay free. */
const ZERO_STRETCH = 4;
const ZERO_TALLEST = 10;

/** Place of zeros on a log scale, in pixels from the top; NaN if they have no place of their own. */
function zeroPlace({ box, y }: Frame): number {
  return y.kind === "log" ? projector(y, box.height, 0)(0) : Number.NaN;
}

let claimed = new Uint8Array(0);

function emptyGrid(cells: number): Uint8Array {
  if (claimed.length < cells) claimed = new Uint8Array(cells);
  else claimed.fill(0, 0, cells);
  return claimed;
}

function visible(layer: Layer, x: Scale): Slice {
  const left = Math.max(x.min, layer.startX ?? Number.NEGATIVE_INFINITY);
  const to = lowerBound(layer.x, x.max + 1e-9);
  return { layer, from: Math.min(to, lowerBound(layer.x, left - 1e-9)), to };
}

/** Pixels of each layer, packed as row * width + column. */
export function claimPixels(layers: readonly Layer[], frame: Frame): number[][] {
  const width = Math.ceil(frame.box.width) + 1;
  const height = Math.ceil(frame.box.height) + 1;
  const grid = emptyGrid(width * height);
  const toX = projector(frame.x, 0, frame.box.width);
  const toY = projector(frame.y, frame.box.height, 0);
  const slices = layers.map((layer) => visible(layer, frame.x));
  const pixels: number[][] = layers.map(() => []);
  const longest = slices.reduce((most, { from, to }) => Math.max(most, to - from), 0);
  for (let i = 0; i < longest; i++) {
    for (let k = 0; k < slices.length; k++) {
      const turn = (i + k) % slices.length;
      const { layer, from, to } = slices[turn];
      const index = from + i;
      if (index >= to) continue;
      const py = toY(layer.y[index]);
      if (!(py <= frame.box.height + 1)) continue;
      // Above the top: drawn on the edge, never dropped.
      const cell = (py < 0 ? 0 : Math.round(py)) * width + Math.round(toX(layer.x[index]));
      if (grid[cell] !== 0) continue;
      grid[cell] = 1;
      pixels[turn].push(cell);
    }
  }
  return pixels;
}

/** Side of a point in canvas pixels: smaller when crowded, larger when lonely. */
export function pointSize(points: number, frame: Frame): number {
  const cssWidth = frame.box.width / frame.pixelRatio;
  const perPixel = points / Math.max(1, cssWidth);
  const css = perPixel > 40 ? 1 : perPixel > 0.5 ? 2 : perPixel > 0.15 ? 3 : 4;
  return Math.max(1, Math.round(css * frame.pixelRatio));
}

export function paintPoints(ctx: CanvasRenderingContext2D, layers: readonly Layer[], frame: Frame): void {
  const { box } = frame;
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left - 2, box.top - 2, box.width + 4, box.height + 4);
  ctx.clip();
  for (const layer of layers) if (needsLine(layer, frame)) paintLine(ctx, layer, frame);
  const dotted = layers.filter((layer) => layer.style !== "step");
  const width = Math.ceil(box.width) + 1;
  const pixels = claimPixels(dotted, frame);
  const zeroRow = Math.round(zeroPlace(frame));
  dotted.forEach((layer, k) => {
    const { from, to } = visible(layer, frame.x);
    const size = pointSize(to - from, frame);
    const shift = Math.floor(size / 2);
    const left = Math.round(box.left) - shift;
    const top = Math.round(box.top) - shift;
    ctx.fillStyle = layer.color;
    for (const cell of pixels[k]) {
      const row = Math.floor(cell / width);
      // A second without any completion matters more than its few pixels.
      const height = row === zeroRow ? zeroHeight(size, frame) : size;
      ctx.fillRect(left + (cell % width), top + row - (height - size) / 2, size, height);
    }
  });
  ctx.restore();
}

function zeroHeight(size: number, { pixelRatio }: Frame): number {
  return Math.min(size * ZERO_STRETCH, Math.round(ZERO_TALLEST * pixelRatio));
}

/** Points that stand more than a few pixels apart get a line; denser ones form their own. */
function needsLine(layer: Layer, frame: Frame): boolean {
  const { from, to } = visible(layer, frame.x);
  if (layer.style === "step") return to > from;
  return layer.style === "joined" && to - from > 1 && (to - from) * 3 * frame.pixelRatio <= frame.box.width;
}

function paintLine(ctx: CanvasRenderingContext2D, layer: Layer, frame: Frame): void {
  const step = layer.style === "step";
  ctx.strokeStyle = layer.color;
  ctx.lineWidth = (step ? 2 : 1) * frame.pixelRatio;
  ctx.lineJoin = "round";
  ctx.globalAlpha = step ? 1 : 0.45;
  ctx.beginPath();
  trace(ctx, layer, frame, step);
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function trace(ctx: CanvasRenderingContext2D, layer: Layer, frame: Frame, step: boolean): void {
  const { box } = frame;
  const { from, to } = visible(layer, frame.x);
  const toX = projector(frame.x, box.left, box.left + box.width);
  const toY = projector(frame.y, box.top + box.height, box.top);
  let lastY = Number.NaN;
  for (let i = from; i < to; i++) {
    const px = toX(layer.x[i]);
    const py = Math.max(box.top, toY(layer.y[i]));
    if (Number.isNaN(lastY)) ctx.moveTo(px, py);
    else {
      if (step) ctx.lineTo(px, lastY);
      if (!Number.isNaN(py)) ctx.lineTo(px, py);
    }
    lastY = py;
  }
}
