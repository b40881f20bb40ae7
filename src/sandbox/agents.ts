import { K } from '../kernel/kinds.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import { podShape } from '../kube/pod-facts.ts';
import { servedKinds } from './kinds.ts';
import type { Store } from './store.ts';

/** Container of the agents whose image tag is the release. */
const AGENT = 'netsvc-node';
const PLURAL = 'clusterinformations';
const VERSION_FIELD = 'netsvcVersion';

/**
 * Every agent that starts writes its release into ClusterInformation/default: so the cluster's version changes with the first
 * new agent (domain §0.7). Without the CRD nothing happens.
 */
export function startAgents(store: Store): void {
  store.listen(({ kind, before, after }) => {
    if (kind.plural !== K.Pod.plural || !after || !runs(after) || (before && runs(before))) return;
    const information = servedKinds(store).find(({ plural }) => plural === PLURAL);
    const release = releaseOf(after);
    if (information && release) writeRelease(store, information, release);
  });
}

function runs(pod: KubeObject): boolean {
  const { containerStatuses = [] } = podShape(pod).status ?? {};
  return containerStatuses.find(({ name }) => name === AGENT)?.state?.running !== undefined;
}

function releaseOf(pod: KubeObject): string | undefined {
  const image = podShape(pod).spec?.containers?.find(({ name }) => name === AGENT)?.image ?? '';
  return /:([^/@:]+)(?:@.*)?$/.exec(image)?.[1];
}

function writeRelease(store: Store, kind: Kind, release: string): void {
  const live = store.get(kind, 'default');
  const apiVersion = `${kind.group}/${kind.version}`;
  if (live) store.update(kind, { ...live, spec: { ...(live.spec as object), [VERSION_FIELD]: release } });
  else
    store.insert(kind, {
      apiVersion,
      kind: kind.kind,
      metadata: { name: 'default' },
      spec: { [VERSION_FIELD]: release, datastoreReady: true },
    });
}
