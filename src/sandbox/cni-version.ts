import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { Scenario } from './scenario.ts';

/** Installed from a file in which the user wrote a version of the CNI that the release has changed since. */
export function writeCniVersion({ cluster: { store } }: Scenario, version: string): void {
  const before = store.get(K.ConfigMap, 'netsvc-config', 'kube-system');
  if (!before) throw new Error('the sandbox has no ConfigMap netsvc-config');
  const after = JSON.stringify(before).replaceAll(/(cniVersion[\\": ]+)0\.3\.1/g, (_, head: string) => `${head}${version}`);
  store.update(K.ConfigMap, JSON.parse(after) as KubeObject);
}
