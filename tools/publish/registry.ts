/** A registry on loopback: as much of JSR as `deno publish` and an import need, and as much of npm as `npm publish` and an install. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { NpmPackages } from "./npm_registry.ts";
import { readArchive } from "./tar.ts";

/** A running registry. */
export interface Registry {
  /** Its address, for `JSR_URL` and as npm's registry, with a slash at its end. */
  readonly url: string;
  /** The files that JSR was given, by their paths. */
  published(): ReadonlyMap<string, Uint8Array>;
  /** Offers one more package to clients of npm: its archive. */
  offer(archive: Uint8Array): void;
  stop(): Promise<void>;
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

type Answer = { readonly status: number; readonly type: string; readonly body: string | Uint8Array };

/**
 * Starts it on a free port.
 *
 * @param lent The packages that npm finds there beside what is published: this repository's own copies.
 */
export async function startRegistry(lent: readonly string[]): Promise<Registry> {
  const packages = new Map<string, Package>();
  const npm = new NpmPackages(lent);
  let url = "";
  const server = createServer((request, response) => {
    // One that is kept may be closed in the moment in which a busy machine asks again.
    response.setHeader("connection", "close");
    answer(request, packages, { npm, url })
      .catch((error: unknown) => json(500, { code: "internalError", message: String(error) }))
      .then((found) => send(response, found));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
  return {
    url,
    published: () => new Map([...packages.values()].flatMap(({ files }) => [...files])),
    offer: (archive) => npm.add(archive),
    stop: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

async function answer(
  request: IncomingMessage,
  packages: Map<string, Package>,
  { npm, url }: { npm: NpmPackages; url: string },
): Promise<Answer> {
  const path = decodeURIComponent(new URL(request.url ?? "/", "http://registry").pathname);
  const [, scope, name, version] = /^\/api\/scopes\/([^/]+)\/packages\/([^/]+)(?:\/versions\/([^/]+))?$/.exec(path) ??
    [];
  if (scope !== undefined && name !== undefined) {
    if (request.method === "POST" && version !== undefined) {
      const full = `@${scope}/${name}`;
      packages.set(full, { name: full, version, files: readArchive(await readBody(request)) });
      return json(200, { id: crypto.randomUUID(), status: "success", error: null });
    }
    if (version !== undefined) {
      return json(404, { code: "packageVersionNotFound", message: "there is no such version" });
    }
    return json(200, { scope, name, description: "", latestVersion: null, githubRepository: null, score: null });
  }
  const method = request.method ?? "GET";
  const body = method === "GET" ? new Uint8Array() : await readBody(request);
  const found = npm.answer({ method, path, url, body });
  if (found === undefined) return answerFile(path, packages);
  const { status, value } = found;
  return value instanceof Uint8Array ? { status, type: "application/octet-stream", body: value } : json(status, value);
}

/** `/@scope/name/meta.json`, `/@scope/name/<version>_meta.json` and `/@scope/name/<version>/<path>`. */
function answerFile(path: string, packages: ReadonlyMap<string, Package>): Answer {
  const [, name = "", rest = ""] = /^\/(@[^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
  const found = packages.get(name);
  const missing = json(404, { code: "notFound", message: path });
  if (found === undefined) return missing;
  const { version, files } = found;
  if (rest === "meta.json") {
    const [scope, short] = name.slice(1).split("/");
    return json(200, { scope, name: short, latest: version, versions: { [version]: {} } });
  }
  if (rest === `${version}_meta.json`) {
    const manifest = Object.fromEntries([...files].map(([file, bytes]) => {
      const checksum = `sha256-${createHash("sha256").update(bytes).digest("hex")}`;
      return [`/${file}`, { size: bytes.byteLength, checksum }];
    }));
    const config: { exports: object } = JSON.parse(new TextDecoder().decode(files.get("deno.json")));
    return json(200, { manifest, exports: config.exports });
  }
  const file = rest.startsWith(`${version}/`) ? files.get(rest.slice(version.length + 1)) : undefined;
  const type = rest.endsWith(".ts") ? "text/typescript" : rest.endsWith(".json") ? "application/json" : "text/plain";
  return file === undefined ? missing : { status: 200, type, body: file };
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

function json(status: number, value: object): Answer {
  return { status, type: "application/json", body: JSON.stringify(value) };
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { "content-type": type });
  response.end(body);
}
