// Names of parameters and machine facts as people read them, with units after the number; and looking words up.

import { bytes, nameText, separated, withUnit } from "./format";

/** The value of a key of the table itself: a file may say `constructor`, which every object has. */
export function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** In reading order; unknown names follow, split into words. */
const WORDS: Record<string, string> = {
  duration_s: "Length of the load",
  steady_from_s: "Steady state from",
  block_bytes: "Block size",
  queue_depth: "Queue depth",
  purge: "Purged before",
  fill: "Filled before",
  fill_block_bytes: "Block size of the fill",
  architecture: "Architecture",
  cpu: "CPU",
  cpus: "CPU cores",
  memory_bytes: "Memory",
  kernel: "Kernel",
  virtual_machine: "Virtual machine",
  clock_source: "Clock source",
  io_uring_disabled: "io_uring_disabled",
  controller: "Controller",
  nand: "NAND",
  dram: "DRAM",
  interface: "Interface",
  channels: "Channels",
  dies: "Dies",
  scale: "Scale, share of full size",
  superblocks: "Superblocks",
  superblock_bytes: "Superblock size",
  buffer_bytes: "Write buffer",
  gc_policy: "Cleaning policy",
  gc_pacing: "Cleaning pace",
  gc_free_low: "Cleaning from, free superblocks",
  gc_free_high: "Cleaning until, free superblocks",
  file_system: "File system",
  on: "On",
};
const ORDER = Object.keys(WORDS);

function rank(name: string): number {
  const at = ORDER.indexOf(name);
  return at < 0 ? ORDER.length : at;
}

export function wordOf(name: string): string {
  return own(WORDS, name) ?? nameText(name.replace(/_(bytes|s|ns)$/, "").replaceAll("_", " "));
}

/** Label and value of each, in reading order. */
export function wordRows(values: Record<string, unknown>): [string, string][] {
  return Object.entries(values)
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([name, value]) => [wordOf(name), valueText(name, value)]);
}

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === "true") return "yes";
  if (text === "false") return "no";
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? numberText(name, number) : text;
}

function numberText(name: string, value: number): string {
  if (name === "memory_bytes") return bytes(value);
  if (name.endsWith("_bytes")) return sizeText(value);
  const unit = /_(s|ns)$/.exec(name)?.[1] ?? "";
  // Versions and similar values keep their digits.
  const digits = Number.isInteger(value) ? separated(value) : String(value);
  return withUnit(digits, unit);
}

const BINARY_STEPS: [number, string][] = [
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
];

/** Blocks and buffers are powers of two, drives are decimal: each has its own units. */
function sizeText(value: number): string {
  const step = BINARY_STEPS.find(([size]) => value >= size && value % size === 0);
  if (!step) return bytes(value);
  return withUnit(separated(value / step[0]), step[1]);
}
