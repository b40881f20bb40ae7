import type { FastPathTable, PlainFlag } from '../src/cli/plain-flags.ts';
import { PLAIN_COMMANDS } from '../src/cli/plain-shell.ts';
import type { Manifest } from '../src/cli/shell.ts';
import { classes } from './command-classes.ts';

type Cached = Manifest['commands'][string]['flags'][string];

/** What a definition may say that the plain reader knows, or that is for help only. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['name', 'type', 'char', 'multiple', 'multipleNonGreedy', 'options', 'default'],
  ...['summary', 'helpGroup', 'helpValue', 'hasDynamicHelp'],
]);

/** The flags of the commands that can do without oclif, from their own definitions. Throws for what the plain reader does not know. */
export async function plainCommands({ commands }: Manifest): Promise<FastPathTable['plain']> {
  const each = Object.keys(PLAIN_COMMANDS).map(async (id) => {
    const flags = Object.values(commands[id]?.flags ?? {}).map(async (flag) => [flag.name, await plainFlag(id, flag)] as const);
    return [id, Object.fromEntries(await Promise.all(flags))] as const;
  });
  return Object.fromEntries(await Promise.all(each));
}

async function plainFlag(id: string, flag: Cached): Promise<PlainFlag> {
  const unknown = Object.entries(flag).find(([word, value]) => !KNOWN.has(word) && value !== false);
  if (unknown) throw new Error(`--${flag.name} of ${id} says "${unknown[0]}", which src/cli/plain-flags.ts does not know`);
  const { type, char } = flag;
  const { multiple, options, default: otherwise } = flag.type === 'option' ? flag : {};
  return {
    type,
    ...(char ? { char } : {}),
    ...(multiple ? { multiple } : {}),
    ...(options ? { options } : {}),
    ...(typeof otherwise === 'string' || typeof otherwise === 'number' ? { default: otherwise } : {}),
    ...((await isConverted(id, flag)) ? { converted: true } : {}),
  };
}

/** A value that is no number, no path and no address comes out of the definition's own parser as it went in, or does not. */
async function isConverted(id: string, { name, type }: Cached): Promise<boolean> {
  const probe = 'as-written';
  const parse = classes[id]?.flags[name]?.parse as ((value: string, ...more: unknown[]) => Promise<unknown>) | undefined;
  if (type === 'boolean' || !parse) return false;
  return (await parse(probe, {}, {}).catch(() => undefined)) !== probe;
}
