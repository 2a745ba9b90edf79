// Classes of comparable runs. Runs of one length share their axes; next to a run of 2,000 s one of 15 s would
// be a stroke at the edge, so every other length has axes of its own.

import type { Run } from "../data/load";
import { endOf, type SetScales, setScales } from "./scales";

export interface RunClass {
  /** Length of its longest run, by which the page calls the class. */
  seconds: number;
  runs: Run[];
}

/** What one view is drawn on: a class, and the runs of other classes that are drawn on its axes. */
export interface Axes extends RunClass {
  guests: Run[];
  scales: SetScales;
}

/** Lengths that differ by less than this share of the longer one are comparable. */
const SAME_LENGTH = 0.1;

/** As planned, so that a run that was interrupted stays with its like; else as far as it got. */
export function plannedSeconds(run: Run): number {
  const planned = run.view.config.duration_s;
  return typeof planned === "number" && planned > 0 ? planned : endOf(run);
}

/** Longest first. */
export function runClasses(runs: readonly Run[]): RunClass[] {
  const classes: RunClass[] = [];
  const sorted = [...runs].sort((a, b) => plannedSeconds(b) - plannedSeconds(a));
  for (const run of sorted) {
    const seconds = plannedSeconds(run);
    const last = classes.at(-1);
    if (last && seconds >= last.seconds * (1 - SAME_LENGTH)) last.runs.push(run);
    else classes.push({ seconds, runs: [run] });
  }
  return classes;
}

/** All axes of a report. Worked out once for every mixture of runs that is looked at. */
export class AxesBook {
  readonly classes: RunClass[];
  private known = new Map<string, Axes>();

  constructor(runs: readonly Run[]) {
    this.classes = runClasses(runs);
  }

  /** The longest of the runs shown decides; shorter ones are its guests. */
  of(shown: readonly Run[]): Axes {
    const own = this.classes.find(({ runs }) => runs.some((run) => shown.includes(run))) ?? this.classes[0];
    const guests = own ? shown.filter((run) => !own.runs.includes(run)) : [];
    const key = [own?.seconds, ...guests.map((run) => run.id).sort()].join("\n");
    const axes = this.known.get(key) ?? axesOf(own ?? { seconds: 0, runs: [] }, guests);
    this.known.set(key, axes);
    return axes;
  }

  /** Lengths of the other classes, as far as anything was measured in them. */
  others(axes: Axes): number[] {
    return this.classes.map(({ seconds }) => seconds).filter((one) => one !== axes.seconds && one > 0);
  }
}

function axesOf(own: RunClass, guests: Run[]): Axes {
  return { ...own, guests, scales: setScales(own.runs, guests) };
}
