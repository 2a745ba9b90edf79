// Light, dark, and paper. Graphs contain their colours in pixels, so every change redraws them.

import type { Graph } from "../../chart/graph";
import type { Store, Theme } from "../../state";

const KEY = "ssdlab-theme";
/** An A4 page less its margins, in CSS pixels. */
const PAPER_WIDTH = 690;

export function rememberedTheme(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "auto";
  } catch {
    // Pages from disk may have no storage.
    return "auto";
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice then lasts until the page closes.
  }
}

function setTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function applyTheme(theme: Theme): void {
  setTheme(theme);
  remember(theme);
}

export function watchScheme(changed: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** Paper does not scroll: a table wider than the page becomes smaller instead of losing columns. */
function fitTables(width: number | null): void {
  for (const table of document.querySelectorAll<HTMLElement>(".scroller > table")) {
    table.style.zoom = "";
    if (width !== null && table.scrollWidth > width) table.style.zoom = String(width / table.scrollWidth);
  }
}

/** Paper is white in every theme. */
export function watchPrinting(store: Store, graphs: readonly Graph[], recolor: () => void): void {
  const toPaper = () => {
    setTheme("light");
    fitTables(PAPER_WIDTH);
    for (const graph of graphs) graph.hold(PAPER_WIDTH);
    recolor();
  };
  const toScreen = () => {
    setTheme(store.state.theme);
    fitTables(null);
    for (const graph of graphs) graph.hold(null);
    recolor();
  };
  window.addEventListener("beforeprint", toPaper);
  window.addEventListener("afterprint", toScreen);
}
