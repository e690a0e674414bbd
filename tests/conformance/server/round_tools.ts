/** Tools that need several rounds in the modern era (SEP-2322): the keys are those that the suite answers. */
import type { ElicitRequest } from "../../../src/protocol/types.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";
import type { McpServer } from "../../../src/server/mod.ts";
import { ask, textOf } from "./asking_tools.ts";

/** Registers the tools `test_input_required_result_*`. */
export function addRoundTools(server: McpServer): void {
  const tool = (name: string, description: string, run: (context: RequestContext) => Promise<string>) => {
    server.tool(`test_input_required_result_${name}`, { description }, (_, context) => run(context));
  };
  tool("elicitation", "Asks for a name", async (context) => `Hello, ${await askName(context)}!`);
  tool("sampling", "Asks the client's model", async (context) => {
    return textOf(await context.sample(ask("What is the capital of France?", 100), { key: "capital_question" }));
  });
  tool("list_roots", "Asks for the client's roots", async (context) => {
    const roots = await context.roots({ key: "client_roots" });
    return `Roots: ${roots.map(({ uri }) => uri).join(", ")}`;
  });
  tool("request_state", "Asks once, with a sealed state", async (context) => `state-ok: ${await confirm(context)}`);
  tool("tampered_state", "Takes only the state that it gave", (context) => confirm(context));
  tool("multiple_inputs", "Asks for three things at once", async (context) => {
    const [name, greeting, roots] = await Promise.all([
      askName(context),
      context.sample(ask("Generate a greeting", 50), { key: "greeting" }),
      context.roots({ key: "client_roots" }),
    ]);
    return `${textOf(greeting)} ${name}, you have ${roots.length} roots`;
  });
  tool("multi_round", "Asks twice, one after the other", async (context) => {
    const { name } = await form(context, "step1", "Step 1: What is your name?", { name: { type: "string" } });
    const question = "Step 2: What is your favorite color?";
    const { color } = await form(context, "step2", question, { color: { type: "string" } });
    return `${name} likes ${color}`;
  });
  tool("capabilities", "Asks only what the client can answer", async (context) => {
    const answers = [
      context.can("elicit") ? askName(context) : undefined,
      context.can("sample") ? context.sample(ask("Say hello", 50), { key: "greeting" }).then(textOf) : undefined,
      context.can("roots")
        ? context.roots({ key: "client_roots" }).then((roots) => `${roots.length} roots`)
        : undefined,
    ];
    return (await Promise.all(answers)).filter((answer) => answer !== undefined).join(", ");
  });
}

/** Asks for the fields of a form, all of them required; without an answer it throws. */
export async function form(
  context: RequestContext,
  key: string,
  message: string,
  properties: NonNullable<ElicitRequest["requestedSchema"]>["properties"],
): Promise<Record<string, unknown>> {
  const requestedSchema = { type: "object" as const, properties, required: Object.keys(properties) };
  const { action, content } = await context.elicit({ message, requestedSchema }, { key });
  if (action !== "accept" || content === undefined) throw new Error(`The user did not answer: ${action}`);
  return content;
}

async function askName(context: RequestContext): Promise<string> {
  const { name } = await form(context, "user_name", "What is your name?", { name: { type: "string" } });
  return String(name);
}

async function confirm(context: RequestContext): Promise<string> {
  const { ok } = await form(context, "confirm", "Please confirm", { ok: { type: "boolean" } });
  return ok === true ? "confirmed" : "not confirmed";
}
