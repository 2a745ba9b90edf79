// Selection of drive, spare area, and one run or several. Built once and updated, so that focus stays.

import {
  type App,
  chooseVariant,
  driveByKey,
  firstComparison,
  shownRuns,
  singleRun,
  variantsOf,
  zoomShown,
} from "../../app";
import { seconds } from "../../data/format";
import {
  areaLabel,
  type Drive,
  plainName,
  type Run,
  spareLabel,
  spareName,
  variantsTitle,
} from "../../data/load";
import { h } from "../../dom";
import { COMPARE_MAX, type State, toggled } from "../../state";
import { driveName, statusChip, swatch } from "../parts/name";

type Update = () => void;

interface Choice {
  group: string;
  value: string;
  content: (Node | string | null)[];
  choose: () => void;
  checked: () => boolean;
  enabled?: () => boolean;
}

class Panel {
  updates: Update[] = [];

  constructor(readonly app: App) {}

  choice({ group, value, content, choose, checked, enabled }: Choice): HTMLElement {
    const input = h("input", { type: "radio", name: group, value });
    input.addEventListener("change", choose);
    const label = h("label", { class: "choice" }, input, h("span", {}, content));
    this.updates.push(() => {
      input.checked = checked();
      input.disabled = enabled ? !enabled() : false;
      label.title = input.disabled ? "Not measured for this drive" : "";
    });
    return label;
  }

  fieldset(legend: string, shownIn: State["view"] | null, ...children: (Node | null)[]): HTMLElement {
    const set = h("fieldset", {}, h("legend", {}, legend), children);
    if (shownIn) {
      this.updates.push(() => {
        set.hidden = this.app.store.state.view !== shownIn;
      });
    }
    return set;
  }
}

export function controls(app: App): HTMLElement {
  const panel = new Panel(app);
  const several = app.library.runs.length > 1;
  const element = h(
    "form",
    { class: "controls", "aria-label": "Choose what the graphs show" },
    several && viewChoice(panel),
    spareChoice(panel),
    driveChoice(panel),
    several && comparison(panel),
    zoomBox(panel),
  );
  element.addEventListener("submit", (event) => event.preventDefault());
  const update = () => {
    for (const one of panel.updates) one();
  };
  app.store.subscribe(update);
  update();
  return element;
}

function viewChoice(panel: Panel): HTMLElement {
  const { store, library } = panel.app;
  const compare = () => {
    const empty = !store.state.compare.some((id) => id !== null);
    store.set({
      view: "compare",
      ...(empty && { compare: firstComparison(library, store.state) }),
    });
  };
  const one = (view: State["view"], label: string, choose: () => void) =>
    panel.choice({
      group: "view",
      value: view,
      content: [label],
      choose,
      checked: () => store.state.view === view,
    });
  return panel.fieldset(
    "Show",
    null,
    h(
      "div",
      { class: "segments" },
      one("single", "One run", () => store.set({ view: "single" })),
      one("compare", "Compare", compare),
    ),
  );
}

function driveChoice(panel: Panel): HTMLElement {
  const { store, library } = panel.app;
  return panel.fieldset(
    "Drive",
    "single",
    h(
      "div",
      { class: "choices" },
      library.drives.map((drive) =>
        panel.choice({
          group: "drive",
          value: drive.key,
          content: [driveName(drive)],
          choose: () => store.set({ drive: drive.key }),
          checked: () => driveByKey(library, store.state.drive) === drive,
        }),
      ),
    ),
  );
}

function spareChoice(panel: Panel): HTMLElement {
  const { store, library } = panel.app;
  // Of several drives each has a size of its own.
  const [only, ...others] = library.drives;
  const bytesOf = (variant: string) =>
    (others.length === 0 && only?.runs.find((run) => run.variant === variant)?.view.span.span_bytes) || null;
  return panel.fieldset(
    variantsTitle(variantsOf(library)),
    null,
    h(
      "div",
      { class: "choices choices-row" },
      variantsOf(library).map((variant) =>
        panel.choice({
          group: "spare",
          value: variant,
          content: [spareName(variant, bytesOf(variant))],
          choose: () => chooseVariant(panel.app, variant),
          checked: () =>
            (store.state.view === "single"
              ? singleRun(library, store.state).variant
              : store.state.variant) === variant,
          enabled: () =>
            store.state.view === "compare" ||
            driveByKey(library, store.state.drive).runs.some((run) => run.variant === variant),
        }),
      ),
    ),
  );
}

function comparison(panel: Panel): HTMLElement {
  const { store, library } = panel.app;
  const preset = (label: string, runs: () => Run[]) =>
    h(
      "button",
      {
        type: "button",
        class: "button",
        onclick: () =>
          store.set({
            compare: runs()
              .slice(0, COMPARE_MAX)
              .map((run) => run.id),
          }),
      },
      label,
    );
  const note = h("p", { class: "quiet small" });
  panel.updates.push(() => {
    const full = shownRuns(panel.app).length >= COMPARE_MAX;
    note.textContent = full ? `${COMPARE_MAX} at most: more colours cannot be told apart.` : "";
    note.hidden = !full;
  });
  const variants = variantsOf(library);
  return panel.fieldset(
    "Runs to compare",
    "compare",
    h(
      "div",
      { class: "compare-list" },
      library.drives.map((drive) => driveChecks(panel, drive)),
    ),
    note,
    library.drives.length > 1 && variants.length > 1
      ? h(
          "div",
          { class: "presets" },
          variants.map((variant) =>
            preset(`All ${spareLabel(variant)}`, () => library.runs.filter((run) => run.variant === variant)),
          ),
        )
      : null,
  );
}

function driveChecks(panel: Panel, drive: Drive): HTMLElement {
  return h(
    "div",
    { class: "compare-drive", role: "group", "aria-label": plainName(drive.runs[0]) },
    h("p", {}, driveName(drive)),
    drive.runs.map((run) => check(panel, run)),
  );
}

function check(panel: Panel, run: Run): HTMLElement {
  const { store } = panel.app;
  const input = h("input", { type: "checkbox", value: run.id });
  const color = h("span", { class: "swatch-slot" });
  input.addEventListener("change", () => store.set({ compare: toggled(store.state.compare, run.id) }));
  panel.updates.push(() => {
    const slot = store.state.compare.indexOf(run.id);
    input.checked = slot >= 0;
    input.disabled = slot < 0 && shownRuns(panel.app).length >= COMPARE_MAX;
    color.replaceChildren(...(slot >= 0 ? [swatch(slot + 1)] : []));
  });
  return h("label", { class: "check" }, input, color, areaLabel(run.variant), " ", statusChip(run));
}

function zoomBox(panel: Panel): HTMLElement {
  const { store } = panel.app;
  const text = h("p", {});
  const box = h(
    "div",
    { class: "zoom-box", role: "status" },
    text,
    h(
      "button",
      { type: "button", class: "button", id: "zoom-reset", onclick: () => store.set({ zoom: null }) },
      "Reset zoom",
    ),
  );
  panel.updates.push(() => {
    const zoom = zoomShown(panel.app);
    box.hidden = zoom === null;
    if (zoom)
      text.textContent = `Zoomed to ${seconds(Math.round(zoom[0]))} – ${seconds(Math.round(zoom[1]))}`;
  });
  return box;
}
