// A card of the verdict for sharing: title, sentences and curves as a picture of 1200 by 630 points.

import { type App, color, cssColor, slotOf } from "../../app";
import { iops } from "../../data/format";
import { graphedTest } from "../../data/load";
import { overlayOf } from "../../data/overlay";
import { h } from "../../dom";
import { fileName } from "../parts/chart-tools";
import { save } from "../parts/picture";
import { axisOf, pushedApart, spareSlot } from "./curves";

const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 56;
/** Baseline of the last line of text; the curves stand below it. */
const TEXT_END = 345;
/** Height of a line, in sizes of its letters. */
const LINE = 1.35;

/** Lines of words that are at most so wide. */
export function wrapped(text: string, most: number, widthOf: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ +/)) {
    const last = lines[lines.length - 1];
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && widthOf(longer) <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Room right of the curves for their names. */
const NAMES = 400;
const NAME_ROW = 24;
/** More curves than these have names for the coloured ones alone. */
const NAMED_MAX = 8;

function drawCurves(ctx: CanvasRenderingContext2D, app: App, top: number, family: string): void {
  const overlay = overlayOf(app.products, graphedTest(app.library), app.store.state.variant);
  if (!overlay) return;
  const [bottom, right] = [HEIGHT - MARGIN - 24, WIDTH - MARGIN - NAMES];
  const { place } = axisOf(overlay, top, bottom);
  const labels = overlay.lines.flatMap((line, at) => {
    const slot = line.product === "" ? spareSlot(at) : slotOf(app, line.product);
    const ink = slot > 0 ? color(slot) : cssColor("--mark");
    ctx.strokeStyle = ink;
    ctx.lineWidth = slot > 0 ? 3 : 1.5;
    ctx.beginPath();
    line.values.forEach((value, part) => {
      if (Number.isNaN(value)) return;
      ctx.lineTo(MARGIN + ((right - MARGIN) * part) / (line.values.length - 1), place(value));
    });
    ctx.stroke();
    const end = place(line.values.findLast((value) => !Number.isNaN(value)) ?? 1);
    const isNamed = slot > 0 || overlay.lines.length <= NAMED_MAX;
    return isNamed
      ? [{ end, y: end, ink, text: `${line.name} ${line.kept === null ? "" : iops(line.kept)}` }]
      : [];
  });
  ctx.font = `400 16px ${family}`;
  for (const { y, ink, text } of pushedApart(labels, top, bottom, NAME_ROW)) {
    ctx.fillStyle = ink;
    ctx.fillRect(right + 12, y - 6, 12, 12);
    ctx.fillStyle = cssColor("--ink");
    ctx.fillText(text, right + 32, y + 6, NAMES - 32);
  }
}

/** The card in the theme of the page. */
export function cardOf(app: App, title: string, sentences: readonly string[]): HTMLCanvasElement {
  const canvas = h("canvas", { width: WIDTH, height: HEIGHT });
  const ctx = canvas.getContext("2d");
  if (!ctx) return canvas;
  ctx.fillStyle = cssColor("--paper");
  ctx.fillRect(0, 0, WIDTH, HEIGHT);
  const family = getComputedStyle(document.body).fontFamily;
  let y = MARGIN;
  const write = (text: string, size: number, weight: number, ink: string, end: number) => {
    ctx.font = `${weight} ${size}px ${family}`;
    ctx.fillStyle = cssColor(ink);
    const lines = wrapped(text, WIDTH - 2 * MARGIN, (one) => ctx.measureText(one).width);
    // No sentence is cut.
    if (y + lines.length * size * LINE > end) return;
    for (const line of lines) {
      ctx.fillText(line, MARGIN, y + size);
      y += size * LINE;
    }
  };
  write(title, 46, 700, "--ink", TEXT_END);
  y += 12;
  for (const sentence of sentences) write(sentence, 26, 400, "--ink", TEXT_END);
  drawCurves(ctx, app, y + 24, family);
  y = HEIGHT - MARGIN;
  write(
    `${app.library.report.tool_version}; random writes over time, IOPS, log scale`,
    18,
    400,
    "--ink-2",
    HEIGHT,
  );
  return canvas;
}

/** The button that saves the card. */
export function cardButton(app: App): HTMLElement {
  const press = () => {
    const title = document.querySelector("h1")?.textContent ?? "";
    const sentences = [...document.querySelectorAll("#verdict .sentence")].map(
      (one) => one.textContent?.trim() ?? "",
    );
    cardOf(app, title, sentences).toBlob((blob) => blob && save(fileName(title, "png"), blob), "image/png");
  };
  return h(
    "button",
    {
      type: "button",
      class: "button quiet-button",
      id: "card",
      title: "A picture of the verdict, 1200 by 630",
      onclick: press,
    },
    "Save a card",
  );
}
