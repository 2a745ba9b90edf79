// The resources of the Bench, fetched from the place that the page came from.

import { parseReport, unpackedBytes } from "../data/load";
import type { RunView } from "../data/schema.gen";
import type { Library } from "./library.gen";

const LIBRARY_VERSION = 1;
/** Runs that are on their way at once. */
const AT_ONCE = 8;

async function fetched(path: string): Promise<Response> {
  const response = await fetch(path, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response;
}

/** A page from disk can fetch nothing. */
export function canFetch(): boolean {
  return location.protocol !== "file:";
}

export async function fetchLibrary(): Promise<Library> {
  const library = (await (await fetched("library.json")).json()) as Library;
  if (library.library_version > LIBRARY_VERSION) {
    throw new Error("a newer ssdlab made library.json; reload the page");
  }
  return library;
}

async function fetchRun(name: string): Promise<RunView> {
  const response = await fetched(`runs/${encodeURIComponent(name)}.zz`);
  // The seed of a run may not fit a number: the same reader as that of a report keeps it as text.
  return parseReport(await unpackedBytes(await response.blob())) as unknown as RunView;
}

/** The runs, in this order. */
export async function fetchRuns(names: readonly string[]): Promise<RunView[]> {
  const views = new Array<RunView>(names.length);
  let next = 0;
  const work = async () => {
    while (next < names.length) {
      const at = next++;
      views[at] = await fetchRun(names[at]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return views;
}
