import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { authFolder } from "../../../src/cli/auth/home.ts";
import { UsageError } from "../../../src/cli/failure.ts";
import { ownConfig } from "../../../src/cli/target/config.ts";
import { userHome } from "../../../src/cli/target/place.ts";

const home = (): string => "/home/me";
/** As Node does for a user whom the system does not know, without HOME. */
const unknownUser = (): string => {
  throw new Error("A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)");
};

describe("where sign-ins are kept", () => {
  test("CAUSEWAY_HOME, XDG_CONFIG_HOME, ~/.config, also on a Mac", () => {
    const folder = (environment: Record<string, string>, platform = "linux") =>
      authFolder({ environment, platform, home });
    assertEquals(folder({ CAUSEWAY_HOME: "/srv/c", XDG_CONFIG_HOME: "/xdg" }), "/srv/c/auth");
    assertEquals(folder({ XDG_CONFIG_HOME: "/xdg" }), "/xdg/causeway/auth");
    assertEquals(folder({ XDG_CONFIG_HOME: "relative" }), "/home/me/.config/causeway/auth");
    const none = () => authFolder({ environment: {}, platform: "linux", home: () => null });
    assertThrows(none, UsageError, "Cannot find your own folder: set CAUSEWAY_HOME");
    assertThrows(
      () => authFolder({ environment: {}, platform: "linux", home: unknownUser }),
      UsageError,
      "Cannot find your own folder: set CAUSEWAY_HOME",
    );
    assertEquals(folder({ XDG_CONFIG_HOME: "", CAUSEWAY_HOME: "" }, "darwin"), "/home/me/.config/causeway/auth");
  });

  test("who has no folder has none", () => {
    assertEquals(userHome(home), "/home/me");
    const notCapable = Object.assign(new Error("run again with the --allow-sys flag"), { name: "NotCapable" });
    assertThrows(
      () =>
        userHome(() => {
          throw notCapable;
        }),
      Error,
      "--allow-sys",
    );
    for (const none of [() => null, () => "", unknownUser]) assertEquals(userHome(none), undefined);
  });

  test("the config of one's own needs no folder where its place is said", () => {
    const none = () => undefined;
    assertEquals(ownConfig(none, {}), undefined);
    assertEquals(ownConfig(none, { XDG_CONFIG_HOME: "relative" }), undefined);
    assertMatch(ownConfig(none, { CAUSEWAY_HOME: "/own" }) ?? "", /^[\\/]own[\\/]causeway\.json$/);
    assertMatch(ownConfig(home, {}) ?? "", /^[\\/]home[\\/]me[\\/].*[\\/]causeway[\\/]causeway\.json$/);
  });

  test("%APPDATA% on Windows", () => {
    const folder = (environment: Record<string, string>) =>
      authFolder({ environment, platform: "win32", home: () => "C:\\Users\\me" });
    assertEquals(folder({ APPDATA: "D:\\Data", XDG_CONFIG_HOME: "/xdg" }), "D:\\Data\\causeway\\auth");
    assertEquals(folder({ CAUSEWAY_HOME: "D:\\c" }), "D:\\c\\auth");
    assertEquals(folder({}), "C:\\Users\\me\\AppData\\Roaming\\causeway\\auth");
  });
});
