import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** The hash of the content of the only element with this opening tag, as a policy names it. */
function hashIn(html: string, opening: RegExp, closing: string): string {
  const [start, more] = [...html.matchAll(new RegExp(opening, "g"))];
  if (!start || more) throw new Error(`expected one ${opening} in the page`);
  const from = start.index + start[0].length;
  const content = html.slice(from, html.indexOf(closing, from));
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

const MODULE = /<script type="module"[^>]*>/;

/** The large script at the end of the page: what stands before it need not wait until it is read. */
function withScriptLast(html: string): string {
  const [opening] = MODULE.exec(html) ?? [""];
  const [from, end] = [html.indexOf(opening), "</script>"];
  const until = html.indexOf(end, from) + end.length;
  const script = html.slice(from, until);
  return [html.slice(0, from), html.slice(until)].join("").replace("</body>", () => `${script}\n  </body>`);
}

/**
 * The finished page permits its own script and style by their hashes, and forbids itself all network access. Only in
 * the build: the development server needs its own connection.
 */
function withPolicy(html: string): string {
  const scripts = [/<script>/, MODULE].map((opening) => hashIn(html, opening, "</script>")).join(" ");
  const style = hashIn(html, /<style[^>]*>/, "</style>");
  const policy = [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${style}`,
    "img-src data:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html.replace(
    "<head>",
    `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
  );
}

function policy(): Plugin {
  return {
    name: "ssdlab-policy",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type === "asset" && file.fileName.endsWith(".html"))
            file.source = withPolicy(withScriptLast(String(file.source)));
        }
      },
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), policy()],
  build: { target: "es2022", modulePreload: false, reportCompressedSize: false },
});
