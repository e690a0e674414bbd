/**
 * A Worker whose tokens are in a Durable Object that it shares with another one. Bundled by `workerd_local_test.ts`.
 */
import { createOAuth, type OAuth } from "../../../../src/auth/mod.ts";
import { AuthorizationRequiredError } from "../../../../src/protocol/errors.ts";
import { createStubStore, StoreObject } from "../../../../src/entry/workers.ts";
import type { StoreStub } from "../../../../src/entry/workers.ts";
import { callAtOnce, callConnected } from "./calls.ts";

export { StoreObject };

interface Environment {
  readonly STORES: { idFromName(name: string): unknown; get(id: unknown): StoreStub };
}

/** What a test asks for. */
export interface Wish {
  readonly step: "call" | "call connected" | "first call" | "finish";
  readonly server: string;
  /** Who signs in: the name of the object, too. */
  readonly subject: string;
  readonly count?: number;
  readonly callback?: string;
}

/** One for each subject, as long as the isolate lives: its requests share it. */
class Users {
  readonly #known = new Map<string, OAuth>();

  of(subject: string, env: Environment): OAuth {
    const known = this.#known.get(subject) ?? createOAuth({
      redirectUri: "https://app.example.com/callback",
      subject,
      store: createStubStore(() => env.STORES.get(env.STORES.idFromName(subject))),
    });
    this.#known.set(subject, known);
    return known;
  }
}

const users = new Users();

const worker: { fetch(request: Request, env: Environment): Promise<Response> } = {
  async fetch(request, env) {
    const { step, server, subject, count = 1, callback = "" }: Wish = await request.json();
    const oauth = users.of(subject, env);
    const start = async (): Promise<void> => void await (await fetch(new URL("/barrier", server))).text();
    try {
      if (step === "finish") return Response.json(await oauth.finishAuth(callback));
      if (step === "call connected") return Response.json(await callConnected(oauth, server, count, start));
      if (step === "call") await start();
      if (step === "call") return Response.json(await callAtOnce(oauth, server, count));
      await oauth.signIn(server);
      return Response.json({ error: "it did not need anybody" });
    } catch (error) {
      if (!(error instanceof AuthorizationRequiredError)) return Response.json({ error: String(error) });
      const { authorizationUrl, pending } = error;
      return Response.json({ authorizationUrl, pending });
    }
  },
};

export default worker;
