// From the JSON in the page to runs with typed columns. Only `reportText` uses the DOM.

import { nameText, sizeOf, withUnit } from "./format";
import type { Report, RunView, Target } from "./schema.gen";
import { heading, isGraphed } from "./tests";
import { own } from "./words";

export const DATA_ELEMENT_ID = "ssdlab-data";

/** Columns of equal length; an unknown value is NaN. An empty column was not measured. */
export interface Columns {
  second: Float64Array;
  iops: Float64Array;
  p50: Float64Array;
  p99: Float64Array;
  max: Float64Array;
  waf: Float64Array;
  freeSuperblocks: Float64Array;
  bufferMb: Float64Array;
  gcMoved: Float64Array;
  /** Valid pages in the fast cache. */
  pslc: Float64Array;
  dieBusy: Float64Array;
  channelBusy: Float64Array;
  controllerBusy: Float64Array;
}

export type ColumnName = keyof Columns;

export interface Run {
  id: string;
  view: RunView;
  drive: Drive;
  /** Label of the spare-area button, unique within the drive. */
  variant: string;
  simulated: boolean;
  columns: Columns;
}

export interface Drive {
  /** Stable word for the URL. */
  key: string;
  /** For people; the whole text of a very long one is in its runs. */
  name: string;
  badge: string | null;
  runs: Run[];
}

export interface Library {
  report: Report;
  /** Drives with at least one run that the graphs are for, in the order given. */
  drives: Drive[];
  /** Every drive of the report, each once: those above, then those with other tests only. */
  listed: Drive[];
  runs: Run[];
  /** Runs of tests without graphs on this page. */
  others: Run[];
}

/**
 * A seed is a u64 and may not fit a JavaScript number: keep its digits as text. The pattern cannot match
 * inside a JSON string, where the quotes would be escaped.
 */
export function parseReport(text: string): Report | null {
  return JSON.parse(text.replace(/"seed"\s*:\s*(\d{16,})/g, '"seed":"$1"')) as Report | null;
}

export function reportText(page: Document): string {
  return page.getElementById(DATA_ELEMENT_ID)?.textContent?.trim() || "null";
}

/** The text of a zlib stream in base64. */
export function unpacked(base64: string): Promise<string> {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  // Megabytes of them: an iterator would take ten times as long.
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  return unpackedBytes(new Blob([bytes]));
}

/** The text of a zlib stream. */
export function unpackedBytes(packed: Blob): Promise<string> {
  return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

/** A page of telemetry. */
const PAGE_BYTES = 4096;

function column(values: readonly (number | null)[] | undefined, scale = 1): Float64Array {
  const source = values ?? [];
  const out = new Float64Array(source.length);
  for (let i = 0; i < source.length; i++) {
    const value = source[i];
    out[i] = value === null ? Number.NaN : value * scale;
  }
  return out;
}

/** Of a run without seconds; most runs of a library have none, and all of them share these. */
const NO_SECONDS = columnsIn({
  time_s: [],
  iops: [],
  latency_ns_p50: [],
  latency_ns_p99: [],
  latency_ns_max: [],
  waf: [],
  telemetry: {},
  die_busy_share: [],
  channel_busy_share: [],
  controller_busy_share: [],
});

export function columnsOf({ series }: RunView): Columns {
  return series.iops.length === 0 ? NO_SECONDS : columnsIn(series);
}

function columnsIn(s: RunView["series"]): Columns {
  return {
    second: s.time_s.length > 0 ? column(s.time_s) : Float64Array.from(s.iops, (_, second) => second),
    iops: column(s.iops),
    p50: column(s.latency_ns_p50),
    p99: column(s.latency_ns_p99),
    max: column(s.latency_ns_max),
    waf: column(s.waf),
    freeSuperblocks: column(s.telemetry.free_superblocks),
    bufferMb: column(s.telemetry.buffer_pages, PAGE_BYTES / 1e6),
    gcMoved: column(s.telemetry.gc_moved_pages),
    pslc: column(s.telemetry.pslc_pages),
    dieBusy: column(s.die_busy_share),
    channelBusy: column(s.channel_busy_share),
    controllerBusy: column(s.controller_busy_share),
  };
}

const BADGES: Record<string, string> = { simulated: "simulated", file: "file", null: "null target" };

/** The badge that accompanies the name of the target everywhere. */
export function badgeOf({ target, origin }: RunView): string | null {
  const badge = own(BADGES, target.kind);
  return origin ? [badge, "imported"].filter(Boolean).join(", ") : (badge ?? null);
}

/** Seconds in a point of the graphs: 1, or more in the small form of a library. */
export function secondsAPoint({ view }: Run): number {
  return view.series.seconds_a_point ?? 1;
}

/** Whether points are means of several seconds, so that nothing is known of a single one. */
export function isSmall(run: Run): boolean {
  return secondsAPoint(run) > 1;
}

/** Whether the run is of another program: some of its conditions are unknown. */
export function isImported({ view }: Run): boolean {
  return Boolean(view.origin);
}

/** Size of a simulated drive as a share of its model, e.g. `1/64`; empty at full size, and for other drives. */
export function scaleOf({ view }: Run): string {
  return view.target.details.scale ?? "";
}

/** Whether the graphs of every second are for this run: of their test, or a load of another program. */
function hasGraphs({ test, origin, series }: RunView): boolean {
  return isGraphed(test) || (Boolean(origin) && series.iops.length > 0);
}

const IDENTITIES = new WeakMap<Target, string>();

/** Equal for runs of one drive. */
export function identity({ target, origin }: RunView): string {
  const known = IDENTITIES.get(target);
  if (known !== undefined) return known;
  const { kind, name, serial, capacity_bytes, firmware } = target;
  const of = [kind, name, serial ?? "", capacity_bytes, firmware ?? "", origin?.format ?? ""];
  const text = JSON.stringify(of);
  IDENTITIES.set(target, text);
  return text;
}

function identityOf({ runs }: Drive): string {
  return identity(runs[0].view);
}

/** Letters of a name in an address. */
const SLUG_MAX = 60;

function slug(name: string): string {
  return (
    name
      .toLowerCase()
      .slice(0, SLUG_MAX)
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "drive"
  );
}

function unique(wanted: string, taken: Set<string>, join: string): string {
  let candidate = wanted;
  for (let n = 2; taken.has(candidate); n++) candidate = `${wanted}${join}${n}`;
  taken.add(candidate);
  return candidate;
}

/** Properties that may distinguish drives of one name. */
const MARKS: ((target: Target) => string)[] = [
  ({ serial }) => nameText(serial ?? ""),
  ({ capacity_bytes }) => sizeOf(capacity_bytes),
  ({ firmware }) => (firmware ? `firmware ${nameText(firmware)}` : ""),
];

/** Two drives of one name must read differently: adds their differences. */
function nameApart(drives: Drive[]): void {
  const byName = new Map<string, Drive[]>();
  for (const drive of drives) {
    const shown = `${drive.name}|${drive.badge}`;
    byName.set(shown, [...(byName.get(shown) ?? []), drive]);
  }
  const markOf = (drive: Drive, mark: (typeof MARKS)[number]) => mark(drive.runs[0].view.target);
  for (const alike of byName.values()) {
    const telling = MARKS.filter((mark) => new Set(alike.map((drive) => markOf(drive, mark))).size > 1);
    for (const drive of alike) {
      const marks = telling.map((mark) => markOf(drive, mark)).filter((text) => text !== "");
      if (marks.length > 0) drive.name += ` (${marks.join(", ")})`;
    }
  }
}

class Grouping {
  drives: Drive[] = [];
  private byIdentity = new Map<string, Drive>();
  private keys = new Set<string>();
  private ids = new Set<string>();

  add(view: RunView): Run {
    const drive = this.driveOf(view);
    const same = drive.runs.filter((run) => run.view.test === view.test);
    const variants = new Set(same.map((run) => run.variant));
    const run: Run = {
      id: unique(view.run_id, this.ids, "-"),
      view,
      drive,
      variant: unique(nameText(view.span.variant), variants, " #"),
      simulated: view.target.kind === "simulated",
      columns: columnsOf(view),
    };
    drive.runs.push(run);
    return run;
  }

  /** All runs, drive by drive, once every one is added. */
  sorted(): Run[] {
    for (const { runs } of this.drives) runs.sort((a, b) => byVariant(a.variant, b.variant));
    return this.drives.flatMap(({ runs }) => runs);
  }

  private driveOf(view: RunView): Drive {
    const known = this.byIdentity.get(identity(view));
    if (known) return known;
    const key = unique(slug(view.target.name), this.keys, "-");
    const drive: Drive = { key, name: nameText(view.target.name), badge: badgeOf(view), runs: [] };
    this.byIdentity.set(identity(view), drive);
    this.drives.push(drive);
    return drive;
  }
}

/** `default` first, then by spare area; spans in bytes keep their order, at the end. */
function variantRank(variant: string): number {
  if (variant.startsWith("default")) return -1;
  const share = /^(\d+(?:\.\d+)?)%/.exec(variant);
  return share ? Number(share[1]) : Number.POSITIVE_INFINITY;
}

export function byVariant(a: string, b: string): number {
  const [left, right] = [variantRank(a), variantRank(b)];
  return left === right ? 0 : left - right;
}

export function libraryOf(report: Report): Library {
  const graphed = new Grouping();
  const rest = new Grouping();
  for (const view of report.runs) (hasGraphs(view) ? graphed : rest).add(view);
  nameApart([...graphed.drives, ...rest.drives]);
  const known = new Set(graphed.drives.map(identityOf));
  return {
    report,
    drives: graphed.drives,
    listed: [...graphed.drives, ...rest.drives.filter((drive) => !known.has(identityOf(drive)))],
    runs: graphed.sorted(),
    others: rest.sorted(),
  };
}

/** All runs of a drive, of every test. */
export function runsOf({ runs, others }: Library, drive: Drive): Run[] {
  return [...runs, ...others].filter(({ view }) => identity(view) === identityOf(drive));
}

/** The runs with results beside the graphs; an imported load has graphs and other figures. */
export function runsBeside({ runs, others }: Library): Run[] {
  return [...others, ...runs.filter(isImported)];
}

/** The test that the graphs are for. */
export function graphedTest({ runs }: Library): string {
  return runs.find((run) => !isImported(run))?.view.test ?? "consistency";
}

/** The heading of the runs that the graphs are for. */
export function graphedHeading(library: Library): string {
  return heading(graphedTest(library));
}

/** The name with its badge, for places with plain text only. */
export function plainName(run: Run): string {
  return run.drive.badge ? `${run.drive.name} (${run.drive.badge})` : run.drive.name;
}

/** Whether a variant is the first part of a drive, as asked in bytes, and no share of spare area. */
export function isSpan(variant: string): boolean {
  return !variant.startsWith("default") && !variant.includes("%");
}

/** The title of a choice between these variants. */
export function variantsTitle(variants: readonly string[]): string {
  if (variants.length > 0 && variants.every(isSpan)) return "Part of the drive";
  return variants.some(isSpan) ? "Spare area or part" : "Spare area";
}

/** A variant is `default`, a share of spare area, or the size of the requested span. */
export function spareLabel(variant: string): string {
  if (variant.startsWith("default")) return variant.replace("default", "as sold");
  return isSpan(variant) ? `first ${variant}` : `${variant} spare`;
}

/** The same under a head that says spare area. */
export function areaLabel(variant: string): string {
  return spareLabel(variant).replace(/ spare$/, "");
}

/** The capacity that a vendor would print on a drive with so much to write: a round number. */
function advertised(bytes: number): string {
  const gb = bytes / 1e9;
  const step = gb >= 100 ? 10 : gb >= 10 ? 1 : 0.1;
  return withUnit(String(Number((Math.round(gb / step) * step).toFixed(1))), "GB");
}

/** A variant as reviews name it, with the drive that a vendor would sell in this way where its size is known. */
export function spareName(variant: string, spanBytes: number | null): string {
  const label = spareLabel(variant);
  return spanBytes === null || !variant.includes("%")
    ? label
    : `${label}: as a ${advertised(spanBytes)} drive`;
}
