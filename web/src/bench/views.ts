// Views of a library that have a name: a figure and the drives that it ranks, as a link.

import type { Product } from "../data/products";
import { h } from "../dom";
import { type Choice, listHash } from "./address";
import { hasFigure, splitFigure } from "./figures";
import type { Filter } from "./filter";
import { filtered } from "./filter";

interface View {
  name: string;
  by: string;
  filter: Filter;
}

const PACE = "consistency:iops_steady_mean";

export const VIEWS: readonly View[] = [
  { name: "Fastest when full", by: PACE, filter: {} },
  { name: "Most even SATA", by: "consistency:iops_steady_jitter_share", filter: { link: "SATA" } },
  { name: "Fastest NVMe when full", by: PACE, filter: { link: "NVMe" } },
  { name: "Fastest data-centre drive", by: PACE, filter: { use: "data centre" } },
  { name: "Shortest stalls", by: "consistency:latency_ns_max", filter: {} },
  { name: "Fastest sustained writes", by: "linear:linear.write.mb_per_s", filter: {} },
  { name: "Quickest everyday work", by: "feel:feel.day.time_s", filter: {} },
  { name: "Least power at rest", by: "power:power.idle.power_w_mean", filter: {} },
];

/** A ranking of fewer drives is none. */
const DRIVES_MIN = 2;

/** The views that have several drives in this library. */
export function viewsOf(products: readonly Product[]): View[] {
  return VIEWS.filter(({ by, filter }) => {
    const figure = splitFigure(by);
    return filtered(products, filter).filter((product) => hasFigure(product, figure)).length >= DRIVES_MIN;
  });
}

/** Links to the views; each keeps the basket. */
export function viewLinks(views: readonly View[], choice: Choice, by: string): HTMLElement | null {
  if (views.length === 0) return null;
  const isPresent = (view: View) =>
    by === view.by && choice.area === "" && JSON.stringify(choice.filter) === JSON.stringify(view.filter);
  const link = (view: View) =>
    h(
      "a",
      {
        href: listHash({ ...choice, filter: view.filter, by: view.by, area: "" }),
        "aria-current": isPresent(view) ? "true" : null,
      },
      view.name,
    );
  return h("nav", { class: "bench-views", "aria-label": "Views" }, views.map(link));
}
