// Lines with a label across the plot, at a value of one axis.

import { lowerBound, projector } from "./axis";
import type { Frame, Layer } from "./painter";
import { canvasX, canvasY, columnLine, rowLine, type Sheet } from "./sheet";

export interface Mark {
  axis: "x" | "y";
  value: number;
  label: string;
  /** Whether the label is at the foot and to the left, where a falling curve leaves room. */
  foot?: boolean;
}

export interface LabelBox {
  left: number;
  width: number;
  y: number;
  height: number;
}

const LABEL_HEIGHT = 16;
/** Rows for the label of a vertical line, from the top of the plot. */
const ROWS = [0, 1, 2, 3, 4, 5];

function inside(mark: Mark, { frame }: Sheet): boolean {
  const scale = mark.axis === "x" ? frame.x : frame.y;
  return mark.value >= scale.min && mark.value <= scale.max;
}

export function paintMarkLines(sheet: Sheet, marks: readonly Mark[]): void {
  const { ctx, frame, ink } = sheet;
  ctx.save();
  ctx.strokeStyle = ink.mark;
  ctx.lineWidth = frame.pixelRatio;
  ctx.setLineDash([4 * frame.pixelRatio, 3 * frame.pixelRatio]);
  ctx.beginPath();
  for (const mark of marks.filter((one) => inside(one, sheet))) {
    if (mark.axis === "x") columnLine(sheet, mark.value);
    else rowLine(sheet, mark.value);
  }
  ctx.stroke();
  ctx.restore();
}

export function paintMarkLabels(sheet: Sheet, marks: readonly Mark[], layers: readonly Layer[]): void {
  const { ctx, frame, ink } = sheet;
  ctx.save();
  ctx.font = `${11.5 * frame.pixelRatio}px ${ink.font}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const taken: LabelBox[] = [];
  for (const mark of marks.filter((one) => inside(one, sheet) && one.label !== "")) {
    const places = labelPlaces(sheet, mark, ctx.measureText(mark.label).width);
    const free = places.filter((one) => !hits(one, taken));
    const place = free.find((one) => !coversPoints(one, layers, sheet.frame)) ?? free[0];
    if (!place) continue;
    taken.push(place);
    paintLabel(sheet, mark.label, place);
  }
  ctx.restore();
}

function paintLabel({ ctx, frame, ink }: Sheet, label: string, { left, width, y, height }: LabelBox): void {
  const margin = 3 * frame.pixelRatio;
  ctx.globalAlpha = 0.82;
  ctx.fillStyle = ink.surface;
  ctx.fillRect(left - margin, y - height / 2, width + 2 * margin, height);
  ctx.globalAlpha = 1;
  ctx.fillStyle = ink.text;
  ctx.fillText(label, left, y);
}

/** Labels closer than this in one row would read as one; a share of their height. */
const LABEL_GAP = 1.5;

export function hits(box: LabelBox, taken: readonly LabelBox[]): boolean {
  const gap = LABEL_GAP * box.height;
  return taken.some(
    (other) =>
      box.left < other.left + other.width + gap &&
      other.left < box.left + box.width + gap &&
      Math.abs(box.y - other.y) < box.height,
  );
}

/** Points examined for one place; of very many a sample is enough. */
const LOOKED_AT = 2_000;

/** Whether a label would hide points, on a linear x axis; a line it may cross. */
export function coversPoints(box: LabelBox, layers: readonly Layer[], { box: plot, x, y }: Frame): boolean {
  const fromX = (px: number) => x.min + ((px - plot.left) / plot.width) * (x.max - x.min);
  const toY = projector(y, plot.top + plot.height, plot.top);
  return layers.some((layer) => {
    if (layer.style === "step") return false;
    const from = lowerBound(layer.x, Math.max(fromX(box.left), layer.startX ?? x.min));
    const to = lowerBound(layer.x, fromX(box.left + box.width));
    const stride = Math.max(1, Math.ceil((to - from) / LOOKED_AT));
    for (let i = from; i < to; i += stride) {
      const top = Math.max(plot.top, toY(layer.y[i]));
      if (Math.abs(top - box.y) < box.height * 0.6) return true;
    }
    return false;
  });
}

/** Places for a label, best first. A label without a place is omitted; its line stays. */
function labelPlaces(sheet: Sheet, mark: Mark, width: number): LabelBox[] {
  return mark.axis === "y" ? besideRow(sheet, mark, width) : besideColumn(sheet, mark, width);
}

function besideRow(sheet: Sheet, mark: Mark, width: number): LabelBox[] {
  const { box, pixelRatio } = sheet.frame;
  const height = LABEL_HEIGHT * pixelRatio;
  const y = canvasY(sheet, mark.value);
  const left = box.left + box.width - width - 6 * pixelRatio;
  return [y - 10 * pixelRatio, y + 10 * pixelRatio]
    .filter((one) => one > box.top + height / 2 && one < box.top + box.height - height / 2)
    .map((one) => ({ left, width, y: one, height }));
}

function besideColumn(sheet: Sheet, mark: Mark, width: number): LabelBox[] {
  const { box, pixelRatio } = sheet.frame;
  const height = LABEL_HEIGHT * pixelRatio;
  const x = canvasX(sheet, mark.value);
  const after = x + 5 * pixelRatio;
  const before = x - width - 5 * pixelRatio;
  if (mark.foot) {
    const left = Math.max(box.left + 5 * pixelRatio, before);
    return [{ left, width, y: box.top + box.height - 12 * pixelRatio, height }];
  }
  return ROWS.map((row) => box.top + (11 + 17 * row) * pixelRatio)
    .flatMap((y) => [after, before].map((left) => ({ left, width, y, height })))
    .filter(({ left }) => left >= box.left && left + width + 4 * pixelRatio <= box.left + box.width);
}
