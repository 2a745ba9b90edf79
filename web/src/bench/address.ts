// The choices of the Bench in the part of its address behind `#`, beside those of an opened comparison.

import { FIELDS, type Filter } from "./filter";

export interface Choice {
  filter: Filter;
  /** The ranked figure as `test:metric`; empty for the first one. */
  by: string;
  /** Spare area of the ranked runs; empty for the default one. */
  area: string;
  /** Keys of drives and names of runs in the basket, in order of choice. */
  basket: string[];
}

/** The present place: the list, a comparison of the basket, or a run in progress. */
export type Route = { place: "list" } | { place: "open" } | { place: "live"; name: string };

/** Most drives and runs in the basket: the page of a comparison is made for these. */
export const BASKET_MAX = 20;

const KEYS = ["find", ...FIELDS, "by", "area", "basket", "open", "live"];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parts(hash: string): Map<string, string> {
  const pairs = hash.replace(/^#/, "").split("&");
  return new Map(
    pairs.map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

export function choiceOf(hash: string): Choice {
  const given = parts(hash);
  const text = (key: string) => decoded(given.get(key) ?? "");
  const filter: Filter = {};
  for (const field of ["find", ...FIELDS] as const) {
    if (text(field) !== "") filter[field] = text(field);
  }
  const basket = (given.get("basket") ?? "").split(",").filter((key) => key !== "");
  return { filter, by: text("by"), area: text("area"), basket: basket.map(decoded).slice(0, BASKET_MAX) };
}

export function routeOf(hash: string): Route {
  const given = parts(hash);
  const name = given.get("live");
  if (name) return { place: "live", name: decoded(name) };
  return { place: given.has("open") ? "open" : "list" };
}

function written(choice: Choice): string[] {
  const { filter, by, area, basket } = choice;
  const pairs: [string, string][] = [
    ...(["find", ...FIELDS] as const).map((field): [string, string] => [field, filter[field] ?? ""]),
    ["by", by],
    ["area", area],
  ];
  const plain = pairs.filter(([, value]) => value !== "");
  const texts = plain.map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return basket.length === 0 ? texts : [...texts, `basket=${basket.map(encodeURIComponent).join(",")}`];
}

export function listHash(choice: Choice): string {
  return `#${written(choice).join("&")}`;
}

/** The basket as a page of its own. */
export function openHash(choice: Choice): string {
  return `#${[...written(choice), "open"].join("&")}`;
}

export function liveHash(name: string): string {
  return `#live=${encodeURIComponent(name)}`;
}

/** The part of an address that the page of a comparison keeps beside its own choices. */
export function keptOf(hash: string): string {
  const own = hash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => KEYS.includes(part.split("=")[0]));
  return own.join("&");
}
