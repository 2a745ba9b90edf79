// The shared state of all parts of the page, and the selected runs.

import { type Axes, AxesBook } from "./chart/classes";
import { CursorHub } from "./chart/cursor";
import { zoomed } from "./chart/scales";
import { HEADLINES } from "./data/headlines";
import { byVariant, type Drive, type Library, type Run } from "./data/load";
import { contextOf, type Product, productsOf } from "./data/products";
import { amongContext, type Ranking, rankingOf } from "./data/ranking";
import { COMPARE_MAX, firstState, fromHash, type State, Store } from "./state";

export interface App {
  library: Library;
  products: Product[];
  /** Drives of the reference library; empty if the report has none. */
  context: Product[];
  book: AxesBook;
  store: Store;
  hub: CursorHub;
}

/** The parts of the page that rankings need; a list without graphs has these only. */
export type RankedApp = Pick<App, "library" | "products" | "store">;

/** A run on the graphs and the number of its colour, from 1. */
export interface Shown {
  run: Run;
  color: number;
}

export function driveByKey(library: Library, key: string): Drive {
  return library.drives.find((drive) => drive.key === key) ?? library.drives[0];
}

/** The wanted variant if the drive has it, its first one otherwise. */
export function singleRun(library: Library, state: State): Run {
  const drive = driveByKey(library, state.drive);
  return drive.runs.find((run) => run.variant === state.variant) ?? drive.runs[0];
}

export function shownRuns({ library, store }: App): Shown[] {
  const { state } = store;
  if (library.runs.length === 0) return [];
  if (state.view === "single") return [{ run: singleRun(library, state), color: 1 }];
  return state.compare.flatMap((id, slot) => {
    const run = library.runs.find((candidate) => candidate.id === id);
    return run ? [{ run, color: slot + 1 }] : [];
  });
}

/** The axes of the selected runs; an empty comparison has those of the single run before it. */
export function axesNow(app: App): Axes {
  const shown = shownRuns(app).map(({ run }) => run);
  if (shown.length > 0 || app.library.runs.length === 0) return app.book.of(shown);
  return app.book.of([singleRun(app.library, app.store.state)]);
}

/** The part of the zoom on the present axes; a run of another length may not reach it. */
export function zoomShown(app: App): [number, number] | null {
  const { whole } = axesNow(app).scales;
  const part = zoomed(whole, app.store.state.zoom);
  return part.min === whole.min && part.max === whole.max ? null : [part.min, part.max];
}

/** A useful first comparison: the drive with the others, or the variants of a single drive. */
export function firstComparison(library: Library, { drive, variant }: State): string[] {
  const own = driveByKey(library, drive);
  const others = library.drives.filter((one) => one !== own);
  const wanted = ({ runs }: Drive) => runs.find((run) => run.variant === variant) ?? runs[0];
  const runs = others.length > 0 ? [own, ...others].map(wanted) : own.runs;
  return runs.slice(0, COMPARE_MAX).map((run) => run.id);
}

/** Every chart of the page at a spare area: a comparison of drives follows, one of the variants of a drive stays. */
export function chooseVariant({ library, store }: App, variant: string): void {
  const runs = store.state.compare.map((id) => library.runs.find((run) => run.id === id) ?? null);
  const drives = runs.flatMap((run) => (run ? [run.drive] : []));
  const isOfDrives = new Set(drives).size === drives.length;
  const moved = runs.map((run) => run && (run.drive.runs.find((one) => one.variant === variant) ?? run).id);
  store.set({ variant, ...(isOfDrives && { compare: moved }) });
}

/** The drive that the page speaks of: the chosen one, or the first. */
export function reviewed({ products, store }: App): Product | undefined {
  return products.find(({ key }) => key === store.state.drive) ?? products[0];
}

/**
 * Number of a drive's colour, from 1 for the chosen one; 0 for one among all others. A few drives have a colour each,
 * until one of them is marked.
 */
export function slotOf(app: App, key: string): number {
  const own = reviewed(app)?.key;
  if (own === key) return 1;
  const marked = app.store.state.marked.filter((one) => one !== own);
  const isFew = app.products.length <= COMPARE_MAX;
  const colored = isFew ? app.products.map((one) => one.key).filter((one) => one !== own) : marked;
  const isForward = marked.length === 0 ? isFew : marked.includes(key);
  return isForward ? colored.indexOf(key) + 2 : 0;
}

/** Rankings of the same drives: several parts of the page ask for each. */
const rankings = new WeakMap<readonly Product[], Map<string, Ranking>>();

/** All drives in the order of one figure, at the spare area of the page. */
export function ranked({ products, library, store }: RankedApp, test: string, metric: string): Ranking {
  const { variant } = store.state;
  const known = rankings.get(products) ?? new Map<string, Ranking>();
  rankings.set(products, known);
  const key = JSON.stringify([test, metric, variant]);
  const ranking = known.get(key) ?? rankingOf(products, test, metric, variant, library.report.left_out ?? []);
  known.set(key, ranking);
  return ranking;
}

/** The drives of the reference library, unless the reader hid them. */
export function contextShown({ context, store }: App): Product[] {
  return store.state.hasContext ? context : [];
}

/** The same with the drives of the reference library among them. */
export function rankedAmong(app: App, test: string, metric: string): Ranking {
  return amongContext(ranked(app, test, metric), contextShown(app));
}

export function variantsOf(library: Library): string[] {
  return [...new Set(library.runs.map((run) => run.variant))].sort(byVariant);
}

export function color(slot: number): string {
  return cssColor(`--run-${slot}`);
}

/** A canvas needs the colour itself, not the name of a custom property. */
export function cssColor(property: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}

/** The drive on which a page opens: its subject, the best by the first headline that ranks several, or the first one. */
function firstDrive({ drives, report }: Library, products: readonly Product[]): Drive | Product | undefined {
  const subject = products.find(({ runs }) => runs.some(({ id }) => id === report.subject));
  if (subject) return drives.find(({ key }) => key === subject.key) ?? subject;
  for (const { test, metric } of HEADLINES) {
    const { entries, ranked } = rankingOf(products, test, metric, "default", report.left_out ?? []);
    if (ranked < 2) continue;
    const { key } = entries[0].product;
    return drives.length > 0 ? (drives.find((one) => one.key === key) ?? drives[0]) : entries[0].product;
  }
  return drives[0] ?? products[0];
}

/** The choices of an address; what it lacks is as on a page that nobody has touched. */
export function stateOf(library: Library, products: readonly Product[], hash: string): State {
  const first = firstDrive(library, products);
  const state: State = {
    ...firstState(),
    view: library.drives.length > 1 ? "compare" : "single",
    drive: first?.key ?? "",
    variant: first?.runs[0]?.variant ?? "",
    ...usable(library, fromHash(hash)),
  };
  const isEmpty = state.view === "compare" && state.compare.length === 0;
  return isEmpty ? { ...state, compare: firstComparison(library, state) } : state;
}

export function appOf(library: Library, hash: string): App {
  const products = productsOf(library);
  const state = stateOf(library, products, hash);
  return {
    library,
    products,
    context: contextOf(library),
    book: new AxesBook(library.runs),
    store: new Store(state),
    hub: new CursorHub(),
  };
}

/** A link may come from another report: drop drives and runs that are missing here. */
export function usable(library: Library, wanted: Partial<State>): Partial<State> {
  const ids = new Set(library.runs.map((run) => run.id));
  const state = { ...wanted };
  if (state.compare) {
    state.compare = state.compare.map((id) => (id !== null && ids.has(id) ? id : null));
    if (!state.compare.some((id) => id !== null)) {
      delete state.compare;
      delete state.view;
    }
  }
  const drives = library.drives.length > 0 ? library.drives : productsOf(library);
  if (state.drive !== undefined && !drives.some((drive) => drive.key === state.drive)) {
    delete state.drive;
    delete state.variant;
  }
  return state;
}
