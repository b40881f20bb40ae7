import type { Delete } from '../kernel/action.ts';
import type { EnginePorts } from '../kernel/engine-ports.ts';
import { messageOf } from '../kernel/fault.ts';
import { refText } from '../kernel/object.ts';
import { MovedOn } from '../kernel/outdated.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { servedKind } from '../kube/served-kind.ts';

/** Deletes the very object that was read; one that is gone, or another by now, has the stage planned anew. */
export async function deleteObject({ cluster }: EnginePorts, { target }: Delete): Promise<string> {
  try {
    await cluster.remove(await servedKind(cluster, target), target);
  } catch (thrown) {
    if (thrown instanceof ApiFailure && [404, 409].includes(thrown.status)) {
      throw new MovedOn(`${refText(target)} changed meanwhile: ${messageOf(thrown)}`);
    }
    throw thrown;
  }
  return refText(target);
}
