// The drive's own counters: before the run, after it, and the difference.

import { bytes, separated, significant, UNKNOWN, withUnit } from "../../data/format";
import type { HealthRow, HealthSummary } from "../../data/schema.gen";
import { own } from "../../data/words";
import { aside, h, scroller } from "../../dom";

const SOURCES: Record<string, string> = {
  "nvme-smart-log": "NVMe SMART log",
  "ata-smart": "ATA SMART",
};

const MINUS = "\u2212";

/** A counter, or a difference of two with its sign. */
export function reading(value: number, unit: string): string {
  const sign = value < 0 ? MINUS : "";
  const size = Math.abs(value);
  if (unit === "bytes") return sign + bytes(size);
  if (unit === "%") return `${sign}${separated(size)}%`;
  return sign + withUnit(separated(size), unit === "degrees C" ? "°C" : unit);
}

export function change({ before, after, unit }: HealthRow): string {
  if (typeof before !== "number" || typeof after !== "number") return UNKNOWN;
  const difference = after - before;
  return difference === 0 ? "unchanged" : `${difference > 0 ? "+" : ""}${reading(difference, unit)}`;
}

function isBad({ before, after, rise_is_bad }: HealthRow): boolean {
  return rise_is_bad && typeof before === "number" && typeof after === "number" && after > before;
}

function cell(value: number | null | undefined, unit: string): HTMLElement {
  return h("td", {}, typeof value === "number" ? reading(value, unit) : UNKNOWN);
}

function healthRow(row: HealthRow): HTMLElement {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, row.label),
    cell(row.before, row.unit),
    cell(row.after, row.unit),
    h("td", { class: isBad(row) ? "bad" : null }, change(row)),
  );
}

/** Facts beside the table: the temperatures in between, and the amplification of the whole run. */
export function healthSentences({ temperature_c, looks, nand_over_host }: HealthSummary): string[] {
  const sentences = [];
  if (temperature_c) {
    const [low, high] = temperature_c;
    const range = low === high ? withUnit(String(low), "°C") : `${low} to ${withUnit(String(high), "°C")}`;
    sentences.push(`Temperature in ${looks} looks: ${range}.`);
  }
  if (typeof nand_over_host === "number") {
    sentences.push(
      `By these counters ${significant(nand_over_host)} bytes went to NAND for each byte written in the whole run.`,
    );
  }
  return sentences;
}

export function healthTable(health: HealthSummary, whose: string): HTMLElement {
  const title = `The drive's own counters (${own(SOURCES, health.source) ?? health.source})`;
  return h(
    "div",
    { class: "health" },
    scroller(
      `${title}: ${whose}`,
      h(
        "table",
        { class: "phases counters" },
        h("caption", {}, title, aside(`: ${whose}`)),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Counter", "Before", "After", "Change"].map((head) => h("th", { scope: "col" }, head)),
          ),
        ),
        h("tbody", {}, health.rows.map(healthRow)),
      ),
    ),
    healthSentences(health).map((sentence) => h("p", { class: "quiet small" }, sentence)),
  );
}
