import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Fault, messageOf } from '../core/fault.ts';
import type { Environment } from './seams.ts';

/** What kubectl starts to complete a plugin, as it has to be on one platform. */
interface Completer {
  /** File name of the plugin itself. */
  readonly program: string;
  /** File name of the completer: on Windows PATHEXT decides what is a program. */
  readonly file: string;
  readonly script: string;
}

/** The completer calls the program itself: going through kubectl again would double the time. */
export function completerFor(platform: string): Completer {
  const program = 'kubectl-netsvc_upgrade';
  const file = 'kubectl_complete-netsvc_upgrade';
  if (platform !== 'win32') return { program, file, script: `#!/bin/sh\nexec ${program} __complete "$@"\n` };
  return { program: `${program}.exe`, file: `${file}.cmd`, script: `@echo off\r\n${program}.exe __complete %*\r\n` };
}

const HERE = completerFor(process.platform);
export const COMPLETION_SCRIPT = HERE.script;

/** Writes the completer to a folder on PATH; resolves to what was done. Never replaces a file that is not its own. */
export async function installCompletion(dir: string | undefined, env: Environment): Promise<string> {
  const folder = dir ?? (await folderOfProgram(env));
  if (folder === undefined)
    throw new Fault('usage', `${HERE.program} is not on PATH, so the folder is not known`, ['name a folder on PATH with --dir']);
  const file = join(folder, HERE.file);
  const there = await readFile(file, 'utf8').catch(() => undefined);
  if (there === COMPLETION_SCRIPT) return `${file} is installed already`;
  if (there !== undefined && !there.includes(HERE.program))
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
    const found = await access(join(folder, HERE.program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return folder;
  }
  return undefined;
}
