// Work that people feel, in seconds: the time that a drive saves against the slowest and the fastest here.

import { FELT_NS, type Figure } from "./figures";
import { clock, separated, withUnit } from "./format";
import type { Product } from "./products";
import { type Entry, type Ranking, rankedIn } from "./ranking";

/** Nobody feels a difference below this. */
export const FELT_S = FELT_NS / 1e9;

/** A load with the drives that did it under equal conditions. */
export interface Load {
  /** As in the table of the test: `level load`. */
  name: string;
  /** Times that a person does it in a day, assumed; null of a part of a load. */
  aDay: number | null;
  ranking: Ranking;
}

/** A load of one drive beside the slowest and the fastest here. */
export interface Saving {
  load: string;
  aDay: number | null;
  timeS: number;
  slowest: Entry;
  fastest: Entry;
  /** Seconds that the drive saves against each of them; 0 if nobody feels the difference. */
  againstSlowestS: number;
  againstFastestS: number;
}

/** Difference of two times that a person notices, in seconds: zero below the threshold. */
export function felt(differenceS: number): number {
  // 1.1 - 1.0 is less than 0.1 in binary.
  return Math.abs(differenceS) < FELT_S - 1e-9 ? 0 : differenceS;
}

/** The loads of a drive, if there is another one to compare it with. */
export function savings(loads: readonly Load[], product: Product): Saving[] {
  return loads.flatMap(({ name, aDay, ranking }) => {
    const ranked = rankedIn(ranking.entries);
    const own = ranked.find((entry) => entry.product === product);
    const [fastest, slowest] = [ranked[0], ranked[ranked.length - 1]];
    if (!own || own.value === null || ranked.length < 2) return [];
    const saved = (other: Entry) => felt((other.value ?? 0) - (own.value ?? 0));
    return [
      {
        load: name,
        aDay,
        timeS: own.value,
        slowest,
        fastest,
        againstSlowestS: saved(slowest),
        againstFastestS: saved(fastest),
      },
    ];
  });
}

/**
 * Seconds that a drive saves in a day: a difference that nobody feels counts never, however often. Null if the loads
 * are parts.
 */
export function savedInDay(all: readonly Saving[], against: "slowest" | "fastest"): number | null {
  const of = (one: Saving) => (against === "slowest" ? one.againstSlowestS : one.againstFastestS);
  return all.reduce<number | null>(
    (sum, one) => (sum === null || one.aDay === null ? null : sum + one.aDay * of(one)),
    0,
  );
}

/** Seconds with the 0.1 s that a person feels; from two minutes on as on a clock. */
export function secondsText(seconds: number): string {
  return Math.abs(seconds) < 120 ? withUnit(separated(seconds, 1), "s") : clock(seconds * 1e9);
}

/** A saving in words: "4.3 s less", "0.2 s more", or "the same" if nobody feels it. */
export function savingText(savedS: number): string {
  if (felt(savedS) === 0) return "the same";
  return `${secondsText(Math.abs(savedS))} ${savedS > 0 ? "less" : "more"}`;
}

/** The load of a figure of the test, as its table names it; null for other figures. */
export function loadOf({ name }: Figure): string | null {
  const step = /^feel\.([^.]+)\.time_s$/.exec(name)?.[1];
  return step && step !== "day" ? step.replaceAll("_", " ") : null;
}

/** Whether a person notices the waits of a drive: some on a day of light work, or on one of heavy work alone. */
export function noticeText(light: number, heavy: number | null): string {
  if (light > 0) return `daily, ${separated(light)}`;
  return heavy !== null && heavy > 0 ? "rarely" : "none";
}
