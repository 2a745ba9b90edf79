// Times in a real browser: from a press to the end of the frame that shows its effect, and from the start of a load
// to the frame with the first screen.

import type { CDPSession, Page } from "playwright-core";

/** A press: on an element, a choice in a list, a word in a field, or a key on a graph. */
export interface Press {
  /** The element: the first one that fits, or the one at `at`. */
  on: string;
  at?: number;
  /** Value of a list or a field, or a key; absent for a click. */
  value?: string;
  kind?: "click" | "choose" | "type" | "key" | "fold";
}

/** A kind of button, with the presses that try it; the last one leaves the page as it was. */
export interface Button {
  name: string;
  presses: Press[];
}

/** A time in ms, and the processor time of the page's main thread within it: a busy machine does not change that. */
export interface Cost {
  ms: number;
  cpu_ms: number;
}

export interface Times {
  name: string;
  /** Of the slowest press: least, middle and most over the turns. */
  least_ms: number;
  median_ms: number;
  most_ms: number;
  /** Of the press with most processor time: the least over the turns. */
  cpu_ms: number;
}

/** The clock of the main thread of a page. */
class ThreadClock {
  private constructor(private session: CDPSession) {}

  static async of(page: Page): Promise<ThreadClock> {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    return new ThreadClock(session);
  }

  /** Processor time of all tasks so far, in ms. */
  async now(): Promise<number> {
    const { metrics } = await this.session.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "ThreadTime")?.value ?? 0);
  }
}

/** Brings the element of a press into view, and waits until the page is at rest. */
async function prepared(page: Page, { on, at = 0 }: Press): Promise<void> {
  const element = page.locator(on).nth(at);
  await element.evaluate((one) => one.scrollIntoView({ block: "center", behavior: "instant" }));
  await page.evaluate(() => new Promise((done) => requestIdleCallback(done, { timeout: 2_000 })));
}

async function pressed(page: Page, press: Press): Promise<number> {
  return page.evaluate(async ({ on, at = 0, value = "", kind = "click" }) => {
    const element = document.querySelectorAll<HTMLElement>(on)[at];
    const acts: Record<string, () => unknown> = {
      click: () => element.click(),
      choose: () => {
        (element as HTMLSelectElement).value = value;
        element.dispatchEvent(new Event("change", { bubbles: true }));
      },
      // The page waits for more letters before it follows.
      type: () => {
        (element as HTMLInputElement).value = value;
        element.dispatchEvent(new Event("input", { bubbles: true }));
        return new Promise((done) => setTimeout(done, 125));
      },
      key: () => {
        element.focus({ preventScroll: true });
        element.dispatchEvent(new KeyboardEvent("keydown", { key: value, bubbles: true, cancelable: true }));
      },
      fold: () => {
        const fold = element.closest("details");
        const toggled = new Promise((done) => fold?.addEventListener("toggle", done, { once: true }));
        element.click();
        return toggled;
      },
    };
    const start = performance.now();
    await acts[kind]();
    await new Promise<void>((done) =>
      requestAnimationFrame(() => {
        const after = new MessageChannel();
        after.port1.onmessage = () => done();
        after.port2.postMessage(null);
      }),
    );
    return performance.now() - start;
  }, press);
}

/** Tries every button of a page once: the cost of each press, by button. */
export async function tried(page: Page, buttons: readonly Button[]): Promise<Cost[][]> {
  const clock = await ThreadClock.of(page);
  const all: Cost[][] = [];
  for (const { presses } of buttons) {
    const costs: Cost[] = [];
    for (const press of presses) {
      await prepared(page, press);
      const before = await clock.now();
      const ms = await pressed(page, press);
      costs.push({ ms, cpu_ms: (await clock.now()) - before });
    }
    all.push(costs);
  }
  return all;
}

function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

function middle(values: readonly number[]): number {
  return sorted(values)[Math.floor((values.length - 1) / 2)];
}

/** The slowest press of several turns; each turn has the same presses. */
export function timesOf(name: string, turns: readonly Cost[][]): Times {
  const presses = turns[0].map((_, at) => turns.map((turn) => turn[at]));
  const ofMs = presses.map((costs) => sorted(costs.map(({ ms }) => ms)));
  const slowest = ofMs.reduce((a, b) => (middle(b) > middle(a) ? b : a));
  const cpu = presses.map((costs) => Math.min(...costs.map(({ cpu_ms }) => cpu_ms)));
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    name,
    least_ms: round(slowest[0]),
    median_ms: round(middle(slowest)),
    most_ms: round(slowest[slowest.length - 1]),
    cpu_ms: round(Math.max(...cpu)),
  };
}

/** The times of each button over several turns. */
export function buttonTimes(buttons: readonly Button[], turns: readonly Cost[][][]): Times[] {
  return buttons.map(({ name }, at) =>
    timesOf(
      name,
      turns.map((turn) => turn[at]),
    ),
  );
}

/** Makes a page note when the first element of each kind has been painted, for `seen`. */
export async function watch(page: Page, selectors: readonly string[]): Promise<void> {
  await page.addInitScript((wanted) => {
    const page = window as unknown as { seen?: Record<string, number> };
    page.seen ??= {};
    const { seen } = page;
    const found = new Set<string>();
    const note = (selector: string) => {
      const after = new MessageChannel();
      after.port1.onmessage = () => {
        seen[selector] = performance.timeOrigin + performance.now();
      };
      after.port2.postMessage(null);
    };
    const look = () => {
      for (const selector of wanted.filter((one) => !found.has(one))) {
        if (!document.querySelector(selector)) continue;
        found.add(selector);
        requestAnimationFrame(() => note(selector));
      }
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true });
  }, selectors);
}

/** When an element had been painted, in ms since the Unix epoch. */
export async function seen(page: Page, selector: string): Promise<number> {
  const handle = await page.waitForFunction(
    (wanted) => (window as unknown as { seen: Record<string, number> }).seen[wanted],
    selector,
    { polling: 20 },
  );
  return (await handle.jsonValue()) as number;
}

/** The browser's own time of the first content on the screen, from the start of the load. */
async function firstPaint(page: Page): Promise<number> {
  const found = await page.waitForFunction(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    undefined,
    { polling: 20 },
  );
  return (await found.jsonValue()) as number;
}

/** Opens an address: the time to its first paint, and the time until an element is there. */
export async function loaded(page: Page, address: string, last: string): Promise<[first: Cost, whole: Cost]> {
  await watch(page, [last]);
  const clock = await ThreadClock.of(page);
  await page.goto(address, { waitUntil: "commit" });
  const at = await seen(page, last);
  const cpu_ms = await clock.now();
  const start = await page.evaluate(() => performance.timeOrigin);
  return [
    { ms: await firstPaint(page), cpu_ms: 0 },
    { ms: at - start, cpu_ms },
  ];
}
