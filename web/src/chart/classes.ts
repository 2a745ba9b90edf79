// Classes of comparable runs. Runs of one length share their axes. Beside a run of 2,000 s one of 15 s would be a
// line at the edge, so every other length has its own axes.

import type { Run } from "../data/load";
import { endOf, type SetScales, setScales } from "./scales";

export interface RunClass {
  /** Length of its longest run, the name of the class on the page. */
  seconds: number;
  runs: Run[];
}

/** The axes of one view: those of a class, and the runs of other classes drawn on them. */
export interface Axes extends RunClass {
  guests: Run[];
  scales: SetScales;
}

/** Lengths that differ by less than this share of the longer one are comparable. */
const SAME_LENGTH = 0.1;

/** Planned length, so that an interrupted run stays in its class; else the length that it reached. */
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

/** All axes of a report, computed once for every selection of runs. */
export class AxesBook {
  readonly classes: RunClass[];
  private known = new Map<string, Axes>();

  constructor(runs: readonly Run[]) {
    this.classes = runClasses(runs);
  }

  /** The longest of the selected runs decides; shorter ones are its guests. */
  of(shown: readonly Run[]): Axes {
    const own = this.classes.find(({ runs }) => runs.some((run) => shown.includes(run))) ?? this.classes[0];
    const guests = own ? shown.filter((run) => !own.runs.includes(run)) : [];
    const key = [own?.seconds, ...guests.map((run) => run.id).sort()].join("\n");
    const axes = this.known.get(key) ?? axesOf(own ?? { seconds: 0, runs: [] }, guests);
    this.known.set(key, axes);
    return axes;
  }

  /** Lengths of the other classes with measurements. */
  others(axes: Axes): number[] {
    return this.classes.map(({ seconds }) => seconds).filter((one) => one !== axes.seconds && one > 0);
  }
}

function axesOf(own: RunClass, guests: Run[]): Axes {
  return { ...own, guests, scales: setScales(own.runs, guests) };
}
