// The figures that answer first: one column each of the table at a glance, and the first bars of their chapters.

import { type Figure, figureOf } from "./figures";
import { nameText } from "./format";
import { TESTS } from "./tests.gen";

export interface Headline {
  test: string;
  metric: string;
  /** Head of the columns that stand side by side. */
  group: string;
  /** Two or three words for the head of a column. */
  short: string;
  /** The same as the title of a chart. */
  title: string;
}

/** The columns under one head. */
export interface HeadlineGroup {
  name: string;
  headlines: readonly Headline[];
}

/** Those that a test declares with a column, in the order of the suite. */
const DECLARED: readonly Headline[] = TESTS.flatMap(({ name: test, headlines }) =>
  headlines.flatMap((one) => ("group" in one ? [{ test, ...one }] : [])),
);

export const GROUPS: readonly HeadlineGroup[] = [...new Set(DECLARED.map(({ group }) => group))].map(
  (name) => ({
    name,
    headlines: DECLARED.filter(({ group }) => group === name),
  }),
);

/** All of them, those of a group together. */
export const HEADLINES: readonly Headline[] = GROUPS.flatMap(({ headlines }) => headlines);

export function headlineKey({ test, metric }: Headline): string {
  return metric.startsWith(`${test}.`) ? metric : `${test}.${metric}`;
}

export function headlineOf(test: string, metric: string): Headline | undefined {
  return HEADLINES.find((one) => one.test === test && one.metric === metric);
}

/** Among many drives a test without a headline shows its first figure alone. */
export const MANY_DRIVES = 8;

/** More bars than these at once would be a wall; the others are in the list. */
const SHOWN_MAX = 4;

/** Units whose figures say how good a drive is, best first, for tests without a headline. */
const FIRST_UNITS = ["mb_per_s", "iops", "ns", "share", "w", "bytes"];

/** The ends of the figures that answer the question of a test without a headline, and which of several. */
const ANSWERS: Record<string, [end: string, at: number][]> = {
  "fill-level": [["kept_level_share", 0]],
  // By name the longest pause is the first one, and the longest rest of the quick form the last.
  idle: [
    ["regained_share", 0],
    ["wake_ns", -1],
  ],
  thermal: [
    ["kept_share", -1],
    ["temperature_c_max", -1],
  ],
};

/** The headlines of a test among these figures. */
export function headlinesOf(test: string, names: readonly string[]): string[] {
  const headlines = HEADLINES.filter((one) => one.test === test && names.includes(one.metric));
  return headlines.map(({ metric }) => metric);
}

/** The figures that a test shows first: its headlines, else the first ones of a common unit. */
export function mainFigures(test: string, names: readonly string[], drives: number): string[] {
  const headlines = headlinesOf(test, names);
  if (headlines.length > 0) return headlines.slice(0, SHOWN_MAX);
  const answers = (ANSWERS[test] ?? []).flatMap(
    ([end, at]) => names.filter((name) => name.endsWith(`.${end}`)).at(at) ?? [],
  );
  if (answers.length > 0) return answers.slice(0, drives > MANY_DRIVES ? 1 : 2);
  const ordered = names.filter((name) => figureOf(name).better !== null);
  const unit = FIRST_UNITS.find((one) => ordered.some((name) => figureOf(name).unit === one));
  return ordered.filter((name) => figureOf(name).unit === unit).slice(0, 1);
}

/** The title of any figure of a test: that of its headline, or its label in the catalogue. */
export function titleOf(test: string, figure: Figure): string {
  const headline = headlineOf(test, figure.name);
  if (headline) return headline.title;
  return figure.label === nameText(figure.name) ? stepTitle(test, figure.name) : figure.label;
}

/** `corners.random_read.mb_per_s` for people: the step, then the label of its row of the catalogue. */
function stepTitle(test: string, name: string): string {
  const { rowLabel } = figureOf(name);
  const step = name.startsWith(`${test}.`)
    ? name
        .slice(test.length + 1)
        .split(".")
        .slice(0, -1)
    : [];
  const words = step.join(", ").replaceAll("_", " ");
  const label = rowLabel ?? name.split(".").at(-1)?.replaceAll("_", " ") ?? name;
  const whole = words === "" ? label : `${words[0].toUpperCase()}${words.slice(1)}: ${label.toLowerCase()}`;
  return nameText(whole);
}
