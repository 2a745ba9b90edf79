// The part of a run that is done, from its planned phases.

import type { Phase } from "../data/schema.gen";

/** A phase of a run before it begins. */
export interface PlannedPhase {
  name: string;
  /** On the clock of the target; null for a moment, or if nobody knows. */
  duration_ns: number | null;
  /** Whether the length is guessed from the bytes that it moves. */
  is_estimate: boolean;
  /** Whether the phase may be left out: one of several rounds that end as soon as the test has enough. */
  is_optional: boolean;
}

export interface Progress {
  /** From 0 to 1. */
  share: number;
  leftNs: number;
  /** The certainty of the rest: `about`, `at most`, or empty. */
  words: string;
}

const SECOND_NS = 1e9;

/** Null without a plan. The clock is that of the target. */
export function progressOf(
  ended: readonly Phase[],
  planned: readonly PlannedPhase[],
  present: { phase: string; iops: readonly number[] },
): Progress | null {
  if (planned.length === 0) return null;
  const names = new Set(ended.map(({ name }) => name));
  const isPresent = present.phase !== "" && !names.has(present.phase);
  const elapsed = isPresent ? present.iops.length * SECOND_NS : 0;
  const left = planned.filter(({ name }) => !names.has(name));
  const spent = ended.reduce((sum, { duration_ns }) => sum + duration_ns, 0) + elapsed;
  const leftNs = left.reduce((sum, { name, duration_ns }) => {
    const whole = duration_ns ?? 0;
    return sum + (isPresent && name === present.phase ? Math.max(0, whole - elapsed) : whole);
  }, 0);
  const words = left.some(({ is_optional }) => is_optional)
    ? "at most"
    : left.some(({ is_estimate }) => is_estimate)
      ? "about"
      : "";
  return { share: spent + leftNs > 0 ? spent / (spent + leftNs) : 0, leftNs, words };
}
