// The picture of the first screen: the pace of all drives over time in one chart, each line with its name at its end.

import { type App, chooseVariant, contextShown, reviewed, slotOf, variantsOf } from "../../app";
import { iops, seconds, separated, shortCount } from "../../data/format";
import { graphedTest, isSpan, spareName, variantsTitle } from "../../data/load";
import { type Line, type Overlay, overlayOf } from "../../data/overlay";
import { shortNames } from "../../data/products";
import { h } from "../../dom";
import { COMPARE_MAX } from "../../state";
import { type TableData, withTools } from "../parts/chart-tools";
import { toggleMark } from "../parts/colors";
import { sourceShape, sourceSign } from "../parts/source";
import { drawing, svg, textWidth } from "../results/svg";

const HEIGHT = 268;
const TOP = 8;
const BOTTOM = 34;
const LEFT = 46;
/** Distance of two labels at the ends of lines. */
const LABEL_ROW = 16;
/** Below this width the names stand in the list under the chart. */
const NARROW = 560;
/** More lines than this have names for the coloured ones, the best and the last alone. */
const NAMED_MAX = 12;

interface Label {
  line: Line;
  /** Place of the line among all. */
  at: number;
  text: string;
  /** Height of the end of the line, and of its label. */
  end: number;
  y: number;
}

interface Axis {
  ticks: number[];
  place: (value: number) => number;
}

/** Rates over decades between two heights; a second without a command stands on the lower edge. */
export function axisOf({ lines }: Overlay, top: number, bottom: number): Axis {
  const values = lines.flatMap(({ values, band }) => [...values, ...(band ?? []).flat()]);
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const low = positive.length === 0 ? 1 : Math.min(...positive);
  const high = Math.max(...positive, 2 * low);
  const [from, to] = [Math.log10(low) - 0.08, Math.log10(high) + 0.05];
  const decades = Array.from({ length: 9 }, (_, at) => 10 ** at).flatMap((ten) => [ten, 2 * ten, 5 * ten]);
  const ticks = decades.filter((value) => Math.log10(value) >= from && Math.log10(value) <= to);
  const place = (value: number) =>
    top + (bottom - top) * (1 - Math.max(0, (Math.log10(Math.max(value, 1e-9)) - from) / (to - from)));
  return { ticks, place };
}

/** The colour of a spare area among those of a single drive. */
export function spareSlot(at: number): number {
  return Math.min(at + 1, COMPARE_MAX);
}

function lastOf({ values }: Line): number {
  return values.findLastIndex((value) => !Number.isNaN(value));
}

/** Names of lines, by value and pushed apart. */
export function pushedApart<T extends { end: number; y: number }>(
  labels: T[],
  top: number,
  bottom: number,
  row = LABEL_ROW,
): T[] {
  labels.sort((a, b) => a.end - b.end);
  let free = top;
  for (const label of labels) {
    label.y = Math.max(label.end, free);
    free = label.y + row;
  }
  // The last ones may hang over the edge: they push those above back.
  let limit = bottom;
  for (const label of labels.toReversed()) {
    label.y = Math.min(label.y, limit);
    limit = label.y - row;
  }
  return labels;
}

function xTicks(most: number, width: number): number[] {
  const step = [10, 20, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000, 1e5].find(
    (one) => most / one <= Math.max(2, width / 110),
  );
  return Array.from({ length: Math.floor(most / (step ?? most)) + 1 }, (_, at) => at * (step ?? most));
}

function pathOf(values: readonly number[], x: (at: number) => number, y: (value: number) => number): string {
  let gap = true;
  return values
    .map((value, at) => {
      if (Number.isNaN(value)) {
        gap = true;
        return "";
      }
      const step = `${gap ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      gap = false;
      return step;
    })
    .join("");
}

class Curves {
  readonly element = h("figure", { class: "chart first-curves" });
  private width: number | undefined;
  private overlays = new Map<string, Overlay | null>();

  constructor(
    private app: App,
    private recolor: (within: ParentNode) => void,
  ) {
    this.update();
  }

  private overlay(): Overlay | null {
    const { products, library, store } = this.app;
    const { variant, hasContext } = store.state;
    const key = `${variant} ${hasContext}`;
    const known = this.overlays.get(key);
    const overlay =
      known === undefined
        ? overlayOf(products, graphedTest(library), variant, contextShown(this.app))
        : known;
    this.overlays.set(key, overlay);
    return overlay;
  }

  update(): void {
    const overlay = this.overlay();
    this.element.hidden = overlay === null;
    if (!overlay) return;
    const title = overlay.lines.some(({ product }) => product !== "")
      ? "The pace of every drive under random writes"
      : "The pace under random writes";
    const each = separated(Math.max(1, Math.round(overlay.seconds / overlay.points)));
    const unit = `IOPS, log scale; a point is the mean of ${each} s`;
    const draw = (width: number) => {
      this.width = width;
      return this.draw(overlay, width);
    };
    const picture = drawing(HEIGHT, draw, this.recolor, this.width);
    this.element.setAttribute("aria-label", `${title}: ${this.sentence(overlay)}`);
    this.element.replaceChildren(
      h(
        "div",
        { class: "chart-head" },
        h("h2", { class: "first-title" }, title),
        h("span", { class: "quiet chart-unit" }, unit),
        spareSwitch(this.app),
      ),
      picture,
      this.list(overlay),
    );
    withTools(this.element, title, () => tableOf(overlay));
    this.recolor(this.element);
  }

  private sentence({ lines }: Overlay): string {
    const own = lines.filter(({ context }) => !context);
    return own.map((line) => `${line.name} ${keptText(line)}`).join(", ");
  }

  /** On a narrow screen the names stand here. */
  private list({ lines }: Overlay): HTMLElement {
    return h(
      "ul",
      { class: "first-names small", "aria-hidden": "true" },
      lines
        .filter(({ context }) => !context)
        .map((line, at) =>
          h(
            "li",
            { class: "signed", ...this.colorOf(line, at) },
            this.signOf(line),
            h("span", { class: "curve-key", style: "border-color: var(--slot)" }),
            `${this.nameOf(line)} ${keptText(line)}`,
          ),
        ),
    );
  }

  private signOf({ product: key }: Line): HTMLElement | null {
    const product = this.app.products.find((one) => one.key === key);
    return product ? sourceSign(product.source) : null;
  }

  private nameOf({ product, name, run, context }: Line): string {
    if (context) return context.name;
    if (product !== "") return shortNames(this.app.products).names.get(product) ?? name;
    return spareName(run.view.span.variant, run.view.span.span_bytes);
  }

  private colorOf({ product, context }: Line, at: number): Record<string, string | number> {
    if (context) return { "data-slot": "context" };
    return product === "" ? { "data-slot": spareSlot(at) } : { "data-product": product };
  }

  /** The lines that have names at their ends: of many the coloured ones, the best, and the last. */
  private named(lines: readonly Line[]): Line[] {
    if (lines.length <= NAMED_MAX) return [...lines];
    const own = lines.filter(({ context }) => !context);
    if (own.length <= NAMED_MAX) return own;
    const sorted = own.toSorted((a, b) => (b.kept ?? 0) - (a.kept ?? 0));
    const few = [...sorted.slice(0, 3), ...sorted.slice(-1)];
    return own.filter((line) => few.includes(line) || slotOf(this.app, line.product) > 0);
  }

  private draw(overlay: Overlay, width: number): SVGElement[] {
    const isNarrow = width < NARROW;
    const named = isNarrow ? [] : this.named(overlay.lines);
    const text = (line: Line) => `${this.nameOf(line)}  ${keptText(line)}`;
    const room = isNarrow ? 10 : 34 + Math.max(0, ...named.map((line) => textWidth(text(line))));
    const right = width - Math.min(room, width * 0.42);
    const bottom = HEIGHT - BOTTOM;
    const axis = axisOf(overlay, TOP, bottom);
    const x = (at: number) => LEFT + ((right - LEFT) * (at + 0.5)) / overlay.points;
    const ticks = xTicks(overlay.seconds, right - LEFT);
    const labels = named.map((line): Label => {
      const end = axis.place(line.values[lastOf(line)] ?? 1);
      return { line, at: overlay.lines.indexOf(line), text: text(line), end, y: end };
    });
    const place = (second: number) => LEFT + ((right - LEFT) * second) / overlay.seconds;
    return [
      ...axis.ticks.flatMap((tick) => [
        svg("line", {
          x1: LEFT,
          x2: right,
          y1: axis.place(tick),
          y2: axis.place(tick),
          class: "passes-grid",
        }),
        svg("text", { x: LEFT - 6, y: axis.place(tick) + 4, "text-anchor": "end" }, shortCount(tick)),
      ]),
      ...ticks.map((second) =>
        svg("text", { x: place(second), y: bottom + 16, "text-anchor": "middle" }, separated(second)),
      ),
      svg("text", { x: (LEFT + right) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "seconds of load"),
      ...this.lines(overlay, x, axis),
      ...pushedApart(labels, TOP + 6, bottom).map((label) => this.label(label, right)),
    ];
  }

  /** Grey lines lie below the coloured ones. */
  private lines({ lines }: Overlay, x: (at: number) => number, { place }: Axis): SVGElement[] {
    const slot = ({ product, context }: Line) =>
      context ? 0 : product === "" ? 1 : slotOf(this.app, product);
    const drawn = lines
      .map((line, at) => ({ line, at }))
      .sort((a, b) => depth(slot(a.line)) - depth(slot(b.line)));
    return drawn.map(({ line, at }) => {
      const d = pathOf(line.values, x, place);
      const band = line.band && [svg("path", { d: bandOf(line.band, x, place), class: "first-band" })];
      const parts = [
        ...(band ?? []),
        svg("path", { d, class: "many-reach" }),
        svg("path", { d, class: "passes-line" }),
      ];
      const group = svg(
        "g",
        { class: "many-line", ...this.colorOf(line, at) },
        svg("title", {}, `${line.name} ${keptText(line)}`),
        ...parts,
      );
      const { product, context } = line;
      if (product !== "" && !context) group.addEventListener("click", () => toggleMark(this.app, product));
      return group;
    });
  }

  private label({ line, at, text, end, y }: Label, right: number): SVGElement {
    const own = this.app.products.find(({ key }) => key === line.product);
    const product = line.context ?? own ?? reviewed(this.app);
    const group = svg(
      "g",
      { class: "first-label signed", ...this.colorOf(line, at) },
      svg("path", { d: `M${right} ${end}L${right + 12} ${y}`, class: "first-leader" }),
      ...(product ? [sourceShape(product.source, right + 20, y)] : []),
      svg("text", { x: right + 28, y: y + 4 }, text),
    );
    if (own) group.addEventListener("click", () => toggleMark(this.app, own.key));
    return group;
  }
}

function depth(slot: number): number {
  return slot === 0 ? 0 : 10 - slot;
}

function bandOf(
  band: readonly [number, number][],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  const known = band.flatMap(([low, high], at) => (Number.isFinite(low) ? [{ low, high, at }] : []));
  const upper = known.map(({ high, at }) => `${x(at).toFixed(1)} ${y(high).toFixed(1)}`);
  const lower = known.map(({ low, at }) => `${x(at).toFixed(1)} ${y(low).toFixed(1)}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
}

function keptText({ kept }: Line): string {
  return kept === null ? "–" : iops(kept);
}

/** The spare area of the whole page; nothing where there is no choice. */
function spareSwitch(app: App): HTMLElement | null {
  const variants = variantsOf(app.library).filter((one) => !one.includes(" #"));
  if (app.products.length < 2 || variants.length < 2 || variants.every(isSpan)) return null;
  return h(
    "div",
    { class: "first-spare", role: "group", "aria-label": variantsTitle(variants) },
    variants.map((variant) =>
      h(
        "button",
        {
          type: "button",
          class: "button",
          "data-variant": variant,
          "aria-pressed": String(app.store.state.variant === variant),
          onclick: () => chooseVariant(app, variant),
        },
        spareName(variant, null),
      ),
    ),
  );
}

function tableOf({ seconds: most, points, lines }: Overlay): TableData {
  return {
    heads: ["Second", ...lines.map(({ name }) => name)],
    rows: Array.from({ length: points }, (_, at) => [
      seconds(Math.round((most * at) / points)),
      ...lines.map(({ values }) => (Number.isNaN(values[at]) ? "" : String(values[at]))),
    ]),
  };
}

/** Nothing without a run of random writes. */
export function curvesOf(app: App, recolor: (within: ParentNode) => void): HTMLElement | null {
  if (app.library.runs.length === 0) return null;
  const curves = new Curves(app, recolor);
  app.store.subscribe((state, before) => {
    const fields = ["variant", "drive", "hasContext"] as const;
    const isOther = fields.some((field) => state[field] !== before[field]);
    if (!isOther && state.marked === before.marked) return;
    const pressed = (document.activeElement as HTMLElement | null)?.dataset.variant;
    curves.update();
    if (pressed)
      curves.element.querySelector<HTMLElement>(`[data-variant="${CSS.escape(pressed)}"]`)?.focus();
  });
  return h("section", { id: "curves", "aria-label": "Curves of all drives" }, curves.element);
}
