import { expect, test } from "vitest";
import { COMPARE_MAX, fromHash, type State, Store, toggled, toHash } from "../../src/state";

const STATE: State = {
  view: "single",
  drive: "a-drive",
  variant: "25%",
  compare: [],
  zoom: null,
  percentile: "p99",
  theme: "auto",
  marked: [],
  sort: "",
  pair: [],
  hasContext: true,
  at: "",
};

test("a single view goes into the hash and comes back", () => {
  const state = { ...STATE, zoom: [1_500, 1_520.5] as [number, number] };
  expect(toHash(state)).toBe("#drive=a-drive&spare=25%25&x=1500-1520.5");
  expect(fromHash(toHash(state))).toEqual({
    view: "single",
    drive: "a-drive",
    variant: "25%",
    zoom: [1_500, 1_520.5],
  });
});

test("a comparison keeps its order and its gaps", () => {
  const state: State = { ...STATE, view: "compare", compare: ["a,b", null, "c d"], percentile: "max" };
  expect(fromHash(toHash(state))).toEqual({
    view: "compare",
    compare: ["a,b", null, "c d"],
    percentile: "max",
    drive: "a-drive",
    variant: "25%",
  });
});

test.each(["", "#", "#nonsense", "#x=5-2", "#x=a-b", "#latency=p42", "#drive"])("%j is no view", (hash) => {
  expect(fromHash(hash)).toEqual({});
});

test("a broken escape is taken as it stands", () => {
  expect(fromHash("#drive=a&spare=25%")).toMatchObject({ variant: "25%" });
});

test("taking a run out leaves the colours of the others alone", () => {
  let compare = ["a", "b", "c"].reduce<(string | null)[]>(toggled, []);
  compare = toggled(compare, "b");
  expect(compare).toEqual(["a", null, "c"]);
  expect(toggled(compare, "d")).toEqual(["a", "d", "c"]);
  expect(toggled(compare, "c")).toEqual(["a"]);
});

test("no more runs than colours", () => {
  const full = [..."abcdef"].reduce<(string | null)[]>(toggled, []);
  expect(full).toHaveLength(COMPARE_MAX);
  expect(toggled(full, "g")).toEqual(full);
});

test("listeners learn what was before", () => {
  const store = new Store(STATE);
  const seen: string[] = [];
  store.subscribe((state, before) => seen.push(`${before.drive}>${state.drive}`));
  store.set({ drive: "b" });
  expect(seen).toEqual(["a-drive>b"]);
});
