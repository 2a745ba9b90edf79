// A web host of a Bench: the page as `ssdlab library site` makes it, its files, and the headers of `ssdlab library serve`.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { bundle, SLOT } from "./page";

/** The page of a Bench, and its policy; the word tells the form of its rows. */
export async function benchPage(word = "library"): Promise<[html: string, policy: string]> {
  const page = (await bundle()).replace(SLOT, SLOT.replace("null", word));
  const html = page.replace("connect-src 'none'", "connect-src 'self'");
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  if (!policy?.includes("connect-src 'self'")) throw new Error("the page has no policy");
  return [html, policy];
}

export class Host {
  private constructor(
    private server: Server,
    readonly url: string,
    /** Paths that were asked for. */
    readonly asked: readonly string[],
    /** Sends the files that were held back, and those to come. */
    readonly release: () => void,
  ) {}

  /** `streams` are the events of runs in progress by their path; `isHeld` files wait for a release. */
  static async open(
    files: Map<string, Buffer>,
    streams = new Map<string, string>(),
    isHeld: (path: string) => boolean = () => false,
  ): Promise<Host> {
    const [html, policy] = await benchPage(files.has("/library.zz") ? "packed-library" : "library");
    const asked: string[] = [];
    let release = () => {};
    const released = new Promise<void>((done) => {
      release = done;
    });
    const server = createServer(async ({ url = "" }, response) => {
      const path = decodeURIComponent(url);
      asked.push(path);
      if (isHeld(path)) await released;
      response.setHeader("Content-Security-Policy", `${policy}; frame-ancestors 'none'`);
      response.setHeader("X-Content-Type-Options", "nosniff");
      const [stream, file] = [streams.get(path), files.get(path)];
      if (stream !== undefined) {
        response.setHeader("Content-Type", "text/event-stream").end(stream);
      } else if (path === "/") response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
      else if (file) {
        const kind = path.endsWith(".json") ? "application/json" : "application/zlib";
        response.setHeader("Content-Type", kind).end(file);
      } else response.writeHead(404).end();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return new Host(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked, release);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}
