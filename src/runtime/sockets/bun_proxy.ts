/**
 * The proxy that the environment names for a URL, read as Bun's own `fetch` reads it: its WebSocket has to be told.
 *
 * @module
 */

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL, of `HTTP_PROXY`, `HTTPS_PROXY` or `ALL_PROXY`; undefined where there is none, or `NO_PROXY` names the host.
 *
 * @throws {TypeError} When it is no URL.
 */
export async function proxyFor(url: string, variables: Variables): Promise<string | undefined> {
  const read = (name: string): string => variables[name.toLowerCase()] || variables[name] || "";
  const isSecure = /^(wss|https):/i.test(url);
  // One of another kind (`socks5:`) is passed over here, and refused where it is named for this kind of URL.
  const any = read("ALL_PROXY");
  const proxy = read(isSecure ? "HTTPS_PROXY" : "HTTP_PROXY") || (/^(?!https?:).*:\/\//i.test(any) ? "" : any);
  if (proxy === "") return undefined;
  const { hostname, port } = new URL(url);
  const host = bare(hostname);
  for (const entry of read("NO_PROXY").split(/[\s,]+/)) {
    if (await exempts(entry.toLowerCase(), host, port || (isSecure ? "443" : "80"))) return undefined;
  }
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** Whether an entry of `NO_PROXY` means a host: a name and what is below it, an address, or a range of them. */
async function exempts(entry: string, host: string, port: string): Promise<boolean> {
  if (entry === "*") return true;
  const [, range, bits] = /^([\d.]+|[\da-f:]+)\/(\d+)$/.exec(entry) ?? [];
  if (range !== undefined) return await isWithin(host, range, Number(bits));
  // What stands behind a colon is a port, unless it is one of several: an address of IPv6.
  const [, name = "", only = port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [entry, entry];
  const named = bare(name.replace(/^\*?\./, ""));
  return named !== "" && only === port && (host === named || host.endsWith(`.${named}`));
}

async function isWithin(host: string, range: string, bits: number): Promise<boolean> {
  const { BlockList, isIP } = await import("node:net");
  const version = isIP(range);
  if (version === 0 || isIP(host) !== version || bits > (version === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const family = version === 4 ? "ipv4" : "ipv6";
  list.addSubnet(range, bits, family);
  return list.check(host, family);
}

/** Without the brackets of an address, and without the dot at the end of a name. */
function bare(host: string): string {
  return host.replace(/^\[|[.\]]$/g, "");
}
