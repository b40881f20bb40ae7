import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goPlatform } from '../test/control-plane/build-plan.ts';
import { type Runtime, type RuntimeLock, runtimeFile } from './pack-runtimes.ts';

/** Starts the code beside the executable: `process.execPath` is krew's link, and `require` there finds only Node's modules. */
const STARTER = `'use strict';
const { createRequire } = require('node:module');
const { realpathSync } = require('node:fs');
const { dirname, join } = require('node:path');
const self = realpathSync.native(process.execPath);
createRequire(self)(join(dirname(self), '..', 'dist', 'cli', 'main.js'));
`;

/** A single executable, as krew on Windows links only an .exe, made by a local Node of that version. Throws if the lock has none. */
export function singleExecutable(runtime: Runtime, lock: Pick<RuntimeLock, 'builders'>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'netsvc-pack-'));
  try {
    // Relative names: the folder of this machine must not get into the result.
    const config = { main: 'starter.cjs', output: 'program.exe', executable: 'runtime.exe', useCodeCache: false, useSnapshot: false };
    writeFileSync(join(folder, 'starter.cjs'), STARTER);
    writeFileSync(join(folder, 'runtime.exe'), runtimeFile(runtime, runtime.file));
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, disableExperimentalSEAWarning: true }));
    const builder = join(folder, 'builder');
    writeFileSync(builder, builderBytes(runtime, lock), { mode: 0o755 });
    execFileSync(builder, ['--build-sea', 'config.json'], { cwd: folder, env: {}, stdio: ['ignore', 'ignore', 'inherit'] });
    return readFileSync(join(folder, 'program.exe'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function builderBytes({ version }: Runtime, { builders }: Pick<RuntimeLock, 'builders'>): Buffer {
  const here = goPlatform(process.platform, process.arch);
  const builder = builders.find((one) => one.version === version && `${one.os}/${one.arch}` === here);
  if (!builder)
    throw new Error(`no Node.js ${version} for ${here} in build/runtimes.lock.json: Windows programs are packed on linux/amd64`);
  return runtimeFile(builder, builder.file);
}
