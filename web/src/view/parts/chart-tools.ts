// The offers of every chart: its values as a table, and itself as a picture.

import { csvField, separated } from "../../data/format";
import { aside, h, scroller } from "../../dom";
import { pictureOf, pngOf, save } from "./picture";

export interface TableData {
  heads: string[];
  rows: string[][];
}

/** Rows of a table before a reader asks for more: 2,000 seconds at once would take the time of a second look. */
const ROWS_FIRST = 200;

function tableRow([first, ...rest]: string[]): HTMLElement {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, first),
    rest.map((text) => h("td", {}, text)),
  );
}

function tableView({ heads, rows }: TableData, title: string): HTMLElement[] {
  const body = h("tbody", {}, rows.slice(0, ROWS_FIRST).map(tableRow));
  const table = h(
    "table",
    { class: "chart-table" },
    h("caption", {}, aside(`Values of the chart: ${title}`)),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((head) => h("th", { scope: "col" }, head)),
      ),
    ),
    body,
  );
  const framed = scroller(`Values of the chart: ${title}`, table);
  if (rows.length <= ROWS_FIRST) return [framed];
  const more = h("button", { type: "button", class: "button" }, `Show all ${separated(rows.length)} rows`);
  more.addEventListener("click", () => {
    body.append(...rows.slice(ROWS_FIRST).map(tableRow));
    more.remove();
  });
  return [framed, more];
}

export function csvOf({ heads, rows }: TableData): string {
  return [heads, ...rows].map((row) => row.map(csvField).join(",")).join("\n");
}

/** Letters of the name of a file; file systems end at 255 bytes. */
const FILE_NAME_MAX = 120;

/** A name for a file: letters and digits of the title. */
export function fileName(title: string, end: string): string {
  return `${
    title
      .toLowerCase()
      .slice(0, FILE_NAME_MAX)
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "chart"
  }.${end}`;
}

/** The buttons under a chart. The table is built when a reader opens it. */
export function chartTools(chart: HTMLElement, title: string, data: () => TableData): HTMLElement {
  const holder = h("div", { class: "chart-table-holder", hidden: true });
  const button = (label: string, press: () => void) =>
    h("button", { type: "button", class: "tool-button", onclick: press }, label, aside(` of ${title}`));
  const table = button("Table", () => {
    holder.hidden = !holder.hidden;
    table.setAttribute("aria-expanded", String(!holder.hidden));
    holder.replaceChildren(...(holder.hidden ? [] : tableView(data(), title)));
  });
  table.setAttribute("aria-expanded", "false");
  return h(
    "div",
    { class: "chart-tools" },
    h(
      "div",
      { class: "tool-buttons" },
      table,
      button("CSV", () => save(fileName(title, "csv"), new Blob([csvOf(data())], { type: "text/csv" }))),
      button("SVG", () =>
        save(fileName(title, "svg"), new Blob([pictureOf(chart, title)], { type: "image/svg+xml" })),
      ),
      button("PNG", async () => save(fileName(title, "png"), await pngOf(pictureOf(chart, title)))),
    ),
    holder,
  );
}

/** The chart with its buttons. */
export function withTools(chart: HTMLElement, title: string, data: () => TableData): HTMLElement {
  chart.append(chartTools(chart, title, data));
  return chart;
}
