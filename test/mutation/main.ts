/** `npm run mutate [-- ROOM …]`: seeds faults one at a time into a copy of the repository, and runs the fast tests of their room. */
import { globSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { ROOMS } from './rooms.ts';
import { faultsOf, type Room, type SeededFault, seeded } from './seeded-fault.ts';

const WANTED_SHARE = 0.9;
const COPIED = ['src', 'test', 'bin', 'docs', 'package.json', 'tsconfig.json', '.mocharc.cjs'];
/** A fault may well be a loop without end: that is caught, too, but a slow machine catches nothing. */
const LEAST_LIMIT_MS = 120_000;
const TIMES_AS_LONG = 5;
const root = join(import.meta.dirname, '..', '..');

async function copyRepository(): Promise<string> {
  const copy = join(await mkdtemp(join(tmpdir(), 'netsvc-upgrade-mutation-')), 'repository');
  for (const name of COPIED) await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** True if these tests are green. */
async function testsPass(copy: string, tests: readonly string[], limitMs?: number): Promise<boolean> {
  const args = ['--bail', '--reporter', 'dot', ...tests];
  const { exitCode } = await execa('mocha', args, {
    cwd: copy,
    env: { NODE_ENV: 'test' },
    preferLocal: true,
    localDir: root,
    reject: false,
    ...(limitMs === undefined ? {} : { timeout: limitMs }),
    stdio: 'ignore',
  });
  return exitCode === 0;
}

/** Tests of the room that import the file themselves: most faults are caught there, in a fraction of the time that all take. */
async function nearest(copy: string, { tests }: Room, { file }: SeededFault): Promise<readonly string[]> {
  const found = await Promise.all(
    [...new Set(globSync(tests, { cwd: copy }))].map(async (test) => {
      const text = await readFile(join(copy, test), 'utf8');
      return text.includes(`${file}'`) ? [test] : [];
    }),
  );
  return found.flat();
}

async function survives(copy: string, room: Room, fault: SeededFault, limitMs: number): Promise<boolean> {
  const file = join(copy, fault.file);
  const source = await readFile(file, 'utf8');
  await writeFile(file, seeded(source, fault));
  try {
    const near = await nearest(copy, room, fault);
    return (near.length === 0 || (await testsPass(copy, near, limitMs))) && (await testsPass(copy, room.tests, limitMs));
  } finally {
    await writeFile(file, source);
  }
}

async function tryRoom(copy: string, room: Room): Promise<readonly SeededFault[]> {
  const began = Date.now();
  if (!(await testsPass(copy, room.tests))) throw new Error(`the tests of ${room.name} fail without any fault`);
  const limitMs = Math.max(LEAST_LIMIT_MS, TIMES_AS_LONG * (Date.now() - began));
  const [faults, survivors] = [faultsOf(room), [] as SeededFault[]];
  for (const fault of faults) if (await survives(copy, room, fault, limitMs)) survivors.push(fault);
  process.stdout.write(`${room.name}: ${faults.length - survivors.length} of ${faults.length} caught\n`);
  for (const { file, from, to } of survivors) process.stdout.write(`  survives: ${file}\n    - ${shown(from)}\n    + ${shown(to)}\n`);
  return survivors;
}

const shown = (text: string): string => (text === '' ? '(nothing)' : text.trim().replaceAll(/\n\s*/g, ' ⏎ '));

const wanted = process.argv.slice(2);
const rooms = ROOMS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const copy = await copyRepository();
try {
  let [all, survivors] = [0, 0];
  for (const room of rooms) {
    survivors += (await tryRoom(copy, room)).length;
    all += faultsOf(room).length;
  }
  const share = (all - survivors) / all;
  process.stdout.write(`${all - survivors} of ${all} caught: ${(share * 100).toFixed(0)} %\n`);
  process.exitCode = share >= WANTED_SHARE ? 0 : 1;
} finally {
  await rm(dirname(copy), { recursive: true, force: true });
}
