import type { Kind } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { undiscovered } from './undiscovered.ts';

/** Where a kind is that was named and not found: at the version that the server names now, or nowhere. */
export type NamedNow = (kind: Kind) => Promise<Kind | undefined>;

/**
 * Asks the server for its kinds once more, once for all that it named and does not find: a version may have been dropped meanwhile, or the
 * whole kind; behind a balancer another server may have answered. One that is still named, or still defined, cannot be taken for gone.
 */
export function namedNow(cluster: Pick<ClusterReader, 'discover' | 'get'>): NamedNow {
  let asked: ReturnType<ClusterReader['discover']> | undefined;
  return async (kind) => {
    asked ??= cluster.discover('anew');
    const { kinds, failed } = await asked;
    const named = kinds.find(({ group, plural }) => group === kind.group && plural === kind.plural);
    if (named) return named;
    if (failed.includes(kind.group)) return kind;
    const defined = await undiscovered(cluster, kinds, { names: [`${kind.plural}.${kind.group}`] });
    return defined.kinds.length + defined.unread.length > 0 ? kind : undefined;
  };
}
