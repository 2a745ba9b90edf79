// The colours of drives outside the graphs: one class on everything that belongs to a drive.

import { type App, reviewed, slotOf } from "../../app";
import { markToggled } from "../../state";

/** A press on a name: it brings the drive forward, or sends it back. */
export function toggleMark(app: App, key: string): void {
  if (reviewed(app)?.key === key) return;
  app.store.set({ marked: markToggled(app.store.state.marked, key) });
}

/** Gives every element of a drive the class of its colour. */
export function colorProducts(app: App, within: ParentNode): void {
  const slots = new Map(app.products.map(({ key }) => [key, slotOf(app, key)]));
  for (const element of within.querySelectorAll<HTMLElement | SVGElement>("[data-product]")) {
    const slot = slots.get(element.dataset.product ?? "") ?? 0;
    if (element.dataset.slot === String(slot)) continue;
    element.dataset.slot = String(slot);
  }
  const forward = [reviewed(app)?.key ?? "", ...app.store.state.marked];
  for (const button of within.querySelectorAll<HTMLElement>("button[data-product]"))
    button.setAttribute("aria-pressed", String(forward.includes(button.dataset.product ?? "")));
}

/** Colours everything, now and after each change of the chosen or marked drives. */
export function keepColors(app: App, root: ParentNode): void {
  app.store.subscribe((state, before) => {
    if (state.marked !== before.marked || state.drive !== before.drive) colorProducts(app, root);
  });
  colorProducts(app, root);
}
