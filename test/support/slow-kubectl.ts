import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { until } from '../control-plane/until.ts';
import type { InstalledCluster } from './installed-cluster.ts';
import { startUpgrade } from './upgrade-process.ts';

/** A run as a process, and a way to wait for its words. */
export interface StartedRun {
  readonly child: ReturnType<typeof startUpgrade>;
  says(words: RegExp): Promise<void>;
}

export interface SlowKubectl {
  start(): StartedRun;
  /** A run in the middle of an apply, and the process of its kubectl. */
  startHeld(): Promise<StartedRun & { readonly kubectl: number }>;
  /** Lets the apply that is held go on. */
  letGo(): Promise<void>;
  /** `begin PID` and `end PID` of every apply since the last call. */
  takeLog(): Promise<readonly string[]>;
}

/** A kubectl that, when told so, holds an apply until it may go on; it notes when applies begin and end. */
export async function slowKubectl(cluster: InstalledCluster, args: readonly string[]): Promise<SlowKubectl> {
  const folder = join(cluster.around.home, 'slow');
  const file = (name: string) => join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(file('kubectl'), scriptOf(cluster.around.kubectl, file));
  await chmod(file('kubectl'), 0o755);
  function start(): StartedRun {
    const child = startUpgrade(args, { ...cluster.around, env: { PATH: [folder, '/usr/bin', '/bin'].join(delimiter) } });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    return { child, says: (words) => until(`${words}`, async () => words.test(text)) };
  }
  return {
    start,
    async startHeld() {
      for (const name of ['go', 'held']) await rm(file(name), { force: true });
      await writeFile(file('hold'), '');
      const run = start();
      await until('an apply is held', async () => existsSync(file('held')));
      return { ...run, kubectl: Number(await readFile(file('held'), 'utf8')) };
    },
    letGo: () => writeFile(file('go'), ''),
    async takeLog() {
      const log = await readFile(file('log'), 'utf8');
      await rm(file('log'));
      return log.trim().split('\n');
    },
  };
}

function scriptOf(real: string, file: (name: string) => string): string {
  return `#!/bin/sh
case " $* " in *" apply "*) ;; *) exec '${real}' "$@" ;; esac
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
