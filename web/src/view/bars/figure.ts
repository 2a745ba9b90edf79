// One figure of all drives as ranked bars, with its conditions, and in words what has no bar or no rank.

import { type App, contextShown, rankedAmong } from "../../app";
import { type Figure, shown } from "../../data/figures";
import { titleOf } from "../../data/headlines";
import type { Run } from "../../data/load";
import { spareLabel } from "../../data/load";
import { fullName, type Product, shortNames } from "../../data/products";
import type { Entry, Ranking } from "../../data/ranking";
import { wordRows } from "../../data/words";
import { aside, h } from "../../dom";
import { chartId } from "../parts/address";
import { chartTools, type TableData } from "../parts/chart-tools";
import { sourceShape, sourceWord } from "../parts/source";
import { drawing, svg } from "../results/svg";
import { type BarLayout, type BarRow, barLayout } from "./layout";

const UNITS: Record<Figure["unit"], string> = {
  iops: "IOPS",
  ns: "time",
  s: "time",
  share: "share",
  ratio: "ratio",
  mb_per_s: "MB/s",
  us: "time",
  min: "minutes",
  bytes: "bytes",
  w: "power",
  j_per_gb: "J/GB",
  iops_per_w: "IOPS/W",
  mb_per_s_per_w: "MB/s/W",
  celsius: "°C",
  count: "count",
};

/** Names that need more than this share of the width stand above their bars. */
const NAME_SHARE = 0.42;
/** More names than these after a reason are a number. */
const NAMES_MAX = 3;
const RANK = 18;
const SIGN = 16;
/** Letters of 12 px, a high average; the names of chosen drives are heavier. */
const LETTER = 6.9;
const BOLD = 7.7;
/** Letters at the end of a name that it keeps when it is cut: most often its capacity. */
const NAME_END = 9;

/** Room for the longest name with its rank and its sign: the same in all charts of the page, so that bars begin at one line. */
export function nameRoom(products: readonly Product[], context: readonly Product[] = []): number {
  const names = [...shortNames(products).names.values(), ...context.map(({ name }) => name)];
  const letters = names.map((name) => [...name].length);
  return RANK + SIGN + 14 + BOLD * Math.max(0, ...letters);
}

/** A long name loses letters in its middle; the whole one is in the title of the row. */
export function fitted(name: string, width: number): string {
  const most = Math.max(NAME_END + 2, Math.floor(width / BOLD));
  const letters = [...name];
  if (letters.length <= most) return name;
  const [start, end] = [letters.slice(0, most - NAME_END - 1), letters.slice(-NAME_END)];
  return `${start.join("").trimEnd()}…${end.join("").trimStart()}`;
}

/** The value with its marks in words, where there is room; a † for one without a rank. */
function valueText({ text, standing, label }: Entry, hasLabel: boolean): string {
  return `${text}${standing === "unlike" ? " †" : ""}${label === "" || !hasLabel ? "" : ` ${label}`}`;
}

/** Room right of the bars for the longest value. */
function valueWidth({ rows }: BarLayout, hasLabels: boolean): number {
  return 16 + LETTER * Math.max(0, ...rows.map(({ entry }) => valueText(entry, hasLabels).length));
}

/** Less room than this tells no bar from another. */
const ROOM_MIN = 90;

function rowTitle({ product, text, rank, reason }: Entry): string {
  const place = rank === null ? "" : `, rank ${rank}`;
  return `${fullName(product.name, product.runs[0]) ?? product.plain}: ${text}${place}${reason === "" ? "" : ` (${reason})`}`;
}

/** A value beyond the scale: the bar is broken by a slanted gap near its end. */
function gap(end: number, y: number, height: number): SVGElement {
  const x = end - 22;
  const [top, bottom] = [y - height / 2 - 2, y + height / 2 + 2];
  return svg("path", {
    d: `M${x} ${bottom}L${x + 6} ${top}L${x + 12} ${top}L${x + 6} ${bottom}Z`,
    class: "bar-gap",
  });
}

function barOf(
  { entry, y, length, isBroken }: BarRow,
  layout: BarLayout,
  left: number,
  room: number,
): SVGElement[] {
  const end = left + room * length;
  const height = layout.row * 0.56;
  const broken = isBroken ? [gap(end, y, height)] : [];
  if (layout.isLog) {
    return [
      svg("line", { x1: left, x2: left + room, y1: y, y2: y, class: "bar-rail" }),
      ...broken,
      svg("circle", { cx: end, cy: y, r: layout.row * 0.22, class: `bar bar-${entry.product.source}` }),
    ];
  }
  const size = { x: left, y: y - height / 2, width: Math.max(1, end - left), height };
  return [svg("rect", { ...size, class: `bar bar-${entry.product.source}` }), ...broken];
}

interface Place {
  width: number;
  /** Begin of the bars. */
  left: number;
  names: ReadonlyMap<string, string>;
}

function drawRow(row: BarRow, layout: BarLayout, { width, left, names }: Place): SVGElement {
  const { entry, y, length } = row;
  const hasLabels = width - left - valueWidth(layout, true) >= ROOM_MIN;
  const room = Math.max(0, width - left - valueWidth(layout, hasLabels));
  const { product, rank, standing } = entry;
  const unlike = standing === "unlike";
  const isAbove = layout.nameRow > 0;
  const nameY = isAbove ? y - layout.row / 2 - 3 : y + 4;
  const nameLeft = RANK + SIGN;
  const name = fitted(names.get(product.key) ?? product.name, (isAbove ? width : left) - nameLeft - 8);
  const top = y - layout.row / 2 - layout.nameRow;
  return svg(
    "g",
    product.context
      ? { class: "bar-row signed", "data-slot": "context" }
      : { class: unlike ? "bar-row signed unlike" : "bar-row signed", "data-product": product.key },
    svg("title", {}, rowTitle(entry)),
    svg("rect", { x: 0, y: top, width, height: layout.row + layout.nameRow, class: "bar-ground" }),
    svg(
      "text",
      { x: RANK - 5, y: nameY, "text-anchor": "end", class: "bar-rank" },
      rank === null ? "" : String(rank),
    ),
    sourceShape(product.source, RANK + SIGN / 2 - 2, nameY - 4),
    svg("text", { x: nameLeft, y: nameY, class: "bar-name" }, name),
    ...barOf(row, layout, left, room),
    svg("text", { x: left + room * length + 7, y: y + 4, class: "bar-value" }, valueText(entry, hasLabels)),
  );
}

function draw(layout: BarLayout, place: Place): SVGElement[] {
  const { divider } = layout;
  const line = divider !== null && [
    svg("line", { x1: 0, x2: place.width, y1: divider, y2: divider, class: "bar-divider" }),
  ];
  return [...(line || []), ...layout.rows.map((row) => drawRow(row, layout, place))];
}

/** Names under each reason, so that ten drives without a run are one line. */
function byReason(entries: readonly Entry[]): [string, string[]][] {
  const reasons = new Map<string, string[]>();
  for (const { product, text, reason } of entries) {
    const said = text === "cannot" ? `cannot: ${reason}` : reason;
    reasons.set(said, [...(reasons.get(said) ?? []), product.plain]);
  }
  return [...reasons];
}

function notes({ entries }: Ranking): HTMLElement[] {
  const withoutRank = entries.filter(({ standing }) => standing === "unlike");
  const unlike = byReason(withoutRank.filter(({ label }) => label === ""));
  const labelled = byReason(withoutRank.filter(({ label }) => label !== ""));
  const missing = byReason(entries.filter(({ standing }) => standing === "missing"));
  // A drive without a rank has its name in the chart; one without a value has it only here.
  const line = (mark: string, [reason, names]: [string, string[]], look = "quiet small") => {
    const whose = mark !== "" && names.length > NAMES_MAX ? `${names.length} drives` : names.join(", ");
    return h("p", { class: look }, `${mark}${reason[0]?.toUpperCase()}${reason.slice(1)}: ${whose}.`);
  };
  return [
    // A label at the bar says it, and its title in full; a narrow screen has no room for either.
    ...labelled.map((one) => line("† Not ranked. ", one, "quiet small bar-reason")),
    ...unlike.map((one) => line("† Not ranked. ", one)),
    ...missing.map((one) => line("", one)),
  ];
}

/** The hosts of the ranked drives: SATA and NVMe have no host in common. */
function hostText(samples: readonly Run[]): string[] {
  const hosts = [...new Set(samples.map(({ view }) => view.target.details.host ?? ""))].filter(Boolean);
  return hosts.length > 1
    ? [`each on its own host (${hosts.join("; ")})`]
    : hosts.map((host) => `host ${host}`);
}

/** The conditions of the ranked runs in one line; nothing if nothing is ranked. */
export function conditionsLine({ samples }: Ranking, common: readonly string[] = []): HTMLElement | null {
  const [sample] = samples;
  if (!sample) return null;
  const rows = wordRows(sample.view.config).map(([label, value]) => `${label.toLowerCase()} ${value}`);
  const spare = sample.variant.startsWith("default") ? "spare area as sold" : spareLabel(sample.variant);
  const names = common.length === 0 ? [] : [`names without “${common.join("” and “")}”`];
  const text = [spare, ...rows, ...hostText(samples), ...names].join(" · ");
  return h("p", { class: "quiet small chart-conditions" }, text);
}

function headUnit({ figure }: Ranking, isLog: boolean): string {
  const better =
    figure.better === "higher" ? "more is better" : figure.better === "lower" ? "less is better" : "no order";
  return [UNITS[figure.unit], ...(isLog ? ["log scale"] : []), better].join(", ");
}

function tableOf({ entries }: Ranking, title: string): TableData {
  return {
    heads: ["Drive", "Rank", "Source", title, "Exact value", "Note"],
    rows: entries.map(({ rank, product, text, value, reason, label }) => [
      product.name,
      rank === null ? "" : String(rank),
      `${sourceWord(product.source)}${product.context ? ", reference library" : ""}`,
      text,
      value === null ? "" : String(value),
      [label, reason].filter((one, at, all) => one !== "" && all.indexOf(one) === at).join(": "),
    ]),
  };
}

function sentence({ entries, figure, ranked: count }: Ranking, title: string): string {
  const best = entries.find(({ product }) => !product.context);
  if (!best || best.value === null) return `${title}: no values.`;
  if (best.standing !== "ranked") return `${title}: no drive is ranked.`;
  const of =
    count > 1 && figure.better
      ? ` of ${count} ranked drives, best ${best.product.plain} with`
      : `: ${best.product.plain}`;
  return `${title}${of} ${shown(figure, best.value)}.`;
}

/** The bars of one figure; they follow the spare area of the page. */
export class Bars {
  readonly element: HTMLElement;
  private drawn = "";
  /** Of the last drawing: the next one need not find it by another layout of the page. */
  private width: number | undefined;

  constructor(
    private app: App,
    readonly test: string,
    readonly metric: string,
    private recolor: (within: ParentNode) => void,
  ) {
    this.element = h("figure", { class: "chart bars", id: chartId(test, metric) });
    this.update();
  }

  update(): void {
    const ranking = rankedAmong(this.app, this.test, this.metric);
    const state = JSON.stringify(
      ranking.entries.map(({ product, text, rank, reason, label }) => [
        product.key,
        text,
        rank,
        reason,
        label,
      ]),
    );
    if (state === this.drawn) return;
    this.drawn = state;
    const title = titleOf(this.test, ranking.figure);
    const text = sentence(ranking, title);
    const { products } = this.app;
    const { names } = shortNames(products);
    const beside = nameRoom(products, contextShown(this.app));
    const isAbove = (width: number) => beside > NAME_SHARE * width;
    const layout = (width: number) => barLayout(ranking, isAbove(width));
    const drawn = (width: number) => {
      this.width = width;
      return draw(layout(width), { width, left: isAbove(width) ? RANK + SIGN : beside, names });
    };
    const picture = drawing((width) => layout(width).height, drawn, this.recolor, this.width);
    this.element.setAttribute("aria-label", text);
    this.element.replaceChildren(
      h(
        "div",
        { class: "chart-head" },
        h("h3", { title: ranking.figure.explanation || null }, title),
        h("span", { class: "quiet chart-unit" }, headUnit(ranking, barLayout(ranking).isLog)),
      ),
      picture,
      h(
        "div",
        {},
        notes(ranking),
        chartTools(this.element, title, () => tableOf(ranking, title)),
      ),
    );
    this.recolor(this.element);
  }
}

/** The same for a figure that the reader picks among all that the test yields. */
export function picker(
  names: readonly [string, string][],
  choose: (metric: string) => void,
  label: string,
): HTMLElement {
  const select = h(
    "select",
    {},
    h("option", { value: "" }, "choose…"),
    names.map(([metric, title]) => h("option", { value: metric }, title)),
  );
  select.addEventListener("change", () => choose(select.value));
  return h(
    "label",
    { class: "figure-picker small" },
    "Another figure",
    aside(` of ${label}`),
    "\u00a0",
    select,
  );
}
