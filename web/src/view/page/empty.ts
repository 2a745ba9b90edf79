// A page without data tells so, and names the next step.

import { h } from "../../dom";

export function plainPage(title: string, ...body: (Node | string)[]): HTMLElement {
  return h(
    "main",
    { class: "plain-page" },
    h("p", { class: "overline" }, "ssdlab"),
    h("h1", {}, title),
    h("div", {}, body),
  );
}

export function emptyPage(): HTMLElement {
  return plainPage(
    "This page holds no data",
    h(
      "p",
      {},
      "It is the empty form of an ssdlab report. Measure a drive, real or simulated, then make the report:",
    ),
    h("pre", {}, h("code", {}, "ssdlab run consistency TARGET...\nssdlab report RUN...")),
    h("p", {}, "RUN is the run directory that the first command prints as its last line."),
  );
}

export function damagedPage(reason: string): HTMLElement {
  return plainPage(
    "The data in this page cannot be read",
    h(
      "p",
      {},
      "The report was cut short or changed after it was made. Make it again from its run directories:",
    ),
    h("pre", {}, h("code", {}, "ssdlab report RUN...")),
    h("p", { class: "quiet" }, reason),
  );
}
