/** The part of the local registry that speaks npm: what was published or added, and the packages that this repository has. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "../floors/source.ts";
import { root } from "../programs.ts";
import { readArchive, writeArchive } from "./tar.ts";

/** What it answers; undefined: not its business. */
export interface NpmAnswer {
  readonly status: number;
  readonly value: object | Uint8Array;
}

/** One request, as far as it matters. */
export interface NpmRequest {
  readonly method: string;
  /** Decoded, with a slash at its start. */
  readonly path: string;
  /** What clients reach this registry by, with a slash at its end. */
  readonly url: string;
  readonly body: Uint8Array;
}

interface Tarball {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly bytes: Uint8Array;
}

/** The body of `npm publish`. */
interface Publication {
  readonly name: string;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** Packages by their names; each has one version. */
export class NpmPackages {
  readonly #packages = new Map<string, Tarball>();
  readonly #lent: readonly string[];

  /** @param lent The packages that are taken from this repository's `node_modules`; no other one is found. */
  constructor(lent: readonly string[]) {
    this.#lent = lent;
  }

  /** Takes a package in. */
  add(bytes: Uint8Array): void {
    const text = new TextDecoder().decode(readArchive(bytes).get("package/package.json"));
    const manifest: Tarball["manifest"] = JSON.parse(text);
    this.#packages.set(manifest.name, { manifest, bytes });
  }

  /** Answers what a client of npm asks. */
  answer({ method, path, url, body }: NpmRequest): NpmAnswer | undefined {
    const [, tarball] = /^\/-\/tarballs\/(.+)\.tgz$/.exec(path) ?? [];
    if (tarball !== undefined) {
      const found = this.#find(tarball);
      return found === undefined ? undefined : { status: 200, value: found.bytes };
    }
    const [, name] = /^\/((?:@[^/]+\/)?[^/@]+)$/.exec(path) ?? [];
    if (name === undefined) return undefined;
    if (method === "PUT") return this.#publish(body);
    const found = this.#find(name);
    return found === undefined ? undefined : { status: 200, value: packument(found, url) };
  }

  #publish(body: Uint8Array): NpmAnswer {
    const publication: Publication = JSON.parse(new TextDecoder().decode(body));
    const [attachment] = Object.values(publication._attachments);
    if (attachment === undefined) return { status: 400, value: { error: "there is no tarball" } };
    this.add(new Uint8Array(Buffer.from(attachment.data, "base64")));
    return { status: 201, value: { ok: true, success: true } };
  }

  #find(name: string): Tarball | undefined {
    const folder = join(root, "node_modules", name);
    if (!this.#packages.has(name) && this.#lent.includes(name) && existsSync(folder)) {
      const files = listFiles(folder, ".").map((path) =>
        [path, new Uint8Array(readFileSync(join(folder, path)))] as const
      );
      this.add(writeArchive(new Map(files)));
    }
    return this.#packages.get(name);
  }
}

function packument({ manifest, bytes }: Tarball, url: string): object {
  const { name, version } = manifest;
  const dist = {
    tarball: `${url}-/tarballs/${name}.tgz`,
    shasum: createHash("sha1").update(bytes).digest("hex"),
    integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
  };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}
