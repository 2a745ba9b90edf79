// The frame around a graph: heading, unit, reset button, and the sentence in place of the graph.

import { type App, zoomShown } from "../../app";
import type { Graph } from "../../chart/graph";
import { h } from "../../dom";
import { type TableData, withTools } from "../parts/chart-tools";

export interface ChartFrame {
  element: HTMLElement;
  say: (sentences: readonly string[]) => void;
  rename: (title: string) => void;
}

export function chartFrame(
  graph: Graph,
  title: string,
  unit: string,
  app: App | null,
  data: () => TableData,
  ...extra: HTMLElement[]
): ChartFrame {
  const heading = h("h3", { id: `${graph.spec.id}-title` }, title);
  const scale = h("span", { class: "quiet chart-unit", id: `${graph.spec.id}-unit` }, unit);
  const caption = h("figcaption", { id: `${graph.spec.id}-summary` });
  const element = withTools(
    h(
      "figure",
      { class: "chart", "aria-labelledby": `${heading.id} ${scale.id}` },
      h("div", { class: "chart-head" }, heading, scale, extra, app && resetButton(app)),
      graph.element,
      caption,
    ),
    `${title}, ${unit}`,
    data,
  );
  const say = (sentences: readonly string[]) => {
    // In a comparison, the legend has the same text for sighted readers.
    caption.classList.toggle("sr-only", sentences.length > 1);
    caption.replaceChildren(...sentences.map((sentence) => h("span", {}, `${sentence} `)));
  };
  const rename = (next: string) => {
    heading.textContent = next;
  };
  return { element, say, rename };
}

function resetButton(app: App): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "button chart-reset", onclick: () => app.store.set({ zoom: null }) },
    "Reset zoom",
  );
  const update = () => {
    button.hidden = zoomShown(app) === null;
  };
  app.store.subscribe(update);
  update();
  return button;
}
