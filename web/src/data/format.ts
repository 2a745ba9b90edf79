// Numbers for people. All code uses these functions, so that a value has the same form everywhere.

const NARROW_SPACE = "\u202f";
export const UNKNOWN = "–";

/** Between a digit and groups of three up to the end. */
const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

/**
 * As `Intl.NumberFormat("en-US")` writes it, by own means: the first formatter of a page loads tables of all languages,
 * a sixth of the time to the first screen of a Bench.
 */
export function separated(value: number, digits = 0): string {
  const text = value.toFixed(digits);
  const [whole, decimals] = text.split(".");
  const grouped = whole.replace(THOUSANDS, ",");
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** A round number on an axis: a decimal only if it needs one. */
export function tick(value: number): string {
  return separated(value, value < 10 ? 1 : 0).replace(/\.0$/, "");
}

/** About three significant digits, with separators and without an exponent. */
export function significant(value: number, digits = 3): string {
  if (value === 0) return "0";
  // Rounded first: 0.9996 is 1.00, not 1.000.
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  const decimals = Math.max(0, Math.min(6, digits - 1 - magnitude));
  return separated(value, decimals);
}

/** Trailing zeros mean nothing on an axis or in a capacity. */
function trimmed(value: number, digits = 3): string {
  return significant(value, digits)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

export function withUnit(text: string, unit: string): string {
  return unit === "" ? text : `${text}${NARROW_SPACE}${unit}`;
}

/** "1 run", "2 runs". */
export function counted(count: number, noun: string): string {
  return `${separated(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function iops(value: number): string {
  return Math.abs(value) >= 100 || Number.isInteger(value) ? separated(value) : significant(value);
}

const COUNT_STEPS: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "K"],
];

/** 1, 10, 100, 1K, 10K: for axis ticks. */
export function shortCount(value: number): string {
  for (const [size, letter] of COUNT_STEPS) {
    if (Math.abs(value) >= size * (1 - 1e-9)) return trimmed(value / size) + letter;
  }
  return trimmed(value);
}

const DURATION_STEPS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

function durationStep(ns: number): [number, string] {
  // 999.6 µs would print as "1,000 µs": take the larger unit when rounding reaches it.
  return DURATION_STEPS.find(([size]) => Math.abs(ns) >= size * 0.9995) ?? [1, "ns"];
}

/** A latency in a suitable unit. */
export function duration(ns: number): string {
  if (ns === 0) return withUnit("0", "s");
  const [size, unit] = durationStep(ns);
  return withUnit(significant(ns / size), unit);
}

export function shortDuration(ns: number): string {
  const [size, unit] = durationStep(ns);
  return withUnit(trimmed(ns / size), unit);
}

export function seconds(value: number): string {
  return withUnit(Number.isInteger(value) ? separated(value) : significant(value, 4), "s");
}

/** Duration of a phase, for people: 42 s, 33 min 20 s, 1 h 5 min. */
export function clock(ns: number): string {
  const total = ns / 1e9;
  if (total < 120) return withUnit(trimmed(total), "s");
  const rounded = Math.round(total);
  const hours = Math.floor(rounded / 3600);
  const minutes = Math.floor((rounded % 3600) / 60);
  const rest = rounded % 60;
  const parts = [
    hours > 0 ? withUnit(String(hours), "h") : "",
    minutes > 0 ? withUnit(String(minutes), "min") : "",
    rest > 0 && hours === 0 ? withUnit(String(rest), "s") : "",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** "0%" means none and "100%" means all; values that only round to them look different. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.001) return "<0.001%";
  if (value < 100 && value >= 99.95) return ">99.9%";
  if (value === 0 || Math.abs(value) >= 99.95) return `${separated(value)}%`;
  return `${significant(value, Math.abs(value) < 1 ? 2 : 3)}%`;
}

/** The same without decimals. */
export function wholePercent(share: number): string {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return `${separated(share * 100)}%`;
}

/** Milliwatts below a watt: 42 mW is not 0.04 W. */
export function watts(value: number): string {
  if (value >= 0.9995) return withUnit(value.toFixed(2), "W");
  return withUnit(value * 1e3 < 10 ? significant(value * 1e3, 2) : (value * 1e3).toFixed(0), "mW");
}

const BYTE_STEPS: [number, string][] = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "KB"],
];

/** The largest unit of which a size is at least one, in the decimal units of drives; bytes below that. */
export function byteStep(value: number): [number, string] {
  // 999.6 MB would print as "1,000 MB".
  return BYTE_STEPS.find(([size]) => value >= size * 0.9995) ?? [1, "bytes"];
}

/** Decimal bytes. */
/** The size of a drive; 0 is an unknown one, of imported results. */
export function sizeOf(value: number): string {
  return value === 0 ? UNKNOWN : bytes(value);
}

export function bytes(value: number): string {
  const [size, unit] = byteStep(value);
  return withUnit(size === 1 ? separated(value) : trimmed(value / size), unit);
}

/** Raw NAND is built in powers of two; binary units if the size is a power of two. */
export function rawBytes(value: number): string {
  const gib = value / 2 ** 30;
  return Number.isInteger(gib) ? withUnit(separated(gib), "GiB") : bytes(value);
}

/** "1 in 10K" for a share: for axis ticks. */
export function shortOneIn(share: number): string {
  return share >= 1 ? "all" : `1 in ${shortCount(Number((1 / share).toPrecision(3)))}`;
}

/** "1 in 10,000" for a share. */
export function oneIn(share: number): string {
  if (share >= 1) return "all";
  const among = 1 / share;
  return `1 in ${among < 10 ? trimmed(among, 2) : separated(Number(among.toPrecision(3)))}`;
}

export function moment(rfc3339: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(rfc3339);
  return match ? `${match[1]} ${match[2]} UTC` : rfc3339;
}

/** Control characters, separators of lines, and marks of direction: they hide letters, or turn those around them. */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** A text from a file as readers can see it: a replacement character stands for each one that hides or turns letters. */
export function visible(text: string): string {
  return text.replace(HIDDEN, "\ufffd");
}

/** The beginning of a text that is longer than so many letters; no letter is cut in two. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  // A letter has two units at most.
  const letters = [...text.slice(0, 2 * most)];
  return letters.length <= most && text.length <= 2 * most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

/** Letters of a name; more would push everything else off the screen. */
const NAME_MAX = 80;

/** A name from a file as readers can see it, and not too long. */
export function nameText(name: string): string {
  return visible(shortened(name, NAME_MAX));
}

/** Text that a spreadsheet would take for a formula, unless it is a number. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !Number.isFinite(Number(text));
}

/**
 * One CSV field, quoted only where needed; a name that looks like a formula is marked as text. Some spreadsheets split
 * at semicolons and tabs, too.
 */
export function csvField(value: string | number | null): string {
  if (value === null) return "";
  const plain = visible(String(value));
  const text = isFormula(plain) ? `'${plain}` : plain;
  return /[",;\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
