import type { Reading } from '../../kernel/check.ts';
import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { isAnswer } from '../../kernel/interruption.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { text } from '../../kernel/step.ts';

/** The account may not read it: the check of permissions says what to grant. */
export const FORBIDDEN = {
  needs: 'NS-009',
  hint: text`Grant it: ${command`kubectl netsvc-upgrade permissions --for run`} prints the roles, and how to bind them.`,
};

/** What `--read-only` does not ask for. It is an answer, and none that a check may fail by. */
export class LeftOut extends Fault {
  constructor(what: string) {
    super('blocked', what, []);
  }
}

/** A refusal of the API becomes the reason of the reading; anything else is thrown. */
export async function attemptApi<T>(reading: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await reading() };
  } catch (thrown) {
    if (thrown instanceof LeftOut) return { unread: thrown.message, leftOut: true };
    if (!(thrown instanceof ApiFailure)) throw thrown;
    const { message, status } = thrown;
    const isAway = status >= 502 && status <= 504;
    return {
      unread: `${message} (${status === 0 ? 'no answer' : status})`,
      ...(status === 403 ? FORBIDDEN : {}),
      ...(isAway ? { isAway } : {}),
    };
  }
}

/** A refusal of the API or of a port becomes the reason of the reading; anything else is a defect and is thrown. */
export async function attempt<T>(reading: () => Promise<T>): Promise<Reading<T>> {
  try {
    return await attemptApi(reading);
  } catch (thrown) {
    // State that somebody changed ends the command: it must not look like an unreadable check that can be accepted.
    if (isAnswer(thrown) && thrown.code !== 'stale')
      return { unread: thrown.message, ...(thrown.suggestions.length > 0 ? { hint: thrown.steps.map(({ whole }) => whole) } : {}) };
    throw thrown;
  }
}

/** Reads on from a reading; its reason is passed on. */
export async function attemptWith<A, B>(first: Reading<A>, next: (value: A) => Promise<B>): Promise<Reading<B>> {
  return 'unread' in first ? first : attempt(() => next(first.value));
}

/** The object of the cluster behind a document; undefined where there is none, or the server has no such kind. */
export async function liveOf(
  cluster: Pick<ClusterReader, 'resolve' | 'get'>,
  { apiVersion, kind, metadata: { name, namespace } }: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
  otherwise = 'default',
): Promise<KubeObject | undefined> {
  const served = await cluster.resolve(apiVersion, kind);
  return served && cluster.get(served, name, served.namespaced ? (namespace ?? otherwise) : undefined);
}

/** The objects of a kind; none where the server has no such kind. */
export async function listServed(cluster: Pick<ClusterReader, 'resolve' | 'list'>, apiVersion: string, kind: string) {
  const served = await cluster.resolve(apiVersion, kind);
  return served ? cluster.list(served) : [];
}

/** The resources of a kind; its sub-resources are left out. */
export function resourcesOf(kinds: readonly Kind[], group: string, kind: string): readonly Kind[] {
  return kinds.filter((one) => one.group === group && one.kind === kind && !one.plural.includes('/'));
}
