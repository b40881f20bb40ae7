import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Fault, messageOf } from '../kernel/fault.ts';
import type { Environment } from './seams.ts';

/** File names that the program is called by. */
const PROGRAMS = ['kubectl-netsvc_upgrade', 'netsvcctl-upgrade'];

/** bash splits words at `=` and `:` and replaces only the rest, so choices lose that part. Bash 3.2 lacks mapfile and compopt. */
const bash = `_netsvc_upgrade() {
  local line=\${COMP_LINE:0:COMP_POINT} words current kept choices choice directive=4
  read -r -a words <<<"$line"
  current=\${words[\${#words[@]}-1]}
  if [[ $line == *[[:space:]] ]]; then current=; words+=(''); fi
  choices=$("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  kept=
  if [[ $current == *[=:]* ]]; then kept=\${current%"\${current##*[=:]}"}; fi
  while IFS= read -r choice; do
    case $choice in
      :[0-9]*) directive=\${choice#:} ;;
      ?*) choice=\${choice%%$'\\t'*}; COMPREPLY+=("\${choice#"$kept"}") ;;
    esac
  done <<<"$choices"
  if (( (directive & 4) == 0 && \${#COMPREPLY[@]} == 0 )); then
    while IFS= read -r choice; do COMPREPLY+=("$choice"); done < <(compgen -f -- "\${current#"$kept"}")
  fi
}
complete -F _netsvc_upgrade ${PROGRAMS.join(' ')}
`;

const zsh = `#compdef ${PROGRAMS.join(' ')}
_netsvc_upgrade() {
  local out choice directive=4 value
  local -a choices found
  out=$("\${words[1]}" __complete "\${(@)words[2,CURRENT-1]}" "\${words[CURRENT]}" 2>/dev/null)
  choices=("\${(@f)out}")
  for choice in "\${choices[@]}"; do
    case $choice in
      :[0-9]*) directive=\${choice#:} ;;
      ?*)
        value=\${\${choice%%$'\\t'*}//:/\\\\:}
        if [[ $choice == *$'\\t'* ]]; then found+=("$value:\${choice#*$'\\t'}"); else found+=("$value"); fi
        ;;
    esac
  done
  if (( \${#found} )); then
    _describe -V 'choices' found
  elif (( (directive & 4) == 0 )); then
    [[ $PREFIX == *=* ]] && compset -P '*='
    _files
  fi
}
compdef _netsvc_upgrade ${PROGRAMS.join(' ')}
`;

const fish = `function __netsvc_upgrade_choices
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l program $words[1]
  set -e words[1]
  set -l choices ($program __complete $words $current 2>/dev/null)
  set -l directive 4
  set -l found
  for choice in $choices
    if string match -qr '^:[0-9]+$' -- $choice
      set directive (string sub -s 2 -- $choice)
    else if test -n "$choice"
      set -a found $choice
    end
  end
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else if test (math "bitand($directive, 4)") -eq 0
    __fish_complete_path (string replace -r '^--[^=]+=' '' -- $current)
  end
end
${PROGRAMS.map((program) => `complete -c ${program} -f -k -a '(__netsvc_upgrade_choices)'`).join('\n')}
`;

/** A script for the shell to read at its start (\`source <(… completion bash)\`). */
export const COMPLETION_SCRIPTS = { bash, zsh, fish };
export type Shell = keyof typeof COMPLETION_SCRIPTS;

/** What `completion` prints. */
export async function completionText(action: string | undefined, dir: string | undefined, env: Environment): Promise<string> {
  if (action === 'install') return `${await installCompletion(dir, env)}\n`;
  return action === 'bash' || action === 'zsh' || action === 'fish' ? COMPLETION_SCRIPTS[action] : HERE.script;
}

const PROGRAM = 'kubectl-netsvc_upgrade';

/** What kubectl starts to complete a plugin, as it has to be on one platform. */
interface Completer {
  /** File names that the plugin itself may have: on Windows that of an archive, and what npm makes. */
  readonly programs: readonly string[];
  /** File name of the completer: on Windows PATHEXT decides what is a program. */
  readonly file: string;
  readonly script: string;
}

/** The completer calls the program itself: going through kubectl again would double the time. */
export function completerFor(platform: string): Completer {
  const program = PROGRAM;
  const file = 'kubectl_complete-netsvc_upgrade';
  if (platform !== 'win32') return { programs: [program], file, script: `#!/bin/sh\nexec ${program} __complete "$@"\n` };
  const programs = [`${program}.exe`, `${program}.cmd`];
  return { programs, file: `${file}.cmd`, script: `@echo off\r\n${program} __complete %*\r\n` };
}

const HERE = completerFor(process.platform);

/** Writes the completer to a folder on PATH; resolves to what was done. Never replaces a file that is not its own. */
export async function installCompletion(dir: string | undefined, env: Environment): Promise<string> {
  const folder = dir ?? (await folderOfProgram(env));
  if (folder === undefined)
    throw new Fault('usage', `${PROGRAM} is not on PATH, so the folder is not known`, ['name a folder on PATH with --dir']);
  const file = join(folder, HERE.file);
  const there = await readFile(file, 'utf8').catch(() => undefined);
  if (there === HERE.script) return `${file} is installed already`;
  if (there !== undefined && !there.includes(PROGRAM))
    throw new Fault('failed', `${file} is another program`, ['move it away, or name another folder with --dir']);
  try {
    await writeFile(file, HERE.script, { mode: 0o755 });
  } catch (thrown) {
    throw new Fault('failed', `cannot write ${file}: ${messageOf(thrown)}`, ['name a folder that you may write to with --dir'], thrown);
  }
  return `installed ${file}; completion needs kubectl 1.26 or later and its own completion switched on`;
}

async function folderOfProgram(env: Environment): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter((one) => one !== '')) {
    const found = await Promise.allSettled(HERE.programs.map((program) => access(join(folder, program), constants.X_OK)));
    if (found.some(({ status }) => status === 'fulfilled')) return folder;
  }
  return undefined;
}
