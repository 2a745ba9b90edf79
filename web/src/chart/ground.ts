// The layer under the points: faint lines between the ticks, and the band of the zero line.

import { type LogScale, minorTicks } from "./axis";
import { canvasY, columnLine, rowLine, type Sheet } from "./sheet";

export function paintGround(sheet: Sheet, columns: readonly number[]): void {
  const { ctx, frame, ink } = sheet;
  const { x, y, pixelRatio } = frame;
  ctx.save();
  ctx.strokeStyle = ink.faint;
  ctx.lineWidth = pixelRatio;
  ctx.beginPath();
  if (y.kind === "log") for (const value of minorTicks(y)) rowLine(sheet, value);
  if (x.kind === "log") for (const value of minorTicks(x)) columnLine(sheet, value);
  for (const value of columns) columnLine(sheet, value);
  ctx.stroke();
  if (y.kind === "log" && y.zeroAt !== null) paintZeroBand(sheet, y, y.zeroAt);
  ctx.restore();
}

/** Below its edge the axis is no longer logarithmic; the ground shows it. */
function paintZeroBand(sheet: Sheet, y: LogScale, zeroAt: number): void {
  const { ctx, frame, ink } = sheet;
  const { box } = frame;
  const edge = canvasY(sheet, y.low);
  ctx.fillStyle = ink.faint;
  ctx.fillRect(box.left, edge, box.width, box.top + box.height - edge);
  ctx.strokeStyle = ink.mark;
  ctx.beginPath();
  rowLine(sheet, zeroAt);
  ctx.stroke();
}

/** Over the grid and under the points, at the foot of the band: no second is drawn there. */
export function paintZeroNote({ ctx, frame, ink }: Sheet, note: string): void {
  const { box, y, pixelRatio } = frame;
  if (note === "" || y.kind !== "log" || y.zeroAt === null) return;
  ctx.save();
  ctx.font = `${11.5 * pixelRatio}px ${ink.font}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const right = box.left + box.width - 6 * pixelRatio;
  const middle = box.top + box.height - 8 * pixelRatio;
  const width = ctx.measureText(note).width + 6 * pixelRatio;
  ctx.fillStyle = ink.faint;
  ctx.fillRect(right - width + 3 * pixelRatio, middle - 7 * pixelRatio, width, 14 * pixelRatio);
  ctx.fillStyle = ink.text;
  ctx.fillText(note, right, middle);
  ctx.restore();
}
