import type { Effect } from '../../kernel/action.ts';
import type { EnginePorts } from '../../kernel/engine-ports.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import { refText } from '../../kernel/object.ts';

/** The configuration of the service's CLI, where there is none; 0600. */
export interface WriteCliConfig {
  readonly type: 'write-cli-config';
  readonly to: string;
  readonly content: string;
  /** Files beside it from a Secret: path → key of its data. Their values are read when they are written, and never shown. */
  readonly certificates?: { readonly secret: ObjectRef; readonly files: Readonly<Record<string, string>> };
}

/**
 * The certificates first, the configuration that names them last: cut off between them, nothing uses what is half there, and the next
 * run goes on. What stands there with other content is left and said.
 */
export async function writeCliConfig(ports: EnginePorts, effect: Extract<Effect, { type: 'write-cli-config' }>): Promise<string> {
  const { to, content, certificates } = effect;
  if (certificates) {
    const { secret, files } = certificates;
    const data = ((await ports.cluster.get(K.Secret, secret.name, secret.namespace))?.data ?? {}) as Readonly<Record<string, string>>;
    const empty = Object.values(files).filter((key) => (data[key] ?? '') === '');
    if (empty.length > 0)
      throw new Fault('failed', `${refText(secret)} has no value for ${empty.join(', ')}: nothing was written`, [
        'see that the agents reach their store, then run the same command again',
      ]);
    for (const [file, key] of Object.entries(files)) await ports.machine.writeNew(file, atob(data[key] ?? ''));
  }
  await ports.machine.writeNew(to, content);
  return to;
}
