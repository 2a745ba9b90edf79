// The choices of the reader, and their URL hash, so that a view can be linked.

export type View = "single" | "compare";
export type Percentile = "p50" | "p99" | "max";
export type Theme = "auto" | "light" | "dark";

export interface State {
  view: View;
  drive: string;
  /** The requested variant; a drive without it shows its first variant instead. */
  variant: string;
  /** Run ids by colour. A gap keeps the colours of the others after a removal. */
  compare: (string | null)[];
  zoom: [number, number] | null;
  percentile: Percentile;
  theme: Theme;
  /** Keys of the drives that charts bring forward beside the chosen one, in order of marking. */
  marked: string[];
  /** Key of the figure that sorts the table at a glance, with `-` before it for the reverse; empty for none. */
  sort: string;
  /** Keys of the two drives that stand side by side; empty for the first two. */
  pair: string[];
  /** Whether drives of the reference library stand beside those of the page. */
  hasContext: boolean;
  /** Id of the section that the reader went to; empty at the top. */
  at: string;
}

/** Most colours that everyone can distinguish. */
export const COMPARE_MAX = 6;

/** Most drives beside the chosen one that have a colour. */
export const MARKED_MAX = COMPARE_MAX - 1;

/** Before any choice. */
export function firstState(): State {
  return {
    view: "single",
    drive: "",
    variant: "",
    compare: [],
    zoom: null,
    percentile: "p99",
    theme: "auto",
    marked: [],
    sort: "",
    pair: [],
    hasContext: true,
    at: "",
  };
}

type Listener = (state: State, before: State) => void;

export class Store {
  private listeners: Listener[] = [];
  private current: State;

  constructor(initial: State) {
    this.current = initial;
  }

  get state(): State {
    return this.current;
  }

  set(change: Partial<State>): void {
    const before = this.current;
    this.current = { ...before, ...change };
    for (const listener of this.listeners) listener(this.current, before);
  }

  subscribe(listener: Listener): void {
    this.listeners.push(listener);
  }
}

/** Whether the selected runs changed. */
export function choiceChanged(state: State, before: State): boolean {
  const fields = ["view", "drive", "variant", "compare"] as const;
  return fields.some((field) => state[field] !== before[field]);
}

/** Adds or removes a key of a marked drive; a full list loses its oldest one. */
export function markToggled(marked: readonly string[], key: string): string[] {
  if (marked.includes(key)) return marked.filter((one) => one !== key);
  return [...marked, key].slice(-MARKED_MAX);
}

/** Adds or removes a run and keeps the colours of the others. */
export function toggled(compare: readonly (string | null)[], id: string): (string | null)[] {
  const slots = [...compare];
  const at = slots.indexOf(id);
  if (at >= 0) {
    slots[at] = null;
    while (slots.length > 0 && slots[slots.length - 1] === null) slots.pop();
    return slots;
  }
  const gap = slots.indexOf(null);
  if (gap >= 0) slots[gap] = id;
  else if (slots.length < COMPARE_MAX) slots.push(id);
  return slots;
}

/** The theme belongs to the reader, not to the view, and is not in the link. */
export function toHash(state: State): string {
  const parts: [string, string][] = [];
  if (state.view === "compare") {
    parts.push(["compare", state.compare.map((id) => encodeURIComponent(id ?? "")).join(",")]);
    if (state.percentile !== "p99") parts.push(["latency", state.percentile]);
  }
  parts.push(["drive", encodeURIComponent(state.drive)], ["spare", encodeURIComponent(state.variant)]);
  const listed = (keys: readonly string[]) => keys.map(encodeURIComponent).join(",");
  if (state.marked.length > 0) parts.push(["mark", listed(state.marked)]);
  if (state.sort !== "") parts.push(["sort", encodeURIComponent(state.sort)]);
  if (state.pair.length === 2) parts.push(["pair", listed(state.pair)]);
  if (!state.hasContext) parts.push(["alone", "1"]);
  if (state.at !== "") parts.push(["at", encodeURIComponent(state.at)]);
  if (state.zoom) parts.push(["x", state.zoom.map((x) => Number(x.toFixed(1))).join("-")]);
  return `#${parts.map(([name, value]) => `${name}=${value}`).join("&")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function fromHash(hash: string): Partial<State> {
  const fields = new Map(
    hash
      .replace(/^#/, "")
      .split("&")
      .map((part) => {
        const at = part.indexOf("=");
        return [part.slice(0, at), part.slice(at + 1)] as const;
      }),
  );
  const state: Partial<State> = {};
  const compare = fields.get("compare");
  const drive = fields.get("drive");
  const spare = fields.get("spare");
  const latency = fields.get("latency");
  const zoom = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(fields.get("x") ?? "");
  const listed = (name: string) => fields.get(name)?.split(",").map(decoded);
  const [marked, pair] = [listed("mark"), listed("pair")];
  const [sort, at] = [fields.get("sort"), fields.get("at")];
  if (marked) state.marked = marked.slice(0, MARKED_MAX);
  if (pair?.length === 2) state.pair = pair;
  if (fields.has("alone")) state.hasContext = false;
  if (sort !== undefined) state.sort = decoded(sort);
  if (at !== undefined) state.at = decoded(at);
  if (compare !== undefined) {
    state.view = "compare";
    state.compare = compare
      .split(",")
      .slice(0, COMPARE_MAX)
      .map((id) => decoded(id) || null);
  } else if (drive !== undefined) state.view = "single";
  if (drive !== undefined) state.drive = decoded(drive);
  if (spare !== undefined) state.variant = decoded(spare);
  if (latency === "p50" || latency === "p99" || latency === "max") state.percentile = latency;
  if (zoom && Number(zoom[2]) > Number(zoom[1])) state.zoom = [Number(zoom[1]), Number(zoom[2])];
  return state;
}
