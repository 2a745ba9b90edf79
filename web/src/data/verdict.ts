// The answer of the page in at most five sentences about one drive among the others.

import { holds, metricOf } from "./figures";
import { spareLabel } from "./load";
import { type Product, runsOf } from "./products";
import type { Entry, Ranking } from "./ranking";

/** Text, or a figure that links to its chart. */
export type Part = string | { text: string; test: string; metric: string };
export type Sentence = Part[];

export const SENTENCES_MAX = 5;

type Rank = (test: string, metric: string) => Ranking;

const ORDINALS = ["th", "st", "nd", "rd"];

/** 1st, 2nd, 3rd, 4th; 11th to 13th. */
export function ordinal(value: number): string {
  const isTeen = Math.floor(value / 10) % 10 === 1;
  return `${value}${(isTeen ? "" : ORDINALS[value % 10]) || "th"}`;
}

/** One figure of the drive, if it holds for the whole drive. */
class Told {
  private constructor(
    readonly entry: Entry,
    private ranking: Ranking,
  ) {}

  static of(product: Product, ranking: Ranking): Told | null {
    const entry = ranking.entries.find((one) => one.product === product);
    if (!entry?.run || entry.value === null || !holds(entry.run, ranking.figure.name)) return null;
    return new Told(entry, ranking);
  }

  link(text = this.entry.text): Part {
    return { text, test: this.ranking.test, metric: this.ranking.figure.name };
  }

  /** ", 2nd of 9", or nothing where there is nobody to compare with. */
  place(): string {
    const { rank } = this.entry;
    if (rank === null || this.ranking.ranked < 2) return "";
    return `${ordinal(rank)} of ${this.ranking.ranked}`;
  }
}

function placed(told: Told): Part[] {
  const place = told.place();
  return place === "" ? [] : [` (${place})`];
}

function pace(product: Product, rank: Rank): Sentence | null {
  const told = (metric: string) => Told.of(product, rank("consistency", metric));
  const [steady, even, longest] = ["iops_steady_mean", "iops_steady_cv", "latency_ns_max"].map(told);
  if (!steady) return null;
  const parts: Sentence = [
    product.plain,
    " keeps ",
    steady.link(`${steady.entry.text} IOPS`),
    " of random writes",
  ];
  parts.push(...placed(steady));
  if (even) parts.push("; its seconds vary by ", even.link(), ...placed(even));
  if (longest)
    parts.push(even ? " and its" : "; its", " longest wait is ", longest.link(), ...placed(longest));
  return [...parts, "."];
}

function spare(product: Product): Sentence | null {
  const means = runsOf(product, "consistency").flatMap((run) => {
    const mean = run.view.status === "complete" ? metricOf(run, "iops_steady_mean") : null;
    return mean ? [{ run, mean }] : [];
  });
  const base = means.find(({ run }) => run.variant === "default");
  const more = means.find(({ run }) => run.variant.includes("%"));
  if (!base || !more) return null;
  const times = more.mean / base.mean;
  const share = times >= 2 ? `${times.toFixed(1)} times the pace` : `${((times - 1) * 100).toFixed(0)}% more`;
  const text = times < 0.995 ? "no more" : times < 1.005 ? "the same pace" : share;
  const link = { text, test: "consistency", metric: "iops_steady_mean" };
  return [`With ${spareLabel(more.run.variant)} area it does `, link, "."];
}

function trim(product: Product, rank: Rank): Sentence | null {
  const after = Told.of(product, rank("trim", "trim.after_trim_share"));
  const outcome = after?.entry.run?.view.verdict?.outcome;
  if (!after || !outcome) return null;
  const begin = {
    pass: "TRIM works: it gives back ",
    fail: "TRIM does not work: it gives back ",
    inconclusive: "Whether TRIM works stays open: afterwards the drive has ",
  };
  return [begin[outcome], after.link(), " of the fresh speed."];
}

const WORK: [test: string, words: string][] = [
  ["heavy", "heavy work"],
  ["light", "light work"],
  ["destroyer", "the Destroyer"],
];

function listed(items: Part[][]): Part[] {
  return items.flatMap((item, at) => {
    const join = at === 0 ? "" : at === items.length - 1 ? " and " : ", ";
    return join === "" ? item : [join, ...item];
  });
}

function work(product: Product, rank: Rank): Sentence | null {
  const items = WORK.flatMap(([test, words]) => {
    const told = Told.of(product, rank(test, "avg_data_rate_mb_per_s"));
    return told ? [[told.link(), ` in ${words}`, ...placed(told)]] : [];
  });
  return items.length === 0 ? null : ["Replaying days of work it moves ", ...listed(items), "."];
}

/** Waits of 0.1 s are those that a person sees. */
function felt(product: Product, rank: Rank): Sentence | null {
  const told = Told.of(product, rank("consistency", "notice_waits"));
  if (!told) return null;
  if (told.entry.value === 0)
    return ["Under random writes ", told.link("no command"), " waits 0.1 s, which is what a person notices."];
  return [
    "Under random writes ",
    told.link(`${told.entry.text} commands`),
    " wait 0.1 s or longer, which a person notices.",
  ];
}

function power(product: Product, rank: Rank): Sentence | null {
  const rest = Told.of(product, rank("power", "power.idle.power_w_mean"));
  const load = Told.of(product, rank("power", "power.random_write.power_w_mean"));
  if (!rest || !load) return null;
  return [
    "It draws ",
    rest.link(),
    " at rest",
    ...placed(rest),
    " and ",
    load.link(),
    " at work",
    ...placed(load),
    ".",
  ];
}

function speed(product: Product, rank: Rank): Sentence | null {
  const read = Told.of(product, rank("corners", "corners.random_read.iops"));
  const write = Told.of(product, rank("corners", "corners.sequential_write.mb_per_s"));
  const items = [
    read && [read.link(`${read.entry.text} IOPS`), " of random reads", ...placed(read)],
    write && [write.link(), " of sequential writes", ...placed(write)],
  ].filter((item): item is Part[] => item !== null);
  return items.length === 0 ? null : ["It does ", ...listed(items), "."];
}

/** The most important ones of the sentences that the runs allow, in order. */
export function verdict(product: Product, rank: Rank): Sentence[] {
  const sentences = [
    pace(product, rank),
    felt(product, rank),
    spare(product),
    trim(product, rank),
    work(product, rank),
    speed(product, rank),
    power(product, rank),
  ];
  const told = sentences
    .filter((sentence): sentence is Sentence => sentence !== null)
    .slice(0, SENTENCES_MAX);
  const [first] = told;
  const named = first?.[0] === product.plain;
  return named || !first ? told : [[`${product.plain}: `, ...first], ...told.slice(1)];
}
