// Measures the built page in a real browser: `node scripts/bench.mjs [--turns N] [--report FILE]`. The table goes to
// stderr, one JSON document to stdout.
import { parseArgs } from "node:util";
import { runnerImport } from "vite";

const { values } = parseArgs({
  options: { turns: { type: "string", default: "7" }, report: { type: "string" } },
});
const root = new URL("..", import.meta.url);
const { module } = await runnerImport(new URL("../bench/page/run.ts", root).pathname, { configFile: false });
const options = { turns: Number(values.turns), report: values.report };
const figures = await module.measure(options, (line) => console.error(line));
console.log(JSON.stringify(figures, null, 2));
