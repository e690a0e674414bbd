/**
 * `causeway completion bash|zsh|fish`: a script for the shell. It asks the command itself, so that it is never out of date.
 *
 * @module
 */
import { didYouMean } from "../../../hub/config/nearest.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { writeOut } from "../../terminal.ts";
import { exactWords } from "../talk/common.ts";

/** Prints the script, and answers the exit code. */
export async function completion(line: CommandLine): Promise<number> {
  const [shell = ""] = exactWords(line, ["bash|zsh|fish"]);
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) {
    const names = Object.keys(scripts);
    throw new UsageError(
      `Unknown shell "${shell}"${didYouMean(shell, names)}: write causeway completion ${names.join(", ")}`,
    );
  }
  await writeOut(script);
  return exitCodes.ok;
}

const scripts: Readonly<Record<string, string>> = {
  bash: `# In ~/.bashrc: source <(causeway completion bash)
_causeway() {
  local IFS=$'\\n'
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD-1}" "\${COMP_WORDS[COMP_CWORD]}")
  COMPREPLY=($(causeway __complete "\${words[@]}" 2>/dev/null))
}
complete -o default -F _causeway causeway
`,
  zsh: `#compdef causeway
# In ~/.zshrc, behind compinit: source <(causeway completion zsh)
_causeway() {
  local -a found
  found=("\${(@f)$(causeway __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
compdef _causeway causeway
`,
  fish: `# In ~/.config/fish/config.fish: causeway completion fish | source
function __causeway_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (causeway __complete $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c causeway -f -a '(__causeway_complete)'
`,
};
