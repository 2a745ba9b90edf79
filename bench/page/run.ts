// All measurements: a table for people, and the figures as a value.

import { Lab } from "../../web/test/e2e/page";
import { type LibraryFigures, libraryFigures } from "./library";
import type { Times } from "./measure";
import { type PageFigures, pageFigures } from "./page";

export interface Options {
  turns: number;
  /** A report to measure in place of a made-up one. */
  report?: string;
}

const LIMITS = { page_bytes: 3_000_000, first_screen_ms: 1_000, button_ms: 100, library_ms: 200 };

const WORDS = ["least", "median", "most", "CPU", "limit"];

/** A processor time of 0 was not measured. */
function row({ name, least_ms, median_ms, most_ms, cpu_ms }: Times, limit?: number): string {
  const times = [least_ms, median_ms, most_ms, cpu_ms || undefined, limit];
  const numbers = times.map((ms) => (ms?.toFixed(0) ?? "-").padStart(8));
  return `${name.padEnd(42)}${numbers.join("")}`;
}

function table(page: PageFigures, bench: LibraryFigures): string[] {
  const { first_screen_ms, button_ms, library_ms, page_bytes } = LIMITS;
  return [
    `${"ms".padEnd(42)}${WORDS.map((word) => word.padStart(8)).join("")}`,
    `page: ${(page.bytes / 1e6).toFixed(2)} MB, limit ${page_bytes / 1e6} MB`,
    row(page.first_screen, first_screen_ms),
    row(page.whole_page),
    ...page.buttons.map((one) => row(one, button_ms)),
    `Bench: ${bench.runs} runs, library.json ${(bench.library_bytes / 1e6).toFixed(2)} MB`,
    row(bench.list, library_ms),
    row(bench.list_again, library_ms),
    ...bench.choices.map((one) => row(one, library_ms)),
    row(bench.comparison_first_screen, library_ms),
    row(bench.comparison_whole_page),
  ];
}

/** Measures, and tells the table. */
export async function measure({ turns, report }: Options, tell: (line: string) => void) {
  const lab = await Lab.open();
  try {
    const page = await pageFigures(lab, turns, report);
    const library = await libraryFigures(lab, turns);
    for (const line of table(page, library)) tell(line);
    return { bench: "page", turns, limits: LIMITS, page, library, complaints: lab.complaints };
  } finally {
    await lab.close();
  }
}
