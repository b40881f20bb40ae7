import type { Effect } from '../core/action.ts';
import { Fault } from '../core/fault.ts';
import type { EnginePorts } from './engine-ports.ts';
import type { Performed } from './execute.ts';

/** Programs are larger than manifests: the released ones have up to a hundred MB. */
const LIMIT_BYTES = 300 * 1024 * 1024;

/**
 * Fetches the new CLI, checks it against the sum that its source publishes, and puts it in its place in one step.
 * Throws Fault('failed') at another sum: that is never worked around.
 */
export async function installCli(ports: EnginePorts, effect: Extract<Effect, { type: 'install-cli' }>): Promise<Performed> {
  const { release, path, to, keepAs } = effect;
  const { bytes, sha256, url, file } = await ports.artifacts.fetch(release, path, LIMIT_BYTES);
  if (effect.sha256 !== undefined && effect.sha256 !== sha256) {
    throw new Fault('failed', `${url} has sha256 ${sha256}, its source publishes ${effect.sha256}: nothing was installed`, [
      'do not use it; fetch it again, or from another source with --manifest-url',
    ]);
  }
  const from = await ports.work.write(`${file}-${release}`, bytes);
  await ports.machine.installExecutable(from, sha256, to, keepAs);
  const checked = effect.sha256 === undefined ? 'not checked, for its source publishes none' : 'as published';
  const detail = `${to}, sha256 ${sha256} (${checked})${keepAs ? `; the old one kept as ${keepAs}` : ''}`;
  return { detail, digests: { [`${file}-${release}`]: sha256 } };
}
