// A real browser on a page from disk, with a record of all its messages and requests.

import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";

const BUNDLE = new URL("../../dist/index.html", import.meta.url);
export const SLOT = '<script type="text/plain" id="ssdlab-data">null</script>';

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function bundle(): Promise<string> {
  if (!existsSync(BUNDLE)) throw new Error("no dist/index.html; run `npm run build` first");
  return readFile(BUNDLE, "utf8");
}

export class Lab {
  /** Console errors, page errors and requests that left the machine; must stay empty. */
  readonly complaints: string[] = [];

  private constructor(
    private browser: Browser,
    private dir: string,
  ) {}

  static async open(): Promise<Lab> {
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    const browser = await chromium.launch({ executablePath, args: FLAGS });
    return new Lab(browser, await mkdtemp(join(tmpdir(), "ssdlab-web-")));
  }

  async close(): Promise<void> {
    await this.browser.close();
    await rm(this.dir, { recursive: true });
  }

  /** Inserts the report into the page like the program, and opens it from disk. */
  async page(report: unknown, hash = "", options: BrowserContextOptions = {}): Promise<Page> {
    const packed = deflateSync(JSON.stringify(report)).toString("base64");
    const html = (await bundle()).replace(SLOT, SLOT.replace("null", packed));
    return this.raw(html, hash, options);
  }

  async raw(html: string, hash = "", options: BrowserContextOptions = {}): Promise<Page> {
    return this.at((await this.file(html)) + hash, options);
  }

  /** The address of a page on disk. */
  async file(html: string): Promise<string> {
    const file = join(this.dir, `page-${Math.random().toString(36).slice(2)}.html`);
    await writeFile(file, html);
    return pathToFileURL(file).href;
  }

  /** Opens an address; requests to its own server are none of its complaints. */
  async at(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.blank(new URL(address).origin, options);
    await page.goto(address);
    await page.waitForSelector("main");
    await settled(page);
    return page;
  }

  /** An empty page, whose messages and requests to others than this origin are complaints. */
  async blank(origin: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.on("console", (message) => {
      // The tests read the canvas back, which the page never does.
      const ours = message.text().includes("willReadFrequently");
      if (/error|warning/.test(message.type()) && !ours) this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error.stack)));
    page.on("request", (request) => {
      const url = request.url();
      if (!/^(file|data|blob):/.test(url) && new URL(url).origin !== origin)
        this.complaints.push(`request: ${url}`);
    });
    return page;
  }
}

/** The page has drawn, and has had every event so far: its own come late on a busy machine. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        // Graphs draw in the frame after the first one.
        requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(() => done())));
      }),
  );
}

/** Opens what stands behind the answers of all chapters. */
export async function openDetails(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll("details.details")) fold.setAttribute("open", "");
  });
  await settled(page);
}

/** The address of a page of the first drive of a report alone. */
export function firstDrive({ runs }: { runs: { target: { name: string } }[] }): string {
  const slug = runs[0].target.name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `#drive=${slug.replace(/^-|-$/g, "")}&spare=default`;
}

/** Opens or closes a fold. */
export async function fold(summary: Locator): Promise<void> {
  await summary.click();
  await settled(summary.page());
}

/** Opens every fold; those within folds, too. */
export async function openAll(page: Page): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    await page.evaluate(() => {
      for (const fold of document.querySelectorAll("details:not([open])")) fold.setAttribute("open", "");
    });
    await settled(page);
  }
}

/** Follows a link to another view of the page. */
export async function follow(page: Page, hash: string): Promise<void> {
  await page.evaluate((wanted) => {
    location.hash = wanted;
  }, hash);
  await settled(page);
}

export interface Axes {
  xMin: number;
  xMax: number;
  yMin: number;
  yMax: number;
  yZero: number | null;
}

export async function axes(page: Page, id: string): Promise<Axes> {
  const data = await page.locator(`#${id}`).evaluate((element) => ({ ...(element as HTMLElement).dataset }));
  return {
    xMin: Number(data.xMin),
    xMax: Number(data.xMax),
    yMin: Number(data.yMin),
    yMax: Number(data.yMax),
    yZero: data.yZero ? Number(data.yZero) : null,
  };
}

/** Place of a value within the plot, as shares from the left and from the top. */
export function shares(a: Axes, x: number, y: number, log: boolean): [number, number] {
  const of = (value: number) => (log ? Math.log10(value) : value);
  return [(x - a.xMin) / (a.xMax - a.xMin), 1 - (of(y) - of(a.yMin)) / (of(a.yMax) - of(a.yMin))];
}

/** Number of pixels of a colour on the canvas within a few pixels of a place in the plot. */
export async function pixelsNear(
  page: Page,
  id: string,
  place: [number, number],
  color: string,
  reach = 2,
): Promise<number> {
  return page.locator(`#${id}`).evaluate(
    (element, { place, color, reach }) => {
      const canvas = element.querySelector("canvas") as HTMLCanvasElement;
      const over = element.querySelector(".u-over") as HTMLElement;
      const ratio = canvas.width / canvas.clientWidth;
      const x = (over.offsetLeft + place[0] * over.clientWidth) * ratio;
      const y = (over.offsetTop + place[1] * over.clientHeight) * ratio;
      const size = 2 * reach + 1;
      const ctx = canvas.getContext("2d") as CanvasRenderingContext2D;
      const { data } = ctx.getImageData(Math.round(x) - reach, Math.round(y) - reach, size, size);
      const wanted = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (wanted.every((channel, k) => Math.abs(data[i + k] - channel) < 3)) count++;
      }
      return count;
    },
    { place, color, reach },
  );
}

export function cssColor(page: Page, name: string): Promise<string> {
  return page.evaluate(
    (property) => getComputedStyle(document.documentElement).getPropertyValue(property).trim(),
    name,
  );
}

/** Middle of a place in the plot, in page coordinates; scrolls it into view. */
export async function pointIn(page: Page, id: string, place: [number, number]): Promise<[number, number]> {
  const over = page.locator(`#${id} .u-over`);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  if (!box) throw new Error(`${id} is not on the page`);
  return [box.x + place[0] * box.width, box.y + place[1] * box.height];
}

/** Counts the shapes that the page draws on canvases from now on; the answer tells their number so far. */
export async function countDrawing(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const counted = window as unknown as { shapes: number };
    counted.shapes = 0;
    const shapes = ["arc", "fillRect", "lineTo", "rect", "strokeRect"] as const;
    for (const drawing of [CanvasRenderingContext2D.prototype, Path2D.prototype]) {
      for (const name of shapes.filter((one) => one in drawing)) {
        const original: (...values: never[]) => void = Reflect.get(drawing, name);
        const count = function (this: unknown, ...values: never[]) {
          counted.shapes++;
          original.apply(this, values);
        };
        Reflect.set(drawing, name, count);
      }
    }
  });
  return () => page.evaluate(() => (window as unknown as { shapes: number }).shapes);
}

/** What axe finds on a page, with the first elements of each kind. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { axe: own } = window as unknown as { axe: { run: () => Promise<axe.AxeResults> } };
    return (await own.run()).violations;
  });
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160))}`);
}
