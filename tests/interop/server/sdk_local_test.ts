/** The official client at our server, on this runtime: over HTTP and stdio. */
import { sdkSuites } from "../../suites/interop/sdk.ts";

sdkSuites("HTTP");
sdkSuites("stdio");
