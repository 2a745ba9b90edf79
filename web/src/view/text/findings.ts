// Findings run by run, and reasons to trust the figures less.

import { figureOf, labelOf, metricOf, shown } from "../../data/figures";
import { clock } from "../../data/format";
import type { Run } from "../../data/load";
import { h, lateFold } from "../../dom";
import { markSign } from "../parts/mark";
import { runName, statusChip } from "../parts/name";

export function statusSentence(run: Run): HTMLElement | null {
  const load = run.view.phases.find((phase) => phase.name === "load");
  const kept = load ? ` ${clock(load.duration_ns)} of load were measured and are shown.` : "";
  const texts: Partial<Record<string, string>> = {
    interrupted: `This run was interrupted before its end.${kept} Its figures are not comparable with complete runs.`,
    failed: `This run failed: the drive or the machine gave up before its end.${kept}`,
    running: `This run never reported its end; it may still be going, or it died.${kept}`,
  };
  const text = texts[run.view.status];
  return text ? h("p", { class: "notice notice-bad" }, text) : null;
}

/** Warnings that differ only in names and numbers: a test with a hundred steps may have one for each of them. */
export function alike(warnings: readonly string[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const warning of warnings) {
    const words = warning.replace(/`[^`]*`/g, "").replace(/\d[\d.,]*\s*(ns|us|ms|s)?\b/g, "");
    groups.set(words, [...(groups.get(words) ?? []), warning]);
  }
  return [...groups.values()];
}

/** One warning, and a fold of those that are like it. */
function warningItem([first, ...others]: string[]): HTMLElement {
  const list = () =>
    h(
      "ul",
      {},
      others.map((warning) => h("li", {}, warning)),
    );
  return h("li", {}, first, others.length > 0 && lateFold("alike", `${others.length} more like this`, list));
}

function notice(warnings: readonly string[], whose: (Node | string)[]): HTMLElement {
  return h(
    "div",
    { class: "notice notice-warn", role: "note" },
    h("p", {}, h("b", {}, warnings.length === 1 ? "Warning" : "Warnings"), whose),
    h("ul", {}, alike(warnings).map(warningItem)),
  );
}

export function warningList({ view: { warnings } }: Run): HTMLElement | null {
  return warnings.length === 0 ? null : notice(warnings, []);
}

/** The warnings of several runs: those of runs that have the same ones stand once. */
export function warningsOf(runs: readonly Run[]): HTMLElement[] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const key = JSON.stringify(run.view.warnings);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()]
    .filter(([{ view }]) => view.warnings.length > 0)
    .map((own) =>
      notice(
        own[0].view.warnings,
        own.length > 1 && own.length === runs.length
          ? [" for all of these"]
          : own.flatMap((run, at) => [at === 0 ? " for " : ", ", runName(run)]),
      ),
    );
}

export function findingCard(run: Run, toFigure: (name: string) => void): HTMLElement {
  const { findings } = run.view;
  return h(
    "article",
    { class: "finding" },
    h("h3", {}, runName(run), " ", statusChip(run)),
    statusSentence(run),
    warningList(run),
    findings.length === 0
      ? h("p", { class: "quiet" }, "No findings were recorded for this run.")
      : h(
          "ul",
          {},
          findings.map(({ text, metric }) => h("li", {}, text, " ", figureLink(run, metric, toFigure))),
        ),
  );
}

function figureLink(run: Run, metric: string, toFigure: (name: string) => void): HTMLElement | null {
  const value = metricOf(run, metric);
  if (value === null) return null;
  const figure = figureOf(metric);
  return h(
    "button",
    { type: "button", class: "figure-link", onclick: () => toFigure(metric) },
    `${labelOf(figure, [run])}: ${shown(figure, value)}`,
    markSign(run, metric),
  );
}
