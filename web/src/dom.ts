// Elements without a framework.

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

function appendAll(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) appendAll(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(document.createTextNode(String(child)));
    }
  }
}

/** A wide table scrolls by itself, by keyboard too, and says at its edge that there is more. */
export function scroller(label: string, ...children: Child[]): HTMLElement {
  const element = h(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": label },
    children,
  );
  const update = () => {
    const rest = element.scrollWidth - element.clientWidth - element.scrollLeft;
    element.classList.toggle("more", rest > 2);
  };
  element.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(element);
  return element;
}

/** `on...` attributes are listeners, `true` sets a bare attribute, false and null set none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  appendAll(element, children);
  return element;
}
