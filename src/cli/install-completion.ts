import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Fault, messageOf } from '../kernel/fault.ts';
import type { Environment } from './seams.ts';

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
export const COMPLETION_SCRIPT = HERE.script;

/** Writes the completer to a folder on PATH; resolves to what was done. Never replaces a file that is not its own. */
export async function installCompletion(dir: string | undefined, env: Environment): Promise<string> {
  const folder = dir ?? (await folderOfProgram(env));
  if (folder === undefined)
    throw new Fault('usage', `${PROGRAM} is not on PATH, so the folder is not known`, ['name a folder on PATH with --dir']);
  const file = join(folder, HERE.file);
  const there = await readFile(file, 'utf8').catch(() => undefined);
  if (there === COMPLETION_SCRIPT) return `${file} is installed already`;
  if (there !== undefined && !there.includes(PROGRAM))
    throw new Fault('failed', `${file} is another program`, ['move it away, or name another folder with --dir']);
  try {
    await writeFile(file, COMPLETION_SCRIPT, { mode: 0o755 });
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
