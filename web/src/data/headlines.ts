// The figures that answer first: one column each of the table at a glance, and the first bars of their chapters.

import { type Figure, figureOf } from "./figures";
import { nameText } from "./format";

export interface Headline {
  test: string;
  metric: string;
  /** Two or three words for the head of a column. */
  short: string;
  /** The same as the title of a chart. */
  title: string;
}

export interface HeadlineGroup {
  name: string;
  headlines: readonly Headline[];
}

function line(test: string, metric: string, short: string, title: string): Headline {
  return { test, metric, short, title };
}

const REPLAYED = "avg_data_rate_mb_per_s";

/** In the order of the suite. */
export const GROUPS: readonly HeadlineGroup[] = [
  {
    name: "Pace",
    headlines: [
      line("consistency", "iops_steady_mean", "Steady IOPS", "Steady pace"),
      line("consistency", "iops_steady_jitter_share", "Even\u00adness", "Jitter from second to second"),
      line("consistency", "latency_ns_max", "Longest wait", "Longest wait"),
      line("trim", "trim.after_trim_share", "After TRIM", "Speed after TRIM, share of fresh"),
    ],
  },
  {
    name: "Random, IOPS",
    headlines: [
      line("corners", "corners.random_read.iops", "Read", "Random reads"),
      line("corners", "corners.random_write.iops", "Write", "Random writes"),
    ],
  },
  {
    name: "Sequential, MB/s",
    headlines: [
      line("corners", "corners.sequential_read.mb_per_s", "Read", "Sequential reads"),
      line("corners", "corners.sequential_write.mb_per_s", "Write", "Sequential writes"),
    ],
  },
  {
    name: "One command",
    headlines: [
      line("latency", "latency.random_read.latency_ns_mean", "Read", "A single random read"),
      line("latency", "latency.random_write.latency_ns_mean", "Write", "A single random write"),
    ],
  },
  {
    name: "Felt",
    headlines: [
      line("feel", "feel.day.time_s", "A day", "Time of everyday work in a day"),
      line("light", "notice_waits", "Will I notice?", "Waits of 0.1 s or longer in a day of light work"),
    ],
  },
  {
    name: "Sus\u00adtained, MB/s",
    headlines: [line("linear", "linear.write.mb_per_s", "Write", "One write of the whole drive")],
  },
  {
    name: "Power",
    headlines: [
      line("power", "power.idle.power_w_mean", "At rest", "Power at rest, awake"),
      line("power", "power.random_write.power_w_mean", "At work", "Power under random writes"),
    ],
  },
  {
    name: "Days of work, MB/s",
    headlines: [
      line("heavy", REPLAYED, "Heavy", "Heavy work of 2011"),
      line("heavy-full", REPLAYED, "Heavy, full", "Heavy work of 2011 on a full drive"),
      line("light", REPLAYED, "Light", "Light work of 2011"),
      line("light-full", REPLAYED, "Light, full", "Light work of 2011 on a full drive"),
      line("destroyer", REPLAYED, "De\u00adstroyer", "The Destroyer of 2013"),
      line("destroyer-full", REPLAYED, "De\u00adstroyer, full", "The Destroyer of 2013 on a full drive"),
    ],
  },
];

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
