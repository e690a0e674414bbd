/** The AI SDK's client at our server, on this runtime: over HTTP and stdio. */
import { aiSuites } from "../../suites/interop/ai.ts";

aiSuites("HTTP");
aiSuites("stdio");
