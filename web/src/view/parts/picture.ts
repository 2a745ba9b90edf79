// Charts as pictures of their own: SVG with all styles inside, and the same as PNG.

import { visible } from "../../data/format";

const NAMESPACE = "http://www.w3.org/2000/svg";
/** Styles that are also attributes of a shape or a text. */
const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "display",
  "visibility",
];
const HEAD = 30;
const MARGIN = 12;
/** Pixels of a PNG for each of the page. */
const PNG_SCALE = 2;

/** A copy that looks the same without the style sheet of the page: every style is an attribute. */
function standAlone(drawn: SVGElement): SVGElement {
  const copy = document.createElementNS(NAMESPACE, drawn.tagName) as SVGElement;
  for (const { name, value } of drawn.attributes) {
    if (name !== "class" && name !== "style") copy.setAttribute(name, value);
  }
  const style = getComputedStyle(drawn);
  for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name));
  for (const node of drawn.childNodes) {
    if (node instanceof SVGElement) copy.append(standAlone(node));
    else if (node instanceof Text) copy.append(node.data);
  }
  return copy;
}

function element(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = visible(text);
  return made;
}

/** Points of a canvas have no shapes: they become an image inside the SVG. */
function ofCanvas(canvas: HTMLCanvasElement): SVGElement {
  const size = { width: canvas.clientWidth, height: canvas.clientHeight };
  const box = element("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  box.append(element("image", { ...size, href: canvas.toDataURL("image/png") }));
  return box;
}

function drawingsOf(chart: HTMLElement): { drawn: SVGElement; width: number; height: number }[] {
  const found = chart.querySelectorAll<SVGElement | HTMLCanvasElement>(".drawing > svg, .uplot canvas");
  return [...found].map((one) => {
    const { width, height } = one.getBoundingClientRect();
    return { drawn: one instanceof HTMLCanvasElement ? ofCanvas(one) : standAlone(one), width, height };
  });
}

/** The drawings of a chart, one below the other, with its title, as the text of an SVG file. */
export function pictureOf(chart: HTMLElement, title: string): string {
  const drawings = drawingsOf(chart);
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const width = Math.max(...drawings.map((one) => one.width), 100) + 2 * MARGIN;
  const height = drawings.reduce((sum, one) => sum + one.height, HEAD + MARGIN);
  const root = element("svg", { xmlns: NAMESPACE, width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(element("title", {}, title), element("rect", { width, height, fill: color("--paper") }));
  const unit = chart.querySelector(".chart-unit")?.textContent ?? "";
  const font = { "font-family": "sans-serif", "font-size": 14, fill: color("--ink") };
  root.append(element("text", { ...font, x: MARGIN, y: 20 }, unit === "" ? title : `${title} (${unit})`));
  let y = HEAD;
  for (const { drawn, width: own, height: tall } of drawings) {
    for (const [name, value] of Object.entries({ x: MARGIN, y, width: own, height: tall })) {
      drawn.setAttribute(name, String(value));
    }
    root.append(drawn);
    y += tall;
  }
  return new XMLSerializer().serializeToString(root);
}

/** The policy of the page allows images from `data:` alone. */
export async function pngOf(picture: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * PNG_SCALE;
  canvas.height = image.naturalHeight * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))), "image/png"),
  );
}

export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
