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
