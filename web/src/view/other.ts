// Runs of tests this page has no graphs for: their figures, and all that must be known about them.

import type { Run } from "../data/load";
import { h } from "../dom";
import { conditions } from "./conditions";
import { figuresTable } from "./figures";
import { findingCard } from "./findings";

function hasSomethingToSay({ view }: Run): boolean {
  return view.findings.length > 0 || view.warnings.length > 0 || view.status !== "complete";
}

export function otherTests(runs: readonly Run[]): HTMLElement[] {
  const tests = [...new Set(runs.map((run) => run.view.test))];
  return tests.map((test) => {
    const own = runs.filter((run) => run.view.test === test);
    const id = `test-${test.replace(/[^a-z0-9]+/gi, "-")}`;
    return h(
      "section",
      { class: "other-test", "aria-labelledby": id },
      h("h2", { id }, `Test: ${test}`),
      figuresTable(own),
      own.filter(hasSomethingToSay).map((run) => findingCard(run, () => undefined)),
      own.map((run) => conditions(run, false)),
    );
  });
}
