import { mapAt } from '../kernel/json-map.ts';
import { K } from '../kernel/kinds.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { resourceText, type Store } from './store.ts';

/** Pod security admission as far as agents run into it: only the level privileged admits the network of the host. Throws 403. */
export function admit(store: Store, kind: Kind, { metadata, spec }: KubeObject): void {
  if (kind.plural !== K.Pod.plural || mapAt(spec).hostNetwork !== true) return;
  const { labels = {} } = store.get(K.Namespace, metadata.namespace ?? 'default')?.metadata ?? {};
  const level = labels['pod-security.kubernetes.io/enforce'] ?? 'privileged';
  if (level === 'privileged') return;
  const why = `violates PodSecurity "${level}:latest": host namespaces (hostNetwork=true)`;
  throw new ApiFailure(403, 'Forbidden', `${resourceText(kind)} "${metadata.name}" is forbidden: ${why}`);
}
