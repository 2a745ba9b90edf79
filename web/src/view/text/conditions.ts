// The method box: all that a reader needs to judge a run and to repeat it.

import { bytes, clock, moment, rawBytes, separated, UNKNOWN } from "../../data/format";
import type { Run } from "../../data/load";
import type { Phase } from "../../data/schema.gen";
import { own, wordRows } from "../../data/words";
import { aside, h, scroller } from "../../dom";
import { copyButton } from "../parts/copy";
import { plainRunName, runName, statusChip } from "../parts/name";
import { healthTable } from "./health";

/** The method box of a run, in the section with this title. */
export function conditions(run: Run, open: boolean, section: string): HTMLElement {
  const { view } = run;
  const name = plainRunName(run);
  return h(
    "details",
    { class: "method", open },
    h("summary", {}, "How it was measured", aside(`, ${section}`), ": ", runName(run), " ", statusChip(run)),
    phasesTable(view.phases, name),
    view.health ? healthTable(view.health, name) : null,
    h(
      "div",
      { class: "method-columns" },
      list("Run", [
        ["Started", moment(view.started)],
        ["Test", view.test],
        ["Seed", view.origin ? UNKNOWN : String(view.seed)],
        ["LBAs used", spanText(run)],
        [view.span.base === "bytes" ? "Part of the drive" : "Spare area", spareText(run)],
        ["Run directory", view.run_id],
        ...continuedRows(run),
      ]),
      list("Origin", originRows(run)),
      list("Target", targetRows(run)),
      list("Parts", wordRows(partsOf(view.target.details, false))),
      list("Simulator", wordRows(partsOf(view.target.details, true))),
      list("Machine", wordRows(view.environment)),
      list("Parameters", wordRows(view.config)),
    ),
    h(
      "div",
      { class: "command" },
      h(
        "p",
        { class: "command-head" },
        h("span", {}, view.origin ? "To import it again" : "To repeat it"),
        copyButton("Copy", () => view.command),
      ),
      h("pre", { tabindex: "0" }, h("code", {}, view.command)),
    ),
  );
}

function phasesTable(phases: readonly Phase[], whose: string): HTMLElement {
  const heads = ["Step", "What was done", "Took", "Commands", "Data", "Errors", "Late"];
  return scroller(
    `Steps of the test: ${whose}`,
    h(
      "table",
      { class: "phases" },
      h("caption", {}, aside(`Steps of the test: ${whose}`)),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        phases.map((phase) => phaseRow(phase)),
      ),
    ),
    phases.some((phase) => phase.ios_after_end > 0) &&
      h(
        "p",
        { class: "quiet small" },
        "Late: submitted in time, ended after the step; counted in its latencies, not in its rates.",
      ),
  );
}

function phaseRow(phase: Phase): HTMLElement {
  return h(
    "tr",
    { class: phase.complete ? null : "incomplete" },
    h("th", { scope: "row" }, phase.name),
    h("td", { class: "what" }, phase.what, !phase.complete && h("b", {}, " (not finished)")),
    h("td", {}, clock(phase.duration_ns)),
    h("td", {}, separated(phase.ios)),
    h("td", {}, bytes(phase.bytes)),
    h("td", { class: phase.errors > 0 ? "bad" : null }, separated(phase.errors)),
    h("td", {}, separated(phase.ios_after_end)),
  );
}

function list(title: string, rows: [string, string][]): HTMLElement | null {
  if (rows.length === 0) return null;
  return h(
    "section",
    {},
    h("h3", {}, title),
    h(
      "dl",
      {},
      rows.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value || UNKNOWN))),
    ),
  );
}

function continuedRows({ view }: Run): [string, string][] {
  return view.resumed
    ? [["Continues", `${view.resumed.run_id}, ${view.resumed.phases_kept} steps kept`]]
    : [];
}

function spanText({ view }: Run): string {
  if (view.origin) return UNKNOWN;
  return `${bytes(view.span.span_bytes)} of ${bytes(view.target.capacity_bytes)}`;
}

/** The source of an imported result, and the conditions that it does not tell. */
function originRows({ view: { origin } }: Run): [string, string][] {
  if (!origin) return [];
  return [
    ["Measured by", origin.tool],
    ["Files", origin.files.join(", ")],
    ["Unknown", origin.unknown.join(", ")],
  ];
}

const BASES: Record<string, string> = {
  raw: "of the raw NAND",
  advertised: "of the advertised capacity (raw capacity unknown)",
};

function spareText({ view, variant }: Run): string {
  if (view.origin) return UNKNOWN;
  if (view.span.base === "bytes") return `the first ${variant} of the LBA space, as asked`;
  const base = own(BASES, view.span.base);
  return base ? `${variant} ${base}` : `${variant}: as the drive comes`;
}

function targetRows({ view }: Run): [string, string][] {
  const { target } = view;
  const rows: [string, string | null | undefined][] = [
    ["Kind", target.kind],
    ["Opened as", target.spec],
    ["Serial", target.serial],
    ["Firmware", target.firmware],
    ["Raw NAND", target.raw_bytes ? rawBytes(target.raw_bytes) : null],
    ["I/O path", target.engine],
  ];
  return rows.filter((row): row is [string, string] => Boolean(row[1]));
}

const SIMULATOR = "sim.";

/** Facts that the simulator adds have its mark; the rest describes the drive as built. */
function partsOf(details: Record<string, string>, simulated: boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details)
      .filter(([name]) => name.startsWith(SIMULATOR) === simulated)
      .map(([name, value]) => [simulated ? name.slice(SIMULATOR.length) : name, value]),
  );
}
