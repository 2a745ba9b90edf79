// Explanations on hover and focus. One floating box for the page: inside a scrolling table it would be cut.

import { h, textNode } from "../../dom";

const box = h("div", { class: "hint", role: "tooltip", id: "hint", hidden: true });

function show(anchor: HTMLElement, text: string): void {
  if (!box.isConnected) document.body.append(box);
  box.replaceChildren(textNode(text));
  box.hidden = false;
  const place = anchor.getBoundingClientRect();
  const left = Math.max(8, Math.min(place.left, window.innerWidth - box.offsetWidth - 8));
  const below = place.bottom + 6;
  const fits = below + box.offsetHeight < window.innerHeight;
  box.style.left = `${left}px`;
  box.style.top = `${fits ? below : Math.max(8, place.top - box.offsetHeight - 6)}px`;
}

function hide(): void {
  box.hidden = true;
}

/** A term with an explanation on hover, focus and tap. */
export function term(label: string, text: string): HTMLElement {
  if (text === "") return h("span", {}, label);
  const button = h("button", { type: "button", class: "term", "aria-label": `${label}: ${text}` }, label);
  button.addEventListener("mouseenter", () => show(button, text));
  button.addEventListener("focus", () => show(button, text));
  button.addEventListener("click", () => show(button, text));
  button.addEventListener("mouseleave", hide);
  button.addEventListener("blur", hide);
  button.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  return button;
}
