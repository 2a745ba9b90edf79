import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/**
 * The finished page forbids itself all network access. Only in the build: the development server needs its
 * own connection.
 */
function forbidNetwork(): Plugin {
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
  return {
    name: "ssdlab-forbid-network",
    apply: "build",
    transformIndexHtml: (html) =>
      html.replace("<head>", `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`),
  };
}

export default defineConfig({
  base: "./",
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), forbidNetwork()],
  build: { target: "es2022", modulePreload: false, reportCompressedSize: false },
});
