import type { Effect } from '../core/action.ts';
import { messageOf } from '../core/fault.ts';
import { type Kind, type ObjectRef, refText } from '../core/object.ts';
import { ApiFailure } from '../core/ports.ts';
import type { EnginePorts } from './engine-ports.ts';
import { Outdated } from './outdated.ts';
import type { Report } from './report.ts';
import { servedKind } from './served-kind.ts';

/** Patches in flight at a time: the API server queues more, it does not answer faster. */
const WIDTH = 32;
/** Answers that say: this object is no longer as it was read. */
const MOVED_ON = new Set([404, 409, 422]);

/**
 * Performs guarded patches side by side; resolves to how many. One that no longer fits does not stop the others, but the stage is
 * planned anew (`Outdated`); any other refusal stops, once what is in flight has ended.
 * `mustHold` throws when nothing may be written any more (lost lock).
 */
export async function patchAll(
  { cluster }: Pick<EnginePorts, 'cluster'>,
  { patches, what }: Extract<Effect, { type: 'patch-all' }>,
  mustHold: () => void,
  report: Report,
): Promise<string> {
  const kindOf = kindsOf(cluster);
  const movedOn: string[] = [];
  let done = 0;
  let failure: unknown;
  const queue = patches[Symbol.iterator]();
  const worker = async () => {
    for (const { target, patch, uid } of queue) {
      if (failure !== undefined) return;
      try {
        const kind = await kindOf(target);
        mustHold();
        await cluster.patch(kind, target, [{ op: 'test', path: '/metadata/uid', value: uid }, ...patch], 'kubectl');
        done += 1;
        report(done, patches.length, what);
      } catch (thrown) {
        if (thrown instanceof ApiFailure && MOVED_ON.has(thrown.status)) movedOn.push(`${refText(target)}: ${messageOf(thrown)}`);
        else failure ??= thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(WIDTH, patches.length) }, worker));
  if (failure !== undefined) throw failure;
  const [first] = movedOn;
  if (first) throw new Outdated(`${movedOn.length} of ${patches.length} objects changed meanwhile: ${first}`);
  return `${done} objects`;
}

/** Each kind is looked up once. */
function kindsOf(cluster: EnginePorts['cluster']): (ref: ObjectRef) => Promise<Kind> {
  const kinds = new Map<string, Promise<Kind>>();
  return (ref) => {
    const key = `${ref.apiVersion}|${ref.kind}`;
    const kind = kinds.get(key) ?? servedKind(cluster, ref);
    kinds.set(key, kind);
    return kind;
  };
}
