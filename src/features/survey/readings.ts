import type { Reading } from '../../kernel/check.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { PodFacts } from '../../kube/pod-facts.ts';
import type { CrdFact, Inventory } from './inventory-sign.ts';

/** The part of the inventory without which nothing can be said. */
export interface Readings {
  readonly daemonSets: readonly KubeObject[];
  readonly deployments: readonly KubeObject[];
  readonly pods: readonly PodFacts[];
  readonly configMaps: readonly KubeObject[];
  readonly crds: readonly CrdFact[];
  readonly installations: readonly KubeObject[];
}

/** All of it, or the reasons why parts are missing: an installation is never told from half of the facts. */
export function readingsOf(inventory: Inventory): Readings | { readonly unread: readonly string[] } {
  const { daemonSets, deployments, pods, configMaps, crds, installations } = inventory;
  const unread = Object.entries({ daemonSets, deployments, pods, configMaps, crds, installations }).flatMap(([name, reading]) =>
    'unread' in reading ? `${name}: ${reading.unread}` : [],
  );
  if (unread.length > 0) return { unread };
  return {
    daemonSets: valueOr(daemonSets, []),
    deployments: valueOr(deployments, []),
    pods: valueOr(pods, []),
    configMaps: valueOr(configMaps, []),
    crds: valueOr(crds, []),
    installations: valueOr(installations, []),
  };
}

/** The value of a reading, or what stands for it where it is only a second opinion. */
export function valueOr<T>(reading: Reading<T>, otherwise: T): T {
  return 'unread' in reading ? otherwise : reading.value;
}
