// The tests of the suite as they declare themselves: heading, order, charts. A run of a newer ssdlab may be of
// a test that is not among them.

import { nameText } from "./format";
import { TESTS } from "./tests.gen";

interface Seconds {
  kind: "seconds";
}

/** A table whose columns are lines, one plot for each unit. */
export interface Curves {
  kind: "curves";
  table: string;
  units: readonly string[];
  /** Whether the rows stand on a log axis. */
  log_rows: boolean;
}

/** A table whose values are the cells of a heat map. */
interface HeatMap {
  kind: "heat_map";
  table: string;
}

/** A table of loads by the time until they are done: what a drive saves against others. */
interface FeltLoads {
  kind: "felt";
  table: string;
}

interface PowerBars {
  kind: "power_bars";
}

interface Test {
  name: string;
  heading: string;
  question: string;
  chapter: string;
  charts: readonly (Seconds | Curves | HeatMap | FeltLoads | PowerBars)[];
}

/** Results of other programs: no test of the suite. */
const IMPORTED: Test = {
  name: "imported",
  heading: "Imported results",
  question: "what did other programs measure?",
  chapter: "Imported results",
  charts: [],
};

/** The work of other programs on an exposed drive: no test of the suite. */
const EXPOSED: Test = {
  name: "expose",
  heading: "Exposed drives",
  question: "what did other programs do to the drive?",
  chapter: "Exposed drives",
  charts: [{ kind: "seconds" }],
};

const KNOWN: ReadonlyMap<string, Test> = new Map(
  [...TESTS, IMPORTED, EXPOSED].map((test): [string, Test] => [test.name, test]),
);
const NAMES = [...KNOWN.keys()];

/** In the words of the field; an unknown test keeps its own name. */
export function heading(test: string): string {
  return KNOWN.get(test)?.heading ?? `Test: ${nameText(test)}`;
}

/** The question that the test answers, within a sentence; an unknown test has only its name. */
export function asked(test: string): string {
  return KNOWN.get(test)?.question ?? heading(test);
}

/** The same as a title. */
export function question(test: string): string {
  const text = asked(test);
  return text[0].toUpperCase() + text.slice(1);
}

function charts(test: string): Test["charts"] {
  return KNOWN.get(test)?.charts ?? [];
}

/** Whether the graphs of every second are for this test. */
export function isGraphed(test: string): boolean {
  return charts(test).some(({ kind }) => kind === "seconds");
}

export function hasPowerBars(test: string): boolean {
  return charts(test).some(({ kind }) => kind === "power_bars");
}

/** The tables of a test that are curves; of imported results, those over the queue depth. */
export function curvesOf(test: string, tables: readonly string[] = []): Curves[] {
  if (test !== IMPORTED.name) return charts(test).filter((chart) => chart.kind === "curves");
  const depths = [...new Set(tables)].filter((name) => /^depths(_|$)/.test(name));
  return depths.map((table) => ({ kind: "curves", table, units: ["IOPS", "ns"], log_rows: true }));
}

/** The tables of a test that are heat maps. */
export function heatMapsOf(test: string): string[] {
  return charts(test).flatMap((chart) => (chart.kind === "heat_map" ? [chart.table] : []));
}

/** The tables of a test whose loads people feel. */
export function feltOf(test: string): string[] {
  return charts(test).flatMap((chart) => (chart.kind === "felt" ? [chart.table] : []));
}

/** Each test once, in the order of the suite; at the end those that it does not have. */
export function inOrder(tests: readonly string[]): string[] {
  const place = (test: string) => (KNOWN.has(test) ? NAMES.indexOf(test) : NAMES.length);
  return [...new Set(tests)].sort((a, b) => place(a) - place(b));
}
