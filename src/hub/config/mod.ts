/**
 * Configs of many servers: read, checked, filled in, and found where editors keep them.
 *
 * @module
 */
export { authForConfig } from "./auth.ts";
export { discoverConfigs } from "./discover.ts";
export type { DiscoverOptions, Discovery, FoundConfig, FoundServer, Origin } from "./discover.ts";
export { configLocations } from "./locations.ts";
export type { ConfigLocation, Places } from "./locations.ts";
export { readHubConfig } from "./read.ts";
export { hideSecrets } from "./secrets.ts";
export type { SignedInServer, SignInSettings } from "./sign_in_settings.ts";
export type {
  ConfigProblem,
  ConfigProblemCode,
  ConfiguredServer,
  InputDefinition,
  Platform,
  ReadConfig,
  ReadOptions,
  ReadServer,
  ServerNotes,
  SignIn,
} from "./types.ts";
export { withConfig } from "./with_config.ts";
export type { NotedServer, WithConfigOptions } from "./with_config.ts";
