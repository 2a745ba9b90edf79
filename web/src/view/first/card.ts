// A card of the verdict for sharing: title, sentences and curves as a picture of 1200 by 630 points.

import { type App, color, cssColor, slotOf } from "../../app";
import { graphedTest } from "../../data/load";
import { overlayOf } from "../../data/overlay";
import { h } from "../../dom";
import { fileName } from "../parts/chart-tools";
import { save } from "../parts/picture";

const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 56;
/** Baseline of the last line of text; the curves stand below it. */
const TEXT_END = 330;

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

function drawCurves(ctx: CanvasRenderingContext2D, app: App, top: number): void {
  const overlay = overlayOf(app.products, graphedTest(app.library), app.store.state.variant);
  if (!overlay) return;
  const values = overlay.lines.flatMap((line) => line.values.filter((value) => value > 0));
  const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.log10);
  const bottom = HEIGHT - MARGIN - 24;
  overlay.lines.forEach((line, at) => {
    const slot = line.product === "" ? (at % 6) + 1 : slotOf(app, line.product);
    ctx.strokeStyle = slot > 0 ? color(slot) : cssColor("--mark");
    ctx.lineWidth = slot > 0 ? 3 : 1.5;
    ctx.beginPath();
    line.values.forEach((value, part) => {
      if (Number.isNaN(value)) return;
      const share = (Math.log10(Math.max(value, 10 ** low)) - low) / Math.max(0.1, high - low);
      const x = MARGIN + ((WIDTH - 2 * MARGIN) * part) / (line.values.length - 1);
      ctx.lineTo(x, bottom - share * (bottom - top));
    });
    ctx.stroke();
  });
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
    for (const line of wrapped(text, WIDTH - 2 * MARGIN, (one) => ctx.measureText(one).width)) {
      if (y + size > end) return;
      ctx.fillText(line, MARGIN, y + size);
      y += size * 1.35;
    }
  };
  write(title, 46, 700, "--ink", 180);
  y += 12;
  for (const sentence of sentences) write(sentence, 26, 400, "--ink", TEXT_END);
  drawCurves(ctx, app, Math.max(y + 24, TEXT_END - 60));
  y = HEIGHT - MARGIN + 4;
  write(
    `${app.library.report.tool_version}; random writes of every second, IOPS, log scale`,
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
