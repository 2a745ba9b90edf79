// Pictures of a Bench, a comparison, its card and a terminal: `node scripts/screens.mjs BENCH SITE TERMINAL DIR` with two
// sites of `ssdlab library site` and the coloured text of a terminal. BENCH may be a reference library in one file, too.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { runnerImport } from "vite";

const [bench, site, terminal, dir] = process.argv.slice(2);
const root = new URL("..", import.meta.url);
const load = async (path) => (await runnerImport(new URL(path, root).pathname, { configFile: false })).module;
const [{ Host }, { Lab }] = [await load("test/e2e/host.ts"), await load("test/e2e/page.ts")];
const { benchFiles, benchLibrary } = await load("fixtures/bench.ts");

/** A server of a site. */
async function hostOf(site) {
  const files = new Map([["/library.json", await readFile(join(site, "library.json"))]]);
  for (const name of await readdir(join(site, "runs"))) {
    files.set(`/runs/${name}`, await readFile(join(site, "runs", name)));
  }
  return Host.open(files);
}

/** A server of the runs of a reference library, with the title of a site. */
async function hostOfReference(file, site) {
  const { runs } = JSON.parse(inflateSync(await readFile(file)));
  const { title, tool_version } = JSON.parse(await readFile(join(site, "library.json")));
  return Host.open(benchFiles(runs, { ...benchLibrary(runs), title, tool_version }));
}

const lab = await Lab.open();

/** A picture of the window, small enough for a repository. */
async function picture(page, name, height, width = 1280) {
  await page.setViewportSize({ width, height });
  await page.waitForTimeout(500);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  await writeFile(join(dir, `${name}.webp`), Buffer.from(data, "base64"));
  console.log(`${name}.webp: ${Math.round((data.length * 3) / 4 / 1000)} kB`);
}

/** The list of a Bench, and the keys of its first drives. */
async function listOf(host) {
  const list = await lab.at(host.url, { colorScheme: "light" });
  await list.waitForSelector(".bench-list");
  const rows = list.locator("tbody tr");
  return [list, await rows.evaluateAll((rows) => rows.map((row) => row.dataset.key).slice(0, 20))];
}

const all = await (bench.endsWith(".zz") ? hostOfReference(bench, site) : hostOf(bench));
const [list, shown] = await listOf(all);
for (const key of shown.slice(0, 3)) await list.locator(`[data-pick="${key}"]`).check();
await list.evaluate(() => window.scrollTo(0, 0));
await picture(list, "bench", 1100);

const host = await hostOf(site);
const [, keys] = await listOf(host);
const opened = `${host.url}#basket=${keys.join(",")}&open`;
const page = await lab.at(`${opened}&sort=consistency.iops_steady_mean`, { colorScheme: "light" });
await page.waitForSelector("#glossary");
await picture(page, "page", 900);

const pair = await lab.at(`${opened}&pair=${keys[0]},${keys[1]}`, { colorScheme: "light" });
await pair.waitForSelector("#glossary");
await pair.locator("#pair").evaluate((one) => one.scrollIntoView());
await picture(pair, "two-drives", 760);

const download = page.waitForEvent("download");
await page.locator("#card").click();
const card = await readFile(await (await download).path(), "base64");
const plain = await lab.blank(host.url);
await plain.setContent(`<body style="margin:0"><img src="data:image/png;base64,${card}">`);
await picture(plain, "card", 630, 1200);

const styles = { 1: "font-weight:700;color:#fff", 2: "color:#9aa4b2", 33: "color:#e5c07b" };
const text = (await readFile(terminal, "utf8")).trimEnd().replaceAll("&", "&amp;").replaceAll("<", "&lt;");
// biome-ignore lint/suspicious/noControlCharactersInRegex: the text of a terminal has them
const colored = text.replace(/\x1b\[(\d*)m/g, (_, code) =>
  styles[code] ? `<span style="${styles[code]}">` : "</span>",
);
const screen =
  "margin:0;padding:24px 28px;background:#15191f;color:#d7dce3;font:16px/1.35 'DejaVu Sans Mono',monospace";
await plain.setContent(`<body style="margin:0"><pre style="${screen}">${colored}</pre>`);
const { height } = await plain.locator("pre").boundingBox();
await picture(plain, "terminal", Math.ceil(height), 860);

await lab.close();
await host.close();
await all.close();
