import { describe, test } from "node:test";
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { isLoopbackHost, judgeHost, judgeUrl } from "../../src/egress/address.ts";
import { otherHosts, publicHosts, secretPlaces, spellings } from "./hosts.ts";

describe("judgeUrl", () => {
  test("refuses every spelling of a forbidden host, with a reason", () => {
    const hosts = [...secretPlaces.flatMap(spellings), ...otherHosts];
    assertGreaterOrEqual(new Set(hosts).size, 250);
    for (const host of hosts) {
      for (const url of [`https://${host}/x`, `https://${host}:8443/`]) {
        const reason = judgeUrl(url);
        assert(typeof reason === "string" && reason.length > 10, `${url} passed`);
      }
    }
  });

  test("lets public names and addresses pass", () => {
    assertGreaterOrEqual(publicHosts.length, 50);
    for (const host of publicHosts) {
      assertEquals(judgeUrl(`https://${host}/a?b#c`), undefined, host);
      assertEquals(judgeUrl(new URL(`https://${host}:8443/`)), undefined, host);
    }
  });

  test("refuses every scheme but https, also on hosts that pass", () => {
    const urls = [
      "http://example.com",
      "ftp://example.com",
      "ws://example.com",
      "wss://example.com",
      "file:///etc/passwd",
    ];
    urls.push("javascript:alert(1)", "data:text/plain,x", "blob:https://example.com/1", "about:blank", "a:$(calc)?");
    for (const url of urls) {
      assert(judgeUrl(url), url);
      assert(judgeUrl(url, { operator: "http://127.0.0.1:1/", loopback: true }), url);
    }
    assert(
      judgeUrl("blob:https://example.com/1", { operator: "https://example.com/" }),
      "a blob has its maker's origin",
    );
  });

  test("refuses user names and passwords, on the operator's origin too", () => {
    for (const user of ["u:p@", "u@", ":p@", "example.com@", "u%40x:p@"]) {
      assert(judgeUrl(`https://${user}example.com/`), user);
      assert(judgeUrl(`https://${user}example.com/`, { operator: "https://example.com/" }), user);
    }
    assertEquals(judgeUrl("https://example.com/@u:p@x"), undefined);
  });

  test("refuses what is no absolute URL", () => {
    for (
      const url of ["", "/x", "//example.com", "example.com", "https://", "https://[", "https:// x/", "https://a b/"]
    ) {
      assert(judgeUrl(url), url);
    }
  });

  test("takes the operator's origin and the allowed origins as given, and only those", () => {
    const policy = { operator: "http://10.1.2.3:8080/mcp", allow: ["https://login.corp.internal", "http://intranet/"] };
    for (const url of ["http://10.1.2.3:8080/other", "https://login.corp.internal/token", "http://intranet:80/x"]) {
      assertEquals(judgeUrl(url, policy), undefined, url);
    }
    const near = ["http://10.1.2.3/", "https://10.1.2.3:8080/", "http://10.1.2.4:8080/", "https://corp.internal/"];
    for (const url of [...near, "https://intranet/", "http://login.corp.internal/", "http://localhost/"]) {
      assert(judgeUrl(url, policy), url);
    }
    assertEquals(judgeUrl("https://mcp.internal/x", { operator: "wss://mcp.internal/socket" }), undefined);
    assert(judgeUrl("http://mcp.internal/x", { operator: "wss://mcp.internal/socket" }));
    assert(judgeUrl("https://10.0.0.1/", { operator: "not a URL" }));
  });

  test("allows loopback only when told so, with http and https, and nothing else private", () => {
    const loopback = [
      "localhost",
      "localhost:3000",
      "a.localhost",
      "127.0.0.1",
      "127.9.9.9:1",
      "2130706433",
      "[::1]:8080",
    ];
    for (const host of loopback) {
      for (const scheme of ["http", "https"]) {
        assertEquals(judgeUrl(`${scheme}://${host}/`, { loopback: true }), undefined, host);
        assert(judgeUrl(`${scheme}://${host}/`, { loopback: false }), host);
      }
    }
    for (
      const host of [
        "10.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "localhost.",
        "intranet",
        "[fe80::1]",
        "8.8.8.8",
      ]
    ) {
      assert(judgeUrl(`http://${host}/`, { loopback: true }), host);
    }
  });

  test("never puts a password, path or query into the reason", () => {
    for (
      const url of ["https://user:hunter22@10.0.0.1/", "https://10.0.0.1/hunter22?hunter22", "hunter22://x/hunter22 "]
    ) {
      assert(!judgeUrl(url.replace("hunter22:", "other:"))?.includes("hunter22"));
    }
  });
});

describe("judgeHost", () => {
  test("refuses unusual IPv4 spellings without a URL parser's help", () => {
    for (const address of [...secretPlaces, "8.8.8.8"]) {
      for (const host of spellings(address).slice(1, 16)) {
        if (host === "8.8.8.8" || host === address) continue;
        assert(judgeHost(host), host);
      }
    }
    for (
      const host of [
        "",
        ".",
        "a.",
        "a b.com",
        "a/b.com",
        "a%2eb.com",
        "a\0.com",
        "é.com",
        "x".repeat(64) + ".com",
        "[::1",
        "::1]",
      ]
    ) {
      assert(judgeHost(host), host);
    }
    const longest = ("a".repeat(62) + ".").repeat(3) + "a".repeat(60) + ".com";
    assertEquals([longest.length, judgeHost(longest)], [253, undefined]);
    assert(judgeHost("a" + longest), "longer than a name may be");
    assertEquals(judgeHost("a".repeat(63) + ".com"), undefined);
    for (const host of ["LOCALHOST", "Printer.Local", "a.Home.Arpa", "0X7F.1"]) assert(judgeHost(host), host);
  });
});

describe("isLoopbackHost", () => {
  test("knows this machine by its text", () => {
    for (
      const host of [
        "localhost",
        "LocalHost",
        "x.localhost",
        "127.0.0.1",
        "127.1.2.3",
        "::1",
        "[::1]",
        "0:0:0:0:0:0:0:1",
      ]
    ) {
      assert(isLoopbackHost(host), host);
    }
    const others = [
      "",
      "localhost.",
      "localhost.com",
      "xlocalhost",
      "127.0.0.1.nip.io",
      "127.1",
      "128.0.0.1",
      "0.0.0.0",
      "::",
      "::2",
    ];
    for (const host of [...others, "::ffff:127.0.0.1", "evil.com/localhost", "a b.localhost", "example.com"]) {
      assert(!isLoopbackHost(host), host);
    }
  });
});
