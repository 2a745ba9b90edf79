// Places on the page: going there puts the place into the address.

import type { App } from "../../app";
import { bringIntoView } from "../../dom";

/** Opens the folds around an element, brings it into view and gives it the focus; at the start of the page at once. */
export function reveal(element: HTMLElement, isStart = false): void {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null) {
    fold.open = true;
  }
  if (isStart) element.scrollIntoView();
  else bringIntoView(element);
  if (!element.hasAttribute("tabindex")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

export function goTo({ store }: App, id: string): void {
  const element = document.getElementById(id);
  if (!element) return;
  store.set({ at: id });
  reveal(element);
}

/** Id of the section of a test. */
export function sectionId(test: string, graphed: boolean): string {
  return graphed ? "consistency" : `test-${test.replace(/[^a-z0-9]+/gi, "-")}`;
}

/** Id of the chart of a figure. */
export function chartId(test: string, metric: string): string {
  return `chart-${`${test}-${metric}`.replace(/[^a-z0-9]+/gi, "-")}`;
}

/** Goes to the chart of a figure, or else to the section of its test. */
export function goToChart(app: App, test: string, metric: string, graphed: boolean): void {
  const chart = chartId(test, metric);
  goTo(app, document.getElementById(chart) ? chart : sectionId(test, graphed));
}
