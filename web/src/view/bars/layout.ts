// Places of the parts of ranked bars: plain numbers, so that tests need no browser.

import { type Entry, type Ranking, rankedIn } from "../../data/ranking";

/** Rows are lower from this number of drives on. */
const MANY = 12;
const ROW = 22;
const ROW_LOW = 16;
/** Of a name above its bar. */
const NAME_ROW = 15;
/** A log scale takes dots, and is for values that lie this far apart. */
const LOG_FROM = 20;
/** Room for the line above the values without a rank. */
const DIVIDER = 16;

export interface BarRow {
  entry: Entry;
  /** Middle of the row. */
  y: number;
  /** 0 to 1 of the room for bars. */
  length: number;
  /** Whether the value exceeds the scale, so that the bar is broken. */
  isBroken: boolean;
}

export interface BarLayout {
  rows: BarRow[];
  row: number;
  /** Room above each bar for its name; 0 if names stand beside the bars. */
  nameRow: number;
  height: number;
  /** Whether values are dots on a log scale in place of bars from zero. */
  isLog: boolean;
  /** Place of the line above the values without a rank; null if there are none. */
  divider: number | null;
}

/** Waits span decades: whether a linear scale would show only the longest. */
function needsLog(unit: string, values: readonly number[]): boolean {
  const positive = values.filter((value) => value > 0);
  return unit === "ns" && positive.length > 1 && Math.max(...positive) / Math.min(...positive) > LOG_FROM;
}

function lengths(values: readonly number[], isLog: boolean): (value: number) => number {
  const top = Math.max(...values, 0);
  if (!isLog) return (value) => (top > 0 ? Math.max(0, value) / top : 0);
  const low = Math.min(...values.filter((value) => value > 0)) / 2;
  return (value) => (value <= 0 ? 0 : Math.log(Math.max(value, low) / low) / Math.log(top / low));
}

/** Unlike values have a bar, cut at the longest ranked one: they have no say in the axis. */
export function barLayout({ entries, figure }: Ranking, isStacked = false): BarLayout {
  const drawn = entries.filter(({ value }) => value !== null);
  const ranked = rankedIn(drawn);
  const owners = ranked.length > 0 ? ranked : drawn;
  const values = owners.map(({ value }) => value ?? 0);
  const isLog = needsLog(figure.unit, values);
  const length = lengths(values, isLog);
  const row = drawn.length > MANY || isStacked ? ROW_LOW : ROW;
  const nameRow = isStacked ? NAME_ROW : 0;
  const pitch = row + nameRow;
  const split = ranked.length > 0 && ranked.length < drawn.length;
  const rows = drawn.map((entry, at) => ({
    entry,
    y: at * pitch + nameRow + row / 2 + (split && at >= ranked.length ? DIVIDER : 0),
    length: Math.min(1, length(entry.value ?? 0)),
    isBroken: length(entry.value ?? 0) > 1,
  }));
  const height = drawn.length * pitch + (split ? DIVIDER : 0) + 4;
  const divider = split ? ranked.length * pitch + DIVIDER / 2 : null;
  return { rows, row, nameRow, height, isLog, divider };
}
