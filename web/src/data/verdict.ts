// The answer of the page in at most five sentences about one drive among the others.

import { FELT_NS, heldOf, metricOf } from "./figures";
import { seconds } from "./format";
import { titleOf } from "./headlines";
import { isImported, type Run, spareLabel } from "./load";
import { barOf, hasMark, isQuick, lackOf, markLabels } from "./marks";
import { SAME } from "./pair";
import { type Product, runsOf } from "./products";
import { type Entry, type Ranking, rankedIn } from "./ranking";
import { own } from "./words";

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

/** One figure of the drive, if no mark and no status bars it. */
class Told {
  private constructor(
    readonly entry: Entry,
    private ranking: Ranking,
  ) {}

  static of(product: Product, ranking: Ranking): Told | null {
    const entry = ranking.entries.find((one) => one.product === product);
    if (!entry?.run || entry.value === null || barOf(entry.run, ranking.figure.name) !== "") return null;
    return new Told(entry, ranking);
  }

  get metric(): string {
    return this.ranking.figure.name;
  }

  link(text = this.entry.text): Part {
    return { text, test: this.ranking.test, metric: this.ranking.figure.name };
  }

  /** "2nd of 9", "1st of 2 ranked", or nothing where there is nobody to compare with. */
  place(): string {
    const { rank } = this.entry;
    if (rank === null || this.ranking.ranked < 2) return "";
    const { ranked, entries } = this.ranking;
    return `${ordinal(rank)} of ${ranked}${ranked < entries.length ? " ranked" : ""}`;
  }
}

/** The marks that leave the figure standing. */
function noted({ run }: Entry, metric: string): Part[] {
  const label = run ? markLabels(run, metric) : "";
  return label === "" ? [] : [` (${label})`];
}

/** The same behind the place. */
function placed(told: Told): Part[] {
  const { run } = told.entry;
  const label = run ? markLabels(run, told.metric) : "";
  const notes = [told.place(), label].filter((text) => text !== "");
  return notes.length === 0 ? [] : [` (${notes.join("; ")})`];
}

function pace(product: Product, rank: Rank, isTold: boolean): Sentence | null {
  const told = (metric: string) => Told.of(product, rank("consistency", metric));
  const [steady, even, longest] = ["iops_steady_mean", "iops_steady_jitter_share", "latency_ns_max"].map(
    told,
  );
  if (!steady) return unsteady(product, rank);
  if (isQuick(steady.entry.run)) return quickPace(product, steady);
  if (isTold && !even) return null;
  const kept = [" keeps ", steady.link(`${steady.entry.text} IOPS`), " of random writes", ...placed(steady)];
  const parts: Sentence = [product.plain, ...(isTold ? [] : kept)];
  if (even)
    parts.push(
      isTold ? " varies from one second to the next by " : "; from one second to the next it varies by ",
      even.link(),
      ...placed(even),
    );
  if (longest)
    parts.push(even ? " and its" : "; its", " longest wait is ", longest.link(), ...placed(longest));
  return [...parts, "."];
}

/** A minute that became even on a small drive is still no pace that it keeps. */
function quickPace(product: Product, steady: Told): Sentence {
  const length = steady.entry.run ? loadSeconds(steady.entry.run) : 0;
  const time = length > 0 ? ` for ${seconds(length)}` : "";
  return [
    "In a quick run ",
    product.plain,
    ` wrote${time}, at last at `,
    steady.link(`${steady.entry.text} IOPS`),
    ...noted(steady.entry, steady.metric),
    ".",
  ];
}

/** Seconds of load that a run has; 0 if nobody told them. */
function loadSeconds({ view, columns: { second } }: Run): number {
  const load = view.phases.find(({ name }) => name === "load");
  return load ? Math.round(load.duration_ns / 1e9) : Math.round((second.at(-1) ?? -1) + 1);
}

const ENDS: Record<string, string> = {
  interrupted: "was interrupted",
  failed: "failed",
  running: "has not ended",
};

/** What a run measured that has no figure of its steady pace, and no judgement. */
function unsteady(product: Product, rank: Rank): Sentence | null {
  const metric = "iops_steady_mean";
  const run = rank("consistency", metric).entries.find((entry) => entry.product === product)?.run;
  const barred = run ? barOf(run, metric) : "";
  if (!run || isImported(run) || barred === "") return null;
  const length = loadSeconds(run);
  const time = length > 0 ? ` for ${seconds(length)}` : "";
  if (lackOf(run) === "incomplete") {
    const after = length > 0 ? ` after ${seconds(length)} of random writes` : "";
    const end = own(ENDS, run.view.status) ?? "was interrupted";
    return [product.plain, `: its run ${end}${after}, and nothing is judged by it.`];
  }
  if (!hasMark(run, metric, "not-steady"))
    return [product.plain, `: nothing is said of its pace (${barred}).`];
  const name = "iops_fresh_mean";
  const entry = rank("consistency", name).entries.find((one) => one.product === product);
  const quick = lackOf(run) === "quick" ? "In a quick run " : "";
  const wrote = ` wrote${time} on a fresh drive`;
  const end = "; steady state was not reached.";
  if (!entry?.run || entry.value === null) return [quick, product.plain, wrote, end];
  const pace = { text: `${entry.text} IOPS`, test: "consistency", metric: name };
  return [quick, product.plain, wrote, ", in the last part at ", pace, end];
}

function spare(product: Product): Sentence | null {
  const means = runsOf(product, "consistency").flatMap((run) => {
    const mean = barOf(run, "iops_steady_mean") === "" ? metricOf(run, "iops_steady_mean") : null;
    return mean ? [{ run, mean }] : [];
  });
  const base = means.find(({ run }) => run.variant === "default");
  const more = means.find(({ run }) => run.variant.includes("%"));
  if (!base || !more) return null;
  const times = more.mean / base.mean;
  const share = times >= 2 ? `${times.toFixed(1)} times the pace` : `${((times - 1) * 100).toFixed(0)}% more`;
  const text = times < 0.995 ? "no more" : times < 1.005 ? "the same pace" : share;
  const link = { text, test: "consistency", metric: "iops_steady_mean" };
  return [`With ${spareLabel(more.run.variant.replace(/ #\d+$/, ""))} area it does `, link, "."];
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
  return [begin[outcome], after.link(), " of the fresh speed", ...noted(after.entry, after.metric), "."];
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

/** Waits of 0.1 s are those that a person sees. A fresh drive tells nothing of those of a used one. */
function felt(product: Product, rank: Rank): Sentence | null {
  const told = Told.of(product, rank("consistency", "notice_waits"));
  if (!told?.entry.run || lackOf(told.entry.run) !== null) return null;
  const begin = "Under random writes ";
  if (told.entry.value === 0)
    return [
      begin,
      told.link("no command"),
      " waits 0.1 s",
      ...noted(told.entry, told.metric),
      ", which is what a person notices.",
    ];
  const many = told.link(`${told.entry.text} commands`);
  return [
    begin,
    many,
    " wait 0.1 s or longer",
    ...noted(told.entry, told.metric),
    ", which a person notices.",
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

/** The reason for which one drive keeps more than another: a write amplification that makes at least half of it. */
function reason(winner: Run, loser: Run, times: number): string {
  const [less, more] = [winner, loser].map((run) => heldOf(run, "waf_steady"));
  if (less === null || more === null || more < less * Math.sqrt(times)) return "";
  return `, because it programs ${more.toFixed(1)} pages for each written one, and the winner ${less.toFixed(1)}`;
}

/** The drive that stops for longest, if a person notices it. */
function stops(waits: Ranking, names: (entry: Entry) => string): Sentence {
  const ranked = rankedIn(waits.entries);
  const worst = ranked[ranked.length - 1];
  if (!worst || (worst.value ?? 0) < FELT_NS) return [];
  const link = { text: worst.text, test: waits.test, metric: waits.figure.name };
  return ["; ", names(worst), " stops for up to ", link, " at a time"];
}

/** "5 drives", "4 ranked drives" where more have the figure. */
function among(ranked: number, all: number): string {
  return `${ranked}${ranked < all ? " ranked" : ""} drives`;
}

/** The drive that keeps most of its pace and the one that keeps least, or null if fewer than two are ranked. */
export function contest(rank: Rank): Sentence | null {
  const pace = rank("consistency", "iops_steady_mean");
  const ranked = rankedIn(pace.entries).filter(({ run }) => !isQuick(run));
  const count = among(ranked.length, pace.entries.length);
  const [winner, loser] = [ranked[0], ranked[ranked.length - 1]];
  if (ranked.length < 2 || !winner.run || !loser.run || !winner.value || loser.value === null) return null;
  const link = (text: string) => ({ text, test: pace.test, metric: pace.figure.name });
  const longest = rank("consistency", "latency_ns_max");
  if (loser.value >= winner.value * (1 - SAME))
    return [
      `All ${count} keep the same pace within 3%: `,
      link(`${winner.text} IOPS`),
      " of random writes",
      ...noted(winner, pace.figure.name),
      ...stops(longest, ({ product }) => product.plain),
      ".",
    ];
  const names = ({ product }: Entry) => (product === loser.product ? "it" : product.plain);
  return [
    winner.product.plain,
    ` keeps the most of ${count}, `,
    link(`${winner.text} IOPS`),
    " of random writes",
    ...noted(winner, pace.figure.name),
    "; ",
    loser.product.plain,
    " keeps the least, ",
    link(loser.text),
    ...noted(loser, pace.figure.name),
    reason(winner.run, loser.run, winner.value / Math.max(loser.value, 1)),
    ...stops(longest, names),
    ".",
  ];
}

/** The best and the last drive in a figure; null if fewer than two are ranked or all have the same value. */
export function lead({ test, figure, entries }: Ranking): Sentence | null {
  const ranked = rankedIn(entries);
  const [best, last] = [ranked[0], ranked[ranked.length - 1]];
  if (!figure.better || !best || best.text === last.text) return null;
  const link = ({ text }: Entry) => ({ text, test, metric: figure.name });
  return [
    `In “${titleOf(test, figure)}” `,
    best.product.plain,
    ` is the best of ${among(ranked.length, entries.length)}, `,
    link(best),
    ...noted(best, figure.name),
    "; ",
    last.product.plain,
    " is the last, ",
    link(last),
    ...noted(last, figure.name),
    ".",
  ];
}

/** The most important ones of the sentences that the runs allow, in order; `isPaceTold` if another one has the pace. */
export function verdict(product: Product, rank: Rank, isPaceTold = false): Sentence[] {
  const sentences = [
    pace(product, rank, isPaceTold),
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
  const named = first?.includes(product.plain);
  return named || !first ? told : [[`${product.plain}: `, ...first], ...told.slice(1)];
}
