import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownReleases } from './releases.ts';
import { NETSVC_TARGET } from './target.ts';

/** The release of the sidecars that are there, and the target's. */
export const [OLD, NEW] = ['v3.26.4', NETSVC_TARGET];

export const templateOf = (release: string) =>
  `templates:\n  - name: policy-sidecar\n    image: registry.netsvc.io/netsvc/policy-sidecar:${release}\n`;

export const fileOf = (release: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: istio-sidecar-injector\n  namespace: istio-system\ndata:\n  config: |\n${templateOf(release).replace(/^(?=.)/gm, '    ')}`;

/** Our own releases with the template of the mesh in each of the two, as an artifact source. */
export async function publishTemplates(folder: string): Promise<void> {
  await cp(ownReleases, folder, { recursive: true });
  for (const release of [OLD, NEW]) {
    await mkdir(join(folder, release, 'manifests', 'alp'), { recursive: true });
    await writeFile(join(folder, release, 'manifests', 'alp', 'istio-inject-configmap-1.15.yaml'), fileOf(release));
  }
}

/** How the played mesh puts the sidecar into new pods. */
export const INJECTION = {
  namespace: 'istio-system',
  configMap: 'istio-sidecar-injector',
  container: 'policy-sidecar',
  label: ['istio-injection', 'enabled'],
} as const;

/** The namespaces, of which `shop` is meshed. */
export const namespaces: readonly object[] = ['istio-system', 'shop', 'plain'].map((name) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: name === 'shop' ? { 'istio-injection': 'enabled' } : {} },
}));

/** The mesh's control plane and its injector with that text. */
export function meshObjects(config: string): readonly object[] {
  const labels = { app: 'istiod' };
  const pilot = { metadata: { labels }, spec: { containers: [{ name: 'discovery', image: 'docker.io/istio/pilot:1.15.3' }] } };
  const metadata = { name: INJECTION.configMap, namespace: INJECTION.namespace };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { config, values: '{}' } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'istiod', namespace: INJECTION.namespace },
      spec: { selector: { matchLabels: labels }, template: pilot },
    },
  ];
}

export function workload(namespace: string, name: string, kind = 'Deployment', more: object = {}) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'shop/app:1' }] } };
  const spec = {
    replicas: 1,
    selector: { matchLabels: labels },
    template,
    ...more,
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
  };
  return { apiVersion: 'apps/v1', kind, metadata: { name, namespace }, spec };
}
