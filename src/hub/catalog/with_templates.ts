/**
 * Reads what no server lists from the one whose template makes it.
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import type { ReadResourceResult } from "../../protocol/types.ts";
import { HubLayer } from "../layer.ts";
import type { HubLike, ResourceName } from "../seam.ts";
import { findTemplates } from "./templates.ts";

/** How many servers a message names. */
const mostNamed = 5;

/**
 * Wraps a hub so that a URI which no server lists is read from the one server whose template makes it. A URI that is listed,
 * that no template makes, or that is named with its server is read as the hub inside reads it.
 *
 * Its place is outside of `withFilter`, whose hidden templates make nothing, and inside of `withResultBudget`, whose own URIs
 * are nobody else's.
 *
 * Reading rejects with an `InvalidParamsError` that names the servers where templates of several make the URI: name one then, as
 * in `{ server, uri }`.
 *
 * @example A file that is not listed
 * ```ts
 * import { openHub } from "@causeway/mcp";
 * import { withTemplates } from "@causeway/mcp/hub";
 * import { createHandler, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "files", version: "1.0.0" });
 * server.template("note:///{name}", { name: "note" }, (_uri, { name }) => `the note ${name}`);
 * const handler = createHandler(server);
 * await using hub = await openHub({ files: { url: "http://localhost/mcp" } }, {
 *   fetch: (url, init) => handler(new Request(url, init)),
 * });
 * const { contents } = await withTemplates(hub).readResource("note:///today");
 * if (!JSON.stringify(contents).includes("the note today")) throw new Error("it was not read");
 * ```
 */
export function withTemplates(hub: HubLike): HubLike {
  return new TemplateHub(hub);
}

class TemplateHub extends HubLayer {
  override async readResource(
    ...[name, options]: Parameters<HubLike["readResource"]>
  ): Promise<ReadResourceResult> {
    return await this.hub.readResource(typeof name === "string" ? this.#owned(name) : name, options);
  }

  #owned(uri: string): ResourceName {
    if (this.hub.resources().some(({ resource }) => resource.uri === uri)) return uri;
    const servers = [...new Set(findTemplates(this.hub, uri).map(({ server }) => server))];
    const [server, another] = servers;
    if (server === undefined) return uri;
    if (another === undefined) return { server, uri };
    const names = servers.slice(0, mostNamed).map((name) => JSON.stringify(name)).join(", ");
    const more = servers.length > mostNamed ? ` and ${servers.length - mostNamed} more` : "";
    const error = new InvalidParamsError(
      `Cannot read "${excerpt(uri, 200)}": more than one server has a template for it, name one of ${names}${more}`,
    );
    error.delivery = "not-sent";
    throw error;
  }
}
