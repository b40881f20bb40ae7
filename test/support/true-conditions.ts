import { isOlder } from '../../src/kernel/release.ts';

/** Conditions that hold of manifests as they were published. */
const TRUE: Readonly<Record<string, (file: string, release: string) => boolean>> = {
  // It has BGP as well then: it is taken for calico.yaml with edits.
  'NS-201': (file, release) => file === 'calico-vxlan.yaml' && isOlder(release, 'v3.16.0'),
  // It sets FELIX_WIREGUARDMTU twice.
  'NS-408': (_file, release) => release === 'v3.15.0',
  // As published the file has placeholders for the store, which nobody can then ask.
  'NS-209': (file) => file.includes('etcd'),
  'NS-706': (file) => file.includes('etcd'),
  'NS-507': (file) => file === 'calico-bpf.yaml',
  // The registry moved with this release.
  'NS-606': (_file, release) => isOlder(release, 'v3.31.0'),
  // Until then the manifest had a number.
  'NS-607': (_file, release) => isOlder(release, 'v3.17.0'),
};

/** Whether a finding is no false alarm on that manifest. */
export function isTrue(id: string, file: string, release: string): boolean {
  return TRUE[id]?.(file, release) === true;
}
