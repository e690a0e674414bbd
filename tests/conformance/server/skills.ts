/** The skills that the suite looks at: one with a folder, and one below a prefix. */
import type { SkillOptions } from "../../../src/server/mod.ts";

/** Two skills. */
export const skills: readonly SkillOptions[] = [
  {
    markdown: `---
name: release-notes
description: Write the notes of a release from its commits
license: MIT
metadata:
  version: "1.2"
---

# Release notes

Sort the commits as references/KINDS.md says, then fill in templates/notes.txt.
`,
    files: {
      "references/KINDS.md": "# Kinds\n\nfix, feat, docs, and what is left.\n",
      "templates/notes.txt": "New: \nMended: \n",
    },
  },
  {
    folder: "acme/support",
    markdown: `---
name: refunds
description: Refund a customer as the company's rules say
---

# Refunds

Ask for the order's number first.
`,
  },
];
