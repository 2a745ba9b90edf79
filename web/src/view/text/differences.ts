// Differences that a person would notice between the selected runs: one sentence for each pair.

import { type App, shownRuns } from "../../app";
import { h } from "../../dom";
import { choiceChanged } from "../../state";

/** Empty for a single run, or for runs that cannot be compared. */
export function differences(app: App): HTMLElement {
  const holder = h("div", { class: "differences", "aria-live": "polite" });
  const update = () => {
    const shown = new Set(shownRuns(app).map(({ run }) => run.id));
    const pairs = app.library.report.differences.filter(({ run_ids }) =>
      run_ids.every((id) => shown.has(id)),
    );
    holder.replaceChildren(...(pairs.length > 0 ? [card(pairs.map(({ text }) => text))] : []));
  };
  app.store.subscribe((state, before) => {
    if (choiceChanged(state, before)) update();
  });
  update();
  return holder;
}

function card(texts: string[]): HTMLElement {
  const items = texts.map((text) => h("li", {}, text));
  return h("article", { class: "finding" }, h("h3", {}, "Between the runs compared"), h("ul", {}, items));
}
