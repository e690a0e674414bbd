import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { expandUriTemplate, matchUriTemplate } from "../../src/protocol/uri_template.ts";
import type { TemplateValue } from "../../src/protocol/uri_template.ts";

const values: Record<string, TemplateValue> = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: 768,
  empty: "",
  empty_keys: {},
  undef: null,
};

/** RFC 6570: the template and what comes out, one pair a line, by section. */
const vectors: Record<string, string> = {
  "1.2 level 1": `
    {var} value
    {hello} Hello%20World%21`,
  "1.2 level 2": `
    {+var} value
    {+hello} Hello%20World!
    {+path}/here /foo/bar/here
    here?ref={+path} here?ref=/foo/bar
    X{#var} X#value
    X{#hello} X#Hello%20World!`,
  "1.2 level 3": `
    map?{x,y} map?1024,768
    {x,hello,y} 1024,Hello%20World%21,768
    {+x,hello,y} 1024,Hello%20World!,768
    {+path,x}/here /foo/bar,1024/here
    {#x,hello,y} #1024,Hello%20World!,768
    {#path,x}/here #/foo/bar,1024/here
    X{.var} X.value
    X{.x,y} X.1024.768
    {/var} /value
    {/var,x}/here /value/1024/here
    {;x,y} ;x=1024;y=768
    {;x,y,empty} ;x=1024;y=768;empty
    {?x,y} ?x=1024&y=768
    {?x,y,empty} ?x=1024&y=768&empty=
    ?fixed=yes{&x} ?fixed=yes&x=1024
    {&x,y,empty} &x=1024&y=768&empty=`,
  "1.2 level 4": `
    {var:3} val
    {var:30} value
    {list} red,green,blue
    {list*} red,green,blue
    {keys} semi,%3B,dot,.,comma,%2C
    {keys*} semi=%3B,dot=.,comma=%2C
    {+path:6}/here /foo/b/here
    {+list} red,green,blue
    {+list*} red,green,blue
    {+keys} semi,;,dot,.,comma,,
    {+keys*} semi=;,dot=.,comma=,
    {#path:6}/here #/foo/b/here
    {#list} #red,green,blue
    {#list*} #red,green,blue
    {#keys} #semi,;,dot,.,comma,,
    {#keys*} #semi=;,dot=.,comma=,
    X{.var:3} X.val
    X{.list} X.red,green,blue
    X{.list*} X.red.green.blue
    X{.keys} X.semi,%3B,dot,.,comma,%2C
    X{.keys*} X.semi=%3B.dot=..comma=%2C
    {/var:1,var} /v/value
    {/list} /red,green,blue
    {/list*} /red/green/blue
    {/list*,path:4} /red/green/blue/%2Ffoo
    {/keys} /semi,%3B,dot,.,comma,%2C
    {/keys*} /semi=%3B/dot=./comma=%2C
    {;hello:5} ;hello=Hello
    {;list} ;list=red,green,blue
    {;list*} ;list=red;list=green;list=blue
    {;keys} ;keys=semi,%3B,dot,.,comma,%2C
    {;keys*} ;semi=%3B;dot=.;comma=%2C
    {?var:3} ?var=val
    {?list} ?list=red,green,blue
    {?list*} ?list=red&list=green&list=blue
    {?keys} ?keys=semi,%3B,dot,.,comma,%2C
    {?keys*} ?semi=%3B&dot=.&comma=%2C
    {&var:3} &var=val
    {&list} &list=red,green,blue
    {&list*} &list=red&list=green&list=blue
    {&keys} &keys=semi,%3B,dot,.,comma,%2C
    {&keys*} &semi=%3B&dot=.&comma=%2C`,
  "3.2.1 variable expansion": `
    {count} one,two,three
    {count*} one,two,three
    {/count} /one,two,three
    {/count*} /one/two/three
    {;count} ;count=one,two,three
    {;count*} ;count=one;count=two;count=three
    {?count} ?count=one,two,three
    {?count*} ?count=one&count=two&count=three
    {&count*} &count=one&count=two&count=three`,
  "3.2.2 simple": `
    {half} 50%25
    O{empty}X OX
    O{undef}X OX
    {x,y} 1024,768
    ?{x,empty} ?1024,
    ?{x,undef} ?1024
    ?{undef,y} ?768`,
  "3.2.3 reserved": `
    {+half} 50%25
    {base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
    {+base}index http://example.com/home/index
    O{+empty}X OX
    O{+undef}X OX
    up{+path}{var}/here up/foo/barvalue/here`,
  "3.2.4 fragment": `
    {#var} #value
    {#hello} #Hello%20World!
    {#half} #50%25
    foo{#empty} foo#
    foo{#undef} foo`,
  "3.2.5 label": `
    {.who} .fred
    {.who,who} .fred.fred
    {.half,who} .50%25.fred
    www{.dom*} www.example.com
    X{.empty} X.
    X{.undef} X
    X{.empty_keys} X
    X{.empty_keys*} X`,
  "3.2.6 path segments": `
    {/who} /fred
    {/who,who} /fred/fred
    {/half,who} /50%25/fred
    {/who,dub} /fred/me%2Ftoo
    {/var,empty} /value/
    {/var,undef} /value`,
  "3.2.7 path parameters": `
    {;who} ;who=fred
    {;half} ;half=50%25
    {;empty} ;empty
    {;v,empty,who} ;v=6;empty;who=fred
    {;v,bar,who} ;v=6;who=fred
    {;x,y,undef} ;x=1024;y=768`,
  "3.2.8 query": `
    {?who} ?who=fred
    {?half} ?half=50%25
    {?x,y,undef} ?x=1024&y=768`,
  "3.2.9 query continuation": `
    {&who} &who=fred
    {&half} &half=50%25
    {&x,y,undef} &x=1024&y=768`,
};

describe("URI templates: the RFC's own examples", () => {
  for (const [section, lines] of Object.entries(vectors)) {
    test(section, () => {
      for (const line of lines.trim().split("\n")) {
        const [template = "", expected = ""] = line.trim().split(" ");
        assertEquals(expandUriTemplate(template, values), expected, template);
      }
    });
  }
});

describe("URI templates: expansion", () => {
  test("literals outside the characters of URIs are encoded, triplets stay", () => {
    assertEquals(expandUriTemplate("größe/%2f%zz/{var}", values), "gr%C3%B6%C3%9Fe/%2f%25zz/value");
    assertEquals(expandUriTemplate("a b<>[x]", values), "a%20b%3C%3E[x]");
  });

  test("reserved expansion keeps triplets and encodes what is none", () => {
    assertEquals(expandUriTemplate("{+a}", { a: "%20%2F 100%" }), "%20%2F%20100%25");
    assertEquals(expandUriTemplate("{+a:2}", { a: "%20%2F%41" }), "%20%2F");
    assertEquals(expandUriTemplate("{a}{+a}", { a: "[é]" }), "%5B%C3%A9%5D[%C3%A9]");
  });

  test("a prefix counts characters, not bytes or halves", () => {
    assertEquals(expandUriTemplate("{a:2}", { a: "é😀x" }), "%C3%A9%F0%9F%98%80");
  });

  test("absent items of lists and pairs are left out, numbers and booleans are written", () => {
    assertEquals(
      expandUriTemplate("{?a*,b*,c}", { a: [1, null, true], b: { x: 0, y: undefined }, c: false }),
      "?a=1&a=true&x=0&c=false",
    );
    assertEquals(expandUriTemplate("{?a,b*}", { a: [null], b: { x: "" } }), "?x=");
  });

  test("names are the caller's own: nothing is inherited", () => {
    assertEquals(expandUriTemplate("a{/constructor,toString,__proto__}", {}), "a");
    assertEquals(expandUriTemplate("{__proto__}", JSON.parse('{"__proto__":"x"}')), "x");
  });

  test("dotted and encoded names are names", () => {
    assertEquals(expandUriTemplate("{?a.b,%41}", { "a.b": "1", "%41": "2" }), "?a.b=1&%41=2");
  });

  test("malformed templates are refused", () => {
    for (
      const template of [
        "{",
        "}",
        "a{b",
        "a}b",
        "{}",
        "{+}",
        "{a,}",
        "{,a}",
        "{=a}",
        "{!a}",
        "{|a}",
        "{@a}",
        "{a b}",
        "{a:}",
        "{a:0}",
        "{a:10000}",
        "{a:3*}",
        "{a*:3}",
        "{a**}",
        "{{a}}",
        "{.a.}",
        "{a-b}",
        "{%4}",
        "{é}",
      ]
    ) {
      assertThrows(() => expandUriTemplate(template, {}), TypeError, "URI template");
      assertThrows(() => matchUriTemplate(template, "a"), TypeError, "URI template");
    }
  });

  test("values that mean nothing are refused", () => {
    assertThrows(() => expandUriTemplate("{keys:1}", values), TypeError, "keys:1");
    assertThrows(() => expandUriTemplate("{+list:1}", values), TypeError, "list:1");
    assertThrows(() => expandUriTemplate("{a}", { a: "\ud800" }), TypeError, "well-formed");
  });

  test("limits are exact and named", () => {
    const longest = "a".repeat(4_096);
    assertEquals(expandUriTemplate(longest, {}), longest);
    assertThrows(() => expandUriTemplate(longest + "a", {}), RangeError, "at most 4096 characters are taken, got 4097");
    assertEquals(expandUriTemplate("{a}".repeat(64), { a: 1 }), "1".repeat(64));
    assertThrows(() => expandUriTemplate("{a}".repeat(65), {}), RangeError, "at most 64 expressions are taken, got 65");
    const names = (count: number): string => `{?${Array.from({ length: count }, (_, at) => "v" + at).join(",")}}`;
    assertEquals(expandUriTemplate(names(128), { v127: 1 }), "?v127=1");
    assertThrows(() => matchUriTemplate(names(129), ""), RangeError, "at most 128 variables are taken, got 129");
    assertEquals(matchUriTemplate("{+a}", "a".repeat(16_384))?.a?.length, 16_384);
    assertThrows(
      () => matchUriTemplate("{+a}", "a".repeat(16_385)),
      RangeError,
      "at most 16384 characters in the URI are taken, got 16385",
    );
  });
});
