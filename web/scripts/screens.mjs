// Pictures of a Bench and of a comparison: `node scripts/screens.mjs SITE DIR` with a site of `ssdlab library site`.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runnerImport } from "vite";

const [site, dir] = process.argv.slice(2);
const root = new URL("..", import.meta.url);
const load = async (path) => (await runnerImport(new URL(path, root).pathname, { configFile: false })).module;
const [{ Host }, { Lab }] = [await load("test/e2e/host.ts"), await load("test/e2e/page.ts")];

const files = new Map([["/library.json", await readFile(join(site, "library.json"))]]);
for (const name of await readdir(join(site, "runs"))) {
  files.set(`/runs/${name}`, await readFile(join(site, "runs", name)));
}
const host = await Host.open(files);
const lab = await Lab.open();

/** A picture of the window, small enough for a repository. */
async function picture(page, name, height) {
  await page.setViewportSize({ width: 1280, height });
  await page.waitForTimeout(500);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  await writeFile(join(dir, `${name}.webp`), Buffer.from(data, "base64"));
  console.log(`${name}.webp: ${Math.round((data.length * 3) / 4 / 1000)} kB`);
}

const list = await lab.at(host.url, { colorScheme: "light" });
await list.waitForSelector(".bench-list");
const keys = await list
  .locator("tbody tr")
  .evaluateAll((rows) => rows.map((row) => row.dataset.key).slice(0, 20));
for (const key of keys.slice(0, 3)) await list.locator(`[data-pick="${key}"]`).check();
await list.evaluate(() => window.scrollTo(0, 0));
await picture(list, "bench", 1100);

const opened = `${host.url}#basket=${keys.join(",")}&open`;
const page = await lab.at(`${opened}&sort=consistency.iops_steady_mean`, { colorScheme: "light" });
await page.waitForSelector("#glossary");
await picture(page, "page", 900);

const pair = await lab.at(`${opened}&pair=${keys[0]},${keys[1]}`, { colorScheme: "light" });
await pair.waitForSelector("#glossary");
await pair.locator("#pair").evaluate((one) => one.scrollIntoView());
await picture(pair, "two-drives", 760);

await lab.close();
await host.close();
