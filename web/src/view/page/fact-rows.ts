// The drives' facts side by side, rated figures beside measured ones.

import { FACTS } from "../../data/facts.gen";
import { metricOf } from "../../data/figures";
import { duration, separated, significant, sizeOf, watts, withUnit } from "../../data/format";
import { type Drive, type Library, type Run, runsOf } from "../../data/load";
import { holds } from "../../data/marks";
import type { Facts, Price, Target } from "../../data/schema.gen";

/** A value of a drive in the table. */
export interface FactCell {
  text: string;
  /** Conditions or date; empty if there are none. */
  note: string;
  /** Certainty and source of a fact; the name of a measured figure. */
  from: string;
  /** The run of a measured figure; null for a fact. */
  run: Run | null;
}

/** A row of the table: a cell for each drive, null if unknown. */
export interface FactRow {
  label: string;
  measured: boolean;
  cells: (FactCell | null)[];
}

type Column = (typeof FACTS)[number];
type Key = Column["key"];

interface Entry {
  value: string | number;
  conditions?: string | null;
  from: string;
}

/** The figures of a run that a vendor rates, by the key of the rated one, and their share of its unit. */
const MEASURED: Partial<Record<Key, [metric: string, factor: number]>> = {
  "rated.sequential_read_mb_per_s": ["corners.sequential_read.mb_per_s", 1],
  "rated.sequential_write_mb_per_s": ["corners.sequential_write.mb_per_s", 1],
  "rated.random_read_iops": ["corners.random_read_deep.iops", 1],
  "rated.random_write_iops": ["corners.random_write_deep.iops", 1],
  "rated.idle_mw": ["power.idle.power_w_mean", 1000],
};

/** The rows of which at least one drive has a value. */
export function factRows(library: Library): FactRow[] {
  const { listed } = library;
  const capacity: FactRow = {
    label: "Capacity",
    measured: false,
    cells: listed.map((drive) => plain(sizeOf(wholeBytes(targetOf(drive))), "as the drive reports it")),
  };
  const facts = FACTS.flatMap((column) => [
    { label: column.label, measured: false, cells: listed.map((drive) => cellOf(drive, column)) },
    measuredRow(library, column),
  ]);
  const perGb = { label: "Price per GB", measured: false, cells: listed.map(pricePerGbCell) };
  const rows = [...facts, perGb].filter(({ cells }) => cells.some((cell) => cell !== null));
  return rows.some(({ measured }) => !measured) ? [capacity, ...rows] : [];
}

function targetOf(drive: Drive): Target {
  return drive.runs[0].view.target;
}

function factsOf(drive: Drive): Facts {
  return targetOf(drive).facts ?? {};
}

function plain(text: string, from: string, note = ""): FactCell {
  return { text, note, from, run: null };
}

function cellOf(drive: Drive, { key, unit }: Column): FactCell | null {
  const facts = factsOf(drive);
  if (key === "price") return facts.price ? priceCell(facts.price) : null;
  const rated = key.startsWith("rated.");
  const entries = (rated ? (facts.rated ?? {}) : facts) as Record<string, Entry | null | undefined>;
  const entry = entries[rated ? key.slice("rated.".length) : key];
  return entry ? plain(shown(entry.value, unit), entry.from, entry.conditions ?? "") : null;
}

function priceCell({ amount_cents, currency, date, from }: Price): FactCell {
  return plain(withUnit(separated(amount_cents / 100, 2), currency), from, date);
}

/** The price of a GB that the drive offers. */
export function pricePerGb(drive: Drive): { value: number; currency: string; text: string } | null {
  const { price } = factsOf(drive);
  if (!price) return null;
  const { currency } = price;
  const value = price.amount_cents / 100 / (wholeBytes(targetOf(drive)) / 1e9);
  return { value, currency, text: withUnit(significant(value), `${currency}/GB`) };
}

function pricePerGbCell(drive: Drive): FactCell | null {
  const { price } = factsOf(drive);
  const each = pricePerGb(drive);
  return price && each ? plain(each.text, price.from, price.date) : null;
}

/** The size of the whole drive, also where a part of it is simulated. */
function wholeBytes({ capacity_bytes, details }: Target): number {
  const share = /^(\d+)\/(\d+)$/.exec(details.scale ?? "");
  return share ? (capacity_bytes * Number(share[2])) / Number(share[1]) : capacity_bytes;
}

/** The word for figures of runs: nothing of a simulated drive was measured. */
function foundBy({ listed }: Library): string {
  const simulated = listed.filter((drive) => targetOf(drive).kind === "simulated").length;
  if (simulated === 0) return "Measured";
  return simulated === listed.length ? "Simulated" : "Simulated or measured";
}

function measuredRow(library: Library, { key, label, unit }: Column): FactRow {
  const [metric, factor] = MEASURED[key] ?? ["", 1];
  const cell = (drive: Drive): FactCell | null => {
    const runs = runsOf(library, drive).filter((one) => metricOf(one, metric) !== null);
    const run = runs.find((one) => holds(one, metric)) ?? runs[0];
    const value = run && metricOf(run, metric);
    return run && value !== null && value !== undefined
      ? { text: shown(value * factor, unit), note: "", from: metric, run }
      : null;
  };
  return { label: label.replace("Rated", foundBy(library)), measured: true, cells: library.listed.map(cell) };
}

function shown(value: string | number, unit: Column["unit"]): string {
  if (typeof value === "string") return value;
  if (unit === "ns") return duration(value);
  if (unit === "mW") return watts(value / 1000);
  return unit === "" ? separated(value) : withUnit(separated(value), unit);
}
