// The elements of choices: a list or a field with its label.

import { type Child, h } from "../dom";

export function option(value: string, label: string, chosen: string): HTMLElement {
  const element = h("option", { value }, label);
  element.selected = value === chosen;
  return element;
}

export function labelled(label: string, control: HTMLElement): HTMLElement {
  return h("label", { class: "bench-choice" }, h("span", { class: "quiet small" }, label), control);
}

export function select(name: string, options: Child, chosen: (value: string) => void): HTMLElement {
  const element = h("select", { "data-choice": name }, options);
  element.addEventListener("change", () => chosen(element.value));
  return element;
}
