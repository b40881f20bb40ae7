import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releases } from './releases.ts';

/** The CSI driver as releases install it beside the full manifest: their `csi-driver.yaml` is not packed. */
export function csiDriverManifest(release: string): string {
  const image = (name: string) => `quay.io/calico/${name}:${release}`;
  const object = (text: object) => JSON.stringify(text);
  return [
    object({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: 'csi.tigera.io' },
      spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] },
    }),
    object({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'csi-node-driver', namespace: 'kube-system' },
      spec: {
        selector: { matchLabels: { name: 'csi-node-driver' } },
        template: {
          metadata: { labels: { name: 'csi-node-driver' } },
          spec: {
            tolerations: [{ operator: 'Exists' }],
            containers: [
              { name: 'calico-csi', image: image('csi') },
              { name: 'csi-node-driver-registrar', image: image('node-driver-registrar') },
            ],
          },
        },
      },
    }),
    '',
  ].join('\n---\n');
}

/** A folder of these releases with a `csi-driver.yaml` each. */
export async function releasesWithCsiDriver(...wanted: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'releases-'));
  for (const release of wanted) {
    const manifests = join(folder, release, 'manifests');
    await mkdir(manifests, { recursive: true });
    await cp(join(releases, release, 'manifests'), manifests, { recursive: true });
    await writeFile(join(manifests, 'csi-driver.yaml'), csiDriverManifest(release));
  }
  return folder;
}
