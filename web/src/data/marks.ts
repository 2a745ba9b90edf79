// What the marks of a run forbid. Everything that ranks a figure, or states it as the drive's own, asks here.

import type { Run } from "./load";
import type { Mark } from "./schema.gen";
import { own } from "./words";

/**
 * What a mark forbids: a figure that it disqualifies, as the program decides, is not what its name says, so that it has
 * no rank and is no answer. A condition forbids the rank alone. A remark forbids nothing.
 */
export type Force = "disqualifies" | "condition" | "remark";

export interface MarkWords {
  /** Two or three words beside the figure. */
  label: string;
  /** The reason in general; rows of a library have kinds without the texts of their runs. */
  reason: string;
  force: Force;
}

function words(label: string, force: Force, reason: string): MarkWords {
  return { label, force, reason };
}

const KINDS: Record<string, MarkWords> = {
  "not-steady": words("not steady", "disqualifies", "steady state was not reached"),
  "part-of-drive": words("part of drive", "condition", "measured on a part of the drive, not on all of it"),
  scale: words("below full size", "disqualifies", "simulated below full size: not that of the whole drive"),
  interrupted: words("interrupted", "disqualifies", "the run was interrupted before its end"),
  "few-samples": words("few samples", "disqualifies", "too few commands or seconds for this figure"),
  stopped: words(
    "stopped",
    "disqualifies",
    "the program was stopped, or the machine slept, during the measurement",
  ),
  "two-regimes": words("two regimes", "remark", "the pace changed within the range of this figure"),
  unsettled: words("snapshot", "remark", "the pace never settled on one level: a snapshot of its window"),
  "host-limited": words("host limit", "condition", "limited by the host, not by the drive"),
  unwritten: words("unwritten", "condition", "reads of blocks that nobody had written"),
  "at-least": words("at least", "remark", "at least this much: latencies were cut short"),
  "late-end": words("late end", "remark", "of a command that ended after its phase"),
};

/** A kind of a newer ssdlab disqualifies: nobody here knows that it does not. */
export function wordsOfMark(kind: string): MarkWords {
  return own(KINDS, kind) ?? words(kind.replaceAll("-", " "), "disqualifies", kind);
}

const ORDER: readonly Force[] = ["disqualifies", "condition", "remark"];

/** The marks of a figure, those that forbid most first. */
export function marksOn(run: Run, metric: string): Mark[] {
  const marks = run.view.marks.filter((mark) => mark.metric === metric);
  const place = ({ kind }: Mark) => ORDER.indexOf(wordsOfMark(kind).force);
  return marks.sort((a, b) => place(a) - place(b));
}

/** Whether a figure has a mark of this kind. */
export function hasMark(run: Run, metric: string, kind: Mark["kind"]): boolean {
  return run.view.marks.some((mark) => mark.metric === metric && mark.kind === kind);
}

/** The marks of a figure in words; empty if there are none. */
export function marksOf(run: Run, metric: string): string[] {
  return marksOn(run, metric).map(({ text }) => text);
}

/** The same in two or three words each; a kind once. */
export function markLabels(run: Run, metric: string): string {
  return [...new Set(marksOn(run, metric).map(({ kind }) => wordsOfMark(kind).label))].join(", ");
}

/** Labels and texts of all marks of a figure, for a cell of a spreadsheet. */
export function marksText(run: Run, metric: string): string {
  return marksOn(run, metric)
    .map(({ kind, text }) => `${wordsOfMark(kind).label}: ${text}`)
    .join("; ");
}

/** Whether no mark disqualifies a figure. */
export function holds(run: Run, metric: string): boolean {
  return !marksOn(run, metric).some(({ kind }) => wordsOfMark(kind).force === "disqualifies");
}

/** The reason for which a figure has no rank and is no answer; empty if it may be both. */
export function barOf(run: Run, metric: string): string {
  if (!holds(run, metric)) return marksOf(run, metric).join("; ");
  return run.view.status === "complete" ? "" : `the run is ${statusWord(run)}`;
}

/** The reason for which a figure has no rank; empty if it may have one under equal conditions. */
export function rankBarOf(run: Run, metric: string): string {
  const conditions = marksOn(run, metric).filter(({ kind }) => wordsOfMark(kind).force === "condition");
  return barOf(run, metric) || conditions.map(({ text }) => text).join("; ");
}

/** The label of the reason against an answer, or of the marks beside it. */
export function barLabel(run: Run, metric: string): string {
  return markLabels(run, metric) || (run.view.status === "complete" ? "" : statusWord(run));
}

const STATUS: Record<string, string> = { running: "unfinished" };

/** The status of a run in a word. */
export function statusWord({ view }: Run): string {
  return own(STATUS, view.status) ?? view.status;
}

/** What a run lacks of a whole one: it did not end, or is short on purpose, or did not reach steady state. */
export type Lack = "incomplete" | "quick" | "not-steady";

const STEADY_MEAN = "iops_steady_mean";

/** The first lack of a run; null for a whole one. */
export function lackOf(run: Run): Lack | null {
  const { status, marks, quick } = run.view;
  if (status !== "complete" || marks.some(({ kind }) => kind === "interrupted")) return "incomplete";
  if (quick) return "quick";
  return hasMark(run, STEADY_MEAN, "not-steady") ? "not-steady" : null;
}

/** Whether a run, if there is one, was a quick one: it recommends nothing. */
export function isQuick(run: Run | null): boolean {
  return run !== null && lackOf(run) === "quick";
}
