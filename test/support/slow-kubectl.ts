import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { until } from '../control-plane/until.ts';
import type { InstalledCluster } from './installed-cluster.ts';
import { type Surroundings, startUpgrade } from './upgrade-process.ts';

export type SlowTool = Awaited<ReturnType<typeof slowTool>>;

/** A program, and the word of its commands that may be held. */
interface HeldTool {
  readonly name: string;
  readonly real: string;
  readonly verb: string;
}

/** A kubectl that, when told so, holds an apply until it may go on; it notes when applies begin and end. */
export function slowKubectl({ around }: Pick<InstalledCluster, 'around'>, args: readonly string[]) {
  return slowTool(around, args, { name: 'kubectl', real: around.kubectl, verb: 'apply' });
}

/** The same for any program; its dry runs are never held. */
export async function slowTool(around: Surroundings, args: readonly string[], tool: HeldTool) {
  const folder = join(around.home, `slow-${tool.name}`);
  const file = (name: string) => join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(file(tool.name), scriptOf(tool, file));
  await chmod(file(tool.name), 0o755);
  /** A run as a process, and a way to wait for its words. */
  function start() {
    const path = [folder, around.env?.PATH, '/usr/bin', '/bin'].filter((part) => part !== undefined).join(delimiter);
    const child = startUpgrade(args, { ...around, env: { ...around.env, PATH: path } });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    return { child, says: (words: RegExp) => until(`${words}`, async () => words.test(text)) };
  }
  return {
    start,
    /** A run in the middle of such a command, and the process of it. */
    async startHeld() {
      for (const name of ['go', 'held']) await rm(file(name), { force: true });
      await writeFile(file('hold'), '');
      const run = start();
      await until(`a command of ${tool.name} is held`, async () => existsSync(file('held')), 180_000);
      return { ...run, pid: Number(await readFile(file('held'), 'utf8')) };
    },
    /** Lets the command that is held go on. */
    letGo: () => writeFile(file('go'), ''),
    /** `begin PID` and `end PID` of every such command since the last call. */
    async takeLog() {
      const log = await readFile(file('log'), 'utf8');
      await rm(file('log'));
      return log.trim().split('\n');
    },
  };
}

/** Fails where one began before another had ended. */
export function assertOneByOne(log: readonly string[]): void {
  for (let index = 0; index < log.length; index += 2)
    assert.equal(log[index]?.replace('begin', 'end'), log[index + 1], `two at the same time:\n${log.join('\n')}`);
}

function scriptOf({ real, verb }: HeldTool, file: (name: string) => string): string {
  return `#!/bin/sh
case " $* " in *" --dry-run"*) exec '${real}' "$@" ;; *" ${verb} "*) ;; *) exec '${real}' "$@" ;; esac
echo "begin $$" >> '${file('log')}'
if rm '${file('hold')}' 2>/dev/null; then
  echo $$ > '${file('held.part')}' && mv '${file('held.part')}' '${file('held')}'
  while [ ! -e '${file('go')}' ]; do sleep 0.1; done
fi
'${real}' "$@"
code=$?
echo "end $$" >> '${file('log')}'
exit $code
`;
}
