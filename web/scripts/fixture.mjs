// Writes dist/fixture-*.html: the built page with sample data, as `ssdlab report` would fill it.
import { readFile, writeFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { runnerImport } from "vite";

const SLOT = '<script type="text/plain" id="ssdlab-data">null</script>';
const root = new URL("..", import.meta.url);
const { module } = await runnerImport(new URL("fixtures/report.ts", root).pathname, { configFile: false });
const { module: libraries } = await runnerImport(new URL("fixtures/library.ts", root).pathname, {
  configFile: false,
});
const page = await readFile(new URL("dist/index.html", root), "utf8");

const reports = {
  all: module.fixtureReport(),
  mixed: module.mixedLengths(),
  many: module.manyRuns(),
  short: module.shortRun(),
  hour: module.hourRun(),
  other: module.unknownTest(),
  library: libraries.library(20),
};
for (const [name, report] of Object.entries(reports)) {
  const packed = deflateSync(JSON.stringify(report)).toString("base64");
  const out = new URL(`dist/fixture-${name}.html`, root);
  await writeFile(out, page.replace(SLOT, SLOT.replace("null", packed)));
  console.log(out.pathname);
}
