// Copying that also works for pages from disk, which may have no clipboard interface.

import { h } from "../../dom";

function copyBySelection(text: string): boolean {
  const area = h("textarea", { class: "sr-only", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

export function copyButton(label: string, text: () => string): HTMLElement {
  const said = h("span", { class: "sr-only", role: "status" });
  const button = h("button", { type: "button", class: "button" }, label);
  button.addEventListener("click", async () => {
    const done = await copy(text());
    button.textContent = done ? "Copied" : "Could not copy";
    said.textContent = button.textContent;
    button.focus();
    setTimeout(() => {
      button.textContent = label;
    }, 1800);
  });
  return h("span", { class: "copy" }, button, said);
}
