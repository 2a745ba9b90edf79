// Every figure and every term of the field, for readers without a mouse and for newcomers.

import { FIGURES } from "../../data/figures";
import { h } from "../../dom";

const WORDS: [string, string][] = [
  [
    "IOPS",
    "Commands completed per second. Unless the conditions say otherwise a command writes 4 KB (4,096 bytes).",
  ],
  ["Queue depth (QD)", "How many commands are kept waiting at the drive at any time."],
  ["Latency", "Time from handing a command to the drive until the drive says it is done."],
  ["p50, p99, p99.9", "Percentiles: this share of commands took no longer than the value."],
  [
    "Spare area",
    "NAND that holds no user data. The drive needs it as a place to clean up; more of it means less copying, and a higher and more even pace.",
  ],
  [
    "Steady state",
    "The drive has no erased blocks left over from its fresh days: what it writes now it must first make room for.",
  ],
  [
    "Superblock",
    "The unit a drive erases: one block from every die, filled together. Before it can be erased, pages still valid must be moved.",
  ],
  ["Garbage collection", "Moving valid pages out of old superblocks so that those can be erased."],
  [
    "Write amplification (WAF)",
    "Pages programmed into NAND for each page the host wrote; the price of garbage collection.",
  ],
  ["MB, GB", "Decimal, as drives are sold: 10⁶ and 10⁹ bytes. Block sizes (4 KB, 128 KB) are powers of two."],
];

function entries(rows: readonly (readonly [string, string])[]): HTMLElement {
  return h(
    "dl",
    { class: "glossary" },
    rows.map(([word, meaning]) => h("div", {}, h("dt", {}, word), h("dd", {}, meaning))),
  );
}

/** The latencies of the whole run have the explanations of those of steady state. */
const FIGURES_TOLD = FIGURES.filter(({ chapter }) => chapter !== "Latency, whole run");

export function glossary(): HTMLElement {
  const chapters = [...new Set(FIGURES_TOLD.map(({ chapter }) => chapter))];
  return h(
    "div",
    {},
    h("h3", {}, "Words"),
    entries(WORDS),
    chapters.map((chapter) => [
      h("h3", {}, `Figures: ${chapter.toLowerCase()}`),
      entries(
        FIGURES_TOLD.filter((figure) => figure.chapter === chapter).map(({ label, explanation }) => [
          label,
          explanation,
        ]),
      ),
    ]),
  );
}
