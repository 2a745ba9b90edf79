// A drawing surface: a canvas, the place of the plot on it with its scales, and the colours of the theme.

import { projector } from "./axis";
import type { Frame } from "./painter";

export interface Ink {
  text: string;
  grid: string;
  faint: string;
  axis: string;
  mark: string;
  surface: string;
  font: string;
}

export interface Sheet {
  ctx: CanvasRenderingContext2D;
  frame: Frame;
  ink: Ink;
}

export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: color("--ink-2"),
    grid: color("--grid"),
    faint: color("--grid-faint"),
    axis: color("--rule"),
    mark: color("--mark"),
    surface: color("--surface"),
    font: style.getPropertyValue("--font").trim(),
  };
}

export function canvasX({ frame: { box, x } }: Sheet, value: number): number {
  return projector(x, box.left, box.left + box.width)(value);
}

export function canvasY({ frame: { box, y } }: Sheet, value: number): number {
  return projector(y, box.top + box.height, box.top)(value);
}

/** Adds a line across the plot to the path. */
export function rowLine(sheet: Sheet, value: number): void {
  const { ctx, frame } = sheet;
  const y = Math.round(canvasY(sheet, value)) + 0.5;
  ctx.moveTo(frame.box.left, y);
  ctx.lineTo(frame.box.left + frame.box.width, y);
}

/** Adds a line from top to bottom of the plot to the path. */
export function columnLine(sheet: Sheet, value: number): void {
  const { ctx, frame } = sheet;
  const x = Math.round(canvasX(sheet, value)) + 0.5;
  ctx.moveTo(x, frame.box.top);
  ctx.lineTo(x, frame.box.top + frame.box.height);
}
