// The resources of the Bench, fetched from the place that the page came from.

import { parseReport, unpackedBytes } from "../data/load";
import type { RunView } from "../data/schema.gen";
import type { Library } from "./library.gen";

const LIBRARY_VERSION = 1;
/** Runs that are on their way at once. */
const AT_ONCE = 8;

declare global {
  interface Window {
    /** The rows of a library, which `index.html` asks for. */
    libraryRows?: Promise<Response>;
  }
}

async function fetched(path: string, asked?: Promise<Response>): Promise<Response> {
  const response = await (asked ?? fetch(path, { credentials: "same-origin" }));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response;
}

/** A page from disk can fetch nothing. */
export function canFetch(): boolean {
  return location.protocol !== "file:";
}

/** The rows; those of a small site are a zlib stream. */
export async function fetchLibrary(isPacked: boolean): Promise<Library> {
  const rows = await fetched(isPacked ? "library.zz" : "library.json", window.libraryRows);
  const text = isPacked ? await unpackedBytes(await rows.blob()) : await rows.text();
  const library = JSON.parse(text) as Library;
  if (library.library_version > LIBRARY_VERSION) {
    throw new Error("a newer ssdlab made library.json; reload the page");
  }
  return library;
}

/** In a small site a run has only what its row does not tell. */
async function fetchRun(name: string): Promise<Partial<RunView>> {
  const response = await fetched(`runs/${encodeURIComponent(name)}.zz`);
  // The seed of a run may not fit a number: the same reader as that of a report keeps it as text.
  return parseReport(await unpackedBytes(await response.blob())) as unknown as Partial<RunView>;
}

/** The runs of these rows, in this order. */
export async function fetchRuns(rows: readonly RunView[]): Promise<RunView[]> {
  const views = new Array<RunView>(rows.length);
  let next = 0;
  const work = async () => {
    while (next < rows.length) {
      const at = next++;
      views[at] = { ...rows[at], ...(await fetchRun(rows[at].run_id)) };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return views;
}
