// The browser of a file of tests: it opens before the first one, and every test leaves it without complaints.

import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { Lab } from "./page";

export let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open();
});

afterEach(() => {
  expect(lab.complaints.splice(0)).toEqual([]);
});

afterAll(() => lab.close());
