import type { Question } from './complete.ts';
import { answerFast, displayedName } from './fast-path.ts';
import type { FastPathTable } from './plain-flags.ts';

/** Not imported: that runs every getter and loads all of Node's streams, a fifth of what `--help` takes. */
const { readFileSync, writeSync } = process.getBuiltinModule('node:fs');

/** Milliseconds until a program that has printed everything and still holds a handle is ended. */
const LINGER_MS = 3000;
/** Nobody waits for one that was interrupted. */
const INTERRUPTED = { exit: 130, lingerMs: 100 };

/** The entry. It loads nothing but itself until a command has to run; no top-level await (`--help | head -1` ends quietly). */
function main(): void {
  const argv = process.argv.slice(2);
  const name = displayedName(process.env.NETSVC_ARGV0 ?? process.argv[1]);
  const table = readTable();
  const fast = table && answerFast(argv, name, table, process.env);
  if (table && fast?.ask) {
    completeLive(fast.ask, fast.stdout, table);
    return;
  }
  if (fast) {
    process.exitCode = fast.exit;
    print('stdout', fast.stdout);
    print('stderr', fast.stderr);
    return;
  }
  keepCompiled(process.env);
  run(argv, name, table).then(end, async (defect: unknown) => {
    const { forTerminal } = await import('../kernel/visible.ts');
    print('stderr', forTerminal(`error: ${defect instanceof Error ? (defect.stack ?? defect.message) : String(defect)}\n`));
    end(1);
  });
}

/** Without oclif where that can be, which is half the time of a command that asks for one thing. */
async function run(argv: readonly string[], name: string, table: FastPathTable | undefined): Promise<number> {
  if (table && Object.hasOwn(table.plain, argv[0] ?? '')) {
    const { runPlainShell } = await import('./plain-shell.ts');
    const exit = await runPlainShell(argv, name, table);
    if (exit !== undefined) return exit;
  }
  const { runShell } = await import('./shell.ts');
  return runShell(argv, name);
}

/** Completion never fails and never waits: names that cannot be read in time are not offered. */
function completeLive(question: Question, otherwise: string, table: FastPathTable): void {
  keepCompiled(process.env);
  import('./complete-live.ts')
    .then((live) => live.completeLive(question, table, process.env))
    .catch(() => otherwise)
    .then((text) => {
      print('stdout', text);
      process.exit();
    });
}

/** Straight to the descriptor: Node's own streams take longer to set up than all the rest. A full pipe needs them. */
function print(name: 'stdout' | 'stderr', text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(name === 'stdout' ? 1 : 2, bytes, written);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EPIPE') return;
    if (code !== 'EAGAIN') {
      process.exitCode = 1;
      return;
    }
    // A reader that goes away now has what it wanted.
    process[name].on('error', () => undefined).write(bytes.subarray(written));
  }
}

function end(exit: number): void {
  process.exitCode = exit;
  setTimeout(() => process.exit(), exit === INTERRUPTED.exit ? INTERRUPTED.lingerMs : LINGER_MS).unref();
}

function readTable(): FastPathTable | undefined {
  const table = readMade<Omit<FastPathTable, 'commands' | 'help'>>('fast-path.json');
  return (
    table && {
      ...table,
      get commands() {
        return readMade<FastPathTable['commands']>('completion.json') ?? {};
      },
      help: (page) => readMade(`help/${page || 'root'}.json`),
    }
  );
}

/** What the build made for this file; undefined in the sources. */
function readMade<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/** Lets Node keep what it compiled, in a folder that only the user can write, as code is run from there; without one it is slower. */
function keepCompiled(env: Readonly<Record<string, string | undefined>>): void {
  const base = env.XDG_CACHE_HOME || (env.HOME && `${env.HOME}/.cache`);
  // Below /proc no folder can be made, and Node tries for ever.
  if (!base || /^\/+proc\//.test(base)) return;
  try {
    // Imported, the modules would cost the answers that need no cache as well.
    const { mkdirSync, statSync } = process.getBuiltinModule('node:fs');
    const folder = `${base}/netsvc-upgrade/v8`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isOwn) process.getBuiltinModule('node:module').enableCompileCache(folder);
  } catch {
    // A read-only or full disk is no reason not to work.
  }
}

main();
