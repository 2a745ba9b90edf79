// The Bench: the list of a library, a comparison of the chosen drives, or a run in progress.

import type { Report } from "../data/schema.gen";
import { heading } from "../data/tests";
import { h } from "../dom";
import { plainPage } from "../view/page/empty";
import { applyTheme, rememberedTheme } from "../view/page/theme";
import { choiceOf, keptOf, listHash, routeOf } from "./address";
import { runsIn } from "./basket";
import { livePage } from "./live";
import { type Books, booksOf } from "./products";
import { RankingPage } from "./ranking-page";
import { canFetch, fetchLibrary, fetchRuns } from "./resources";

/** The page of a report as a place of the Bench. */
export interface Opened {
  /** The report with everything, while its figures are shown. */
  whole: Promise<Report>;
  /** The part of the address that belongs to the Bench. */
  kept: string;
  /** The way back to the list. */
  back: HTMLElement;
}

/** Makes the page of a report, which has figures only at first. */
export type ShowReport = (root: HTMLElement, report: Report, opened: Opened) => Promise<void>;

/**
 * Starts the place that the address names. Another place is another load of the page, which leaves nothing behind; but
 * a comparison begins at once with the figures of the list.
 */
export async function startBench(
  root: HTMLElement,
  showReport: ShowReport,
  isPacked: boolean,
): Promise<void> {
  if (!canFetch()) {
    root.replaceChildren(fromDisk());
    return;
  }
  let route = routeOf(location.hash);
  let list: RankingPage | null = null;
  window.addEventListener("hashchange", () => {
    const next = routeOf(location.hash);
    if (JSON.stringify(next) === JSON.stringify(route)) return;
    if (!list || next.place !== "open") return location.reload();
    route = next;
    open(root, list.leave(), showReport);
  });
  if (route.place === "live") {
    root.replaceChildren(livePage(route.name));
    return;
  }
  try {
    const rows = fetchLibrary(isPacked);
    applyTheme(rememberedTheme());
    const books = booksOf(await rows);
    if (route.place === "open" && runsIn(books, choiceOf(location.hash)).length > 0)
      await open(root, books, showReport);
    else list = new RankingPage(root, books).show();
  } catch (error) {
    root.replaceChildren(unreachable(String(error)));
  }
}

function unreachable(reason: string): HTMLElement {
  return plainPage(
    "The library cannot be read",
    h("p", {}, "The server has stopped, or its files changed in the meantime. Reload the page to try again."),
    h("p", { class: "quiet" }, reason),
  );
}

function fromDisk(): HTMLElement {
  return plainPage(
    "A Bench needs a web server",
    h(
      "p",
      {},
      "This page fetches its data, which a page from disk cannot. Serve its folder, or the library:",
    ),
    h("pre", {}, h("code", {}, "ssdlab library serve --library DIR")),
  );
}

/** The basket of the address as a page of its own. */
async function open(root: HTMLElement, books: Books, showReport: ShowReport): Promise<void> {
  const { rows, library } = books;
  const choice = choiceOf(location.hash);
  const names = runsIn(books, choice);
  const figures = library.report.runs.filter(({ run_id }) => names.includes(run_id));
  const title = figures.length === 1 ? heading(figures[0].test) : "Comparison";
  const reportOf = (runs: Report["runs"]): Report => ({
    report_version: 1,
    ...{ tool_version: rows.tool_version, title, runs, differences: [], left_out: [] },
  });
  const back = h("a", { class: "bench-back", href: listHash(choice) }, `← ${rows.title}`);
  const whole = fetchRuns(figures).then(reportOf);
  try {
    await showReport(root, reportOf(figures), { whole, kept: keptOf(location.hash), back });
  } catch (error) {
    root.replaceChildren(unreachable(String(error)));
  }
}
