// All figures of all runs side by side.

import type { App } from "../../app";
import { shownRuns } from "../../app";
import { plannedSeconds } from "../../chart/classes";
import {
  bestRuns,
  CHAPTERS,
  csv,
  type Figure,
  figuresIn,
  labelOf,
  metricOf,
  shownOf,
} from "../../data/figures";
import { seconds } from "../../data/format";
import type { Run } from "../../data/load";
import { spareLabel } from "../../data/load";
import { aside, bringIntoView, built, h, scroller } from "../../dom";
import { copyButton } from "../parts/copy";
import { term } from "../parts/hint";
import { markSign } from "../parts/mark";
import { driveName, statusChip } from "../parts/name";

export function figuresTable(title: string, runs: readonly Run[], app?: App): HTMLElement {
  const figures = figuresIn(runs);
  const classes = app ? app.book.classes.map((one) => one.runs) : [runs];
  const chapters = CHAPTERS.map((chapter) => figures.filter((figure) => figure.chapter === chapter));
  const table = h(
    "table",
    { class: "figures" },
    h("caption", {}, aside(`All figures: ${title}`)),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col", class: "corner" }, "Figure"),
        runs.map((run) => columnHead(run, app)),
      ),
    ),
    chapters
      .filter((chapter) => chapter.length > 0)
      .map((chapter) =>
        h(
          "tbody",
          {},
          h(
            "tr",
            { class: "group" },
            h("th", { scope: "rowgroup", colspan: runs.length + 1 }, h("span", {}, chapter[0].chapter)),
          ),
          chapter.map((figure) => row(figure, runs, bestRuns(figure, classes))),
        ),
      ),
  );
  const wide = scroller(`Table of figures: ${title}`, table);
  return h(
    "div",
    {},
    wide,
    h(
      "p",
      { class: "table-foot" },
      h(
        "span",
        { class: "quiet" },
        runs.length > 1 &&
          `★ best in its row, among complete runs${app ? " of one length under the same load" : " with the same parameters"}. `,
        "– not known.",
        runs.some(({ view }) => view.marks.length > 0) &&
          " Words beside a figure warn of it: point at them for the reason.",
        figures.some(({ explanation }) => explanation !== "") && " Point at a figure’s name for its meaning.",
      ),
      copyButton("Copy as CSV", () => csv(runs)),
    ),
  );
}

function columnHead(run: Run, app?: App): HTMLElement {
  const label = [
    driveName(run.drive),
    h("span", { class: "variant" }, spareLabel(run.variant)),
    app && app.book.classes.length > 1 && h("span", { class: "length" }, seconds(plannedSeconds(run))),
    statusChip(run),
  ];
  const choose = () => app?.store.set({ view: "single", drive: run.drive.key, variant: run.variant });
  return h(
    "th",
    { scope: "col", "data-run": run.id },
    app
      ? h(
          "button",
          { type: "button", class: "column-button", title: "Show this run", onclick: choose },
          label,
        )
      : label,
  );
}

function row(figure: Figure, runs: readonly Run[], best: ReadonlySet<Run>): HTMLElement {
  return h(
    "tr",
    { "data-figure": figure.name, tabindex: "-1" },
    h("th", { scope: "row" }, term(labelOf(figure, runs), figure.explanation)),
    runs.map((run) => {
      const value = metricOf(run, figure.name);
      const isBest = best.has(run);
      return h(
        "td",
        {
          "data-run": run.id,
          class: isBest ? "best" : null,
        },
        isBest && [h("span", { "aria-hidden": "true" }, "★ "), h("span", { class: "sr-only" }, "best: ")],
        value === null
          ? [
              h("span", { "aria-hidden": "true", title: "not known" }, "–"),
              h("span", { class: "sr-only" }, "not known"),
            ]
          : shownOf(figure, run, runs),
        markSign(run, figure.name),
      );
    }),
  );
}

/** Scrolls to the row of a figure, and opens the folds around it first. */
export function goToFigure(within: HTMLElement, name: string): void {
  const folds = within instanceof HTMLDetailsElement ? [within] : within.querySelectorAll("details");
  for (const fold of folds) built(fold);
  const row = within.querySelector<HTMLElement>(`[data-figure="${CSS.escape(name)}"]`);
  const folded = row?.closest("details");
  if (folded) folded.open = true;
  if (!row) return;
  bringIntoView(row, "center");
  row.focus({ preventScroll: true });
}

/** Marks the columns of the runs in the graphs. */
export function markShown(app: App, section: HTMLElement): void {
  const ids = new Set(shownRuns(app).map(({ run }) => run.id));
  for (const cell of section.querySelectorAll<HTMLElement>("[data-run]")) {
    cell.classList.toggle("shown", ids.has(cell.dataset.run ?? ""));
  }
}
