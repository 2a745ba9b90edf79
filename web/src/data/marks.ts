// What the marks of a run forbid. Everything that ranks a figure, or states it as the drive's own, asks here.

import type { Run } from "./load";
import { own } from "./lookup";
import type { Mark } from "./schema.gen";

export interface MarkWords {
  /** Two or three words beside the figure. */
  label: string;
  /** The reason in general; rows of a library have kinds without the texts of their runs. */
  reason: string;
  /** Whether the figure is not what its name says: it has no rank and is no answer. As the program decides. */
  disqualifies: boolean;
}

const KINDS: Record<string, MarkWords> = {
  "not-steady": { label: "not steady", reason: "steady state was not reached", disqualifies: true },
  "part-of-drive": {
    label: "part of drive",
    reason: "measured on a part of the drive, not on all of it",
    disqualifies: false,
  },
  scale: {
    label: "below full size",
    reason: "not a figure of the whole drive: it was simulated below full size",
    disqualifies: true,
  },
  interrupted: { label: "interrupted", reason: "the run was interrupted before its end", disqualifies: true },
  "few-samples": {
    label: "few samples",
    reason: "too few commands or seconds for this figure",
    disqualifies: true,
  },
  "two-regimes": {
    label: "two regimes",
    reason: "the pace changed within the range of this figure",
    disqualifies: false,
  },
  "host-limited": {
    label: "host limit",
    reason: "limited by the host, not by the drive",
    disqualifies: true,
  },
  unwritten: { label: "unwritten", reason: "reads of blocks that nobody had written", disqualifies: true },
  "at-least": {
    label: "at least",
    reason: "at least this much: latencies were cut short",
    disqualifies: false,
  },
  "late-end": { label: "late end", reason: "of a command that ended after its phase", disqualifies: false },
};

/** A kind of a newer ssdlab bars: nobody here knows that it does not. */
export function wordsOfMark(kind: string): MarkWords {
  return own(KINDS, kind) ?? { label: kind.replaceAll("-", " "), reason: kind, disqualifies: true };
}

/** The marks of a figure, those that bar it first. */
export function marksOn(run: Run, metric: string): Mark[] {
  const marks = run.view.marks.filter((mark) => mark.metric === metric);
  return marks.sort(
    (a, b) => Number(wordsOfMark(b.kind).disqualifies) - Number(wordsOfMark(a.kind).disqualifies),
  );
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

/** Whether no mark bars a figure. */
export function holds(run: Run, metric: string): boolean {
  return !marksOn(run, metric).some(({ kind }) => wordsOfMark(kind).disqualifies);
}

/** The reason for which a figure has no rank and is no answer; empty if it may be both. */
export function barOf(run: Run, metric: string): string {
  if (!holds(run, metric)) return marksOf(run, metric).join("; ");
  return run.view.status === "complete" ? "" : `the run is ${statusWord(run)}`;
}

/** The label of the same reason. */
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
