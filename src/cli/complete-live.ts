import { kubeconfigNames, objectNames } from '../adapters/completion-names.ts';
import type { Environment } from '../adapters/kubeconfig/connection.ts';
import { isVisible } from '../kernel/visible.ts';
import { forPrograms, wordsOf } from './command-line.ts';
import { named, type Question } from './complete.ts';
import type { FastPathTable, FlagEntry } from './plain-flags.ts';
import type { CommonFlags } from './seams.ts';

/** Looks the names up with the flags that are typed already, and their environment twins. Throws whatever goes wrong. */
export async function completeLive(question: Question, table: FastPathTable, env: Environment): Promise<string> {
  const flags = flagsIn(question, table, env);
  const { names } = question;
  const found =
    names === 'nodes' || names === 'namespaces'
      ? await objectNames(names, flags, forPrograms(env), table.version)
      : await kubeconfigNames(names, flags, forPrograms(env));
  // A shell puts what is offered on the command line as it is.
  return named(question, found.filter(isVisible));
}

/** The flags of an unfinished command line: what cannot be understood is passed over. */
export function flagsIn({ command, before }: Question, table: Pick<FastPathTable, 'commands'>, env: Environment): CommonFlags {
  const entries = table.commands[command]?.flags ?? [];
  const shapes = Object.fromEntries(entries.map((flag) => [flag.name, shapeOf(flag)]));
  const found: Record<string, string | string[] | boolean> = {};
  const words = wordsOf(before, shapes, env);
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, name = '', value] = /^(--?[^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = entries.find((one) => name === `--${one.name}` || (one.char !== undefined && name === `-${one.char}`));
    if (!flag) continue;
    if (!flag.takesValue) found[flag.name] = true;
    else {
      const given = value ?? words.shift() ?? '';
      found[flag.name] = flag.repeatable ? [...((found[flag.name] as string[] | undefined) ?? []), given] : given;
    }
  }
  return found;
}

function shapeOf({ takesValue, char, repeatable }: FlagEntry) {
  return { type: takesValue ? ('option' as const) : ('boolean' as const), ...(char ? { char } : {}), multiple: repeatable ?? false };
}
