// The frame around a graph: heading, unit, reset button, and the sentence that stands for the graph.

import type { Graph } from "../chart/graph";
import { h } from "../dom";
import type { Store } from "../state";

export interface ChartFrame {
  element: HTMLElement;
  say: (sentences: readonly string[]) => void;
}

export function chartFrame(
  graph: Graph,
  title: string,
  unit: string,
  store: Store | null,
  ...extra: HTMLElement[]
): ChartFrame {
  const caption = h("figcaption", { id: `${graph.spec.id}-summary` });
  const element = h(
    "figure",
    { class: "chart" },
    h(
      "div",
      { class: "chart-head" },
      h("h3", {}, title),
      h("span", { class: "quiet chart-unit" }, unit),
      extra,
      store && resetButton(store),
    ),
    graph.element,
    caption,
  );
  const say = (sentences: readonly string[]) => {
    // In a comparison the legend says it better to those who see it.
    caption.classList.toggle("sr-only", sentences.length > 1);
    caption.replaceChildren(...sentences.map((sentence) => h("span", {}, `${sentence} `)));
  };
  return { element, say };
}

function resetButton(store: Store): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "button chart-reset", onclick: () => store.set({ zoom: null }) },
    "Reset zoom",
  );
  const update = () => {
    button.hidden = store.state.zoom === null;
  };
  store.subscribe(update);
  update();
  return button;
}
