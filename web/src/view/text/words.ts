// The editor's words beside a chapter. They are a tree of known nodes, and every text becomes a text node: nothing in
// a file runs or loads.

import type { App } from "../../app";
import { figureOf, metricOf, shown } from "../../data/figures";
import { plainName, type Run } from "../../data/load";
import type { WordsNode } from "../../data/schema.gen";
import { isGraphed } from "../../data/tests";
import { h, textNode } from "../../dom";
import { goToChart } from "../parts/address";
import { markSign } from "../parts/mark";

type Kind = NonNullable<WordsNode["kind"]>;

const ELEMENTS: Partial<Record<Kind, keyof HTMLElementTagNameMap>> = {
  paragraph: "p",
  heading: "h3",
  list: "ul",
  "numbered-list": "ol",
  item: "li",
  quote: "blockquote",
  "code-block": "pre",
  rule: "hr",
  emphasis: "em",
  strong: "strong",
  code: "code",
  break: "br",
};

const ALLOWED = /^(https?:\/\/|#)/;

function runOf({ library }: App, id: string): Run | undefined {
  return [...library.runs, ...library.others].find(({ view }) => view.run_id === id);
}

/** The value of a quoted figure; a press leads to its chart. */
function figure(app: App, node: WordsNode): Node {
  const { run_id: id, metric } = node.figure ?? { run_id: "", metric: "" };
  const run = runOf(app, id);
  if (!run) return document.createTextNode("–");
  const { test } = run.view;
  return h(
    "button",
    {
      type: "button",
      class: "verdict-link",
      title: `${plainName(run)}: ${metric}`,
      onclick: () => goToChart(app, test, metric, isGraphed(test)),
    },
    shown(figureOf(metric), metricOf(run, metric)),
    markSign(run, metric),
  );
}

function part(app: App, node: WordsNode): Node {
  const content = (node.content ?? []).map((one) => part(app, one));
  if (node.kind === "text") return textNode(node.text ?? "");
  if (node.kind === "figure") return figure(app, node);
  if (node.kind === "link") {
    const link = node.link ?? "";
    return ALLOWED.test(link) ? h("a", { href: link, rel: "noreferrer" }, content) : h("span", {}, content);
  }
  return h(ELEMENTS[node.kind] ?? "p", {}, node.text ?? "", content);
}

/** The words of a chapter; nothing if there are none. */
export function wordsOf(app: App, chapter: string): HTMLElement | null {
  const sections = (app.library.report.words ?? []).filter((section) => section.chapter === chapter);
  if (sections.length === 0) return null;
  const nodes = sections.flatMap(({ content }) => content.map((node) => part(app, node)));
  return h(
    "div",
    { class: "editor", "data-chapter": chapter },
    h("p", { class: "overline" }, "In the editor's words"),
    nodes,
  );
}
