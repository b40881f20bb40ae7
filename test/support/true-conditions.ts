import { isOlder } from '../../src/kernel/release.ts';

/** Conditions that hold of manifests as they were published. */
const TRUE: Readonly<Record<string, (file: string, release: string) => boolean>> = {
  // It has BGP as well then: it is taken for calico.yaml with edits.
  'NS-201': (file, release) => file === 'calico-vxlan.yaml' && isOlder(release, 'v3.16.0'),
  // It sets FELIX_WIREGUARDMTU twice.
  'NS-408': (_file, release) => release === 'v3.15.0',
  // As published the file has placeholders for the store, which nobody can then ask.
  'NS-209': (file) => file.includes('etcd'),
  'NS-115': (file) => file.includes('etcd'),
  'NS-706': (file) => file.includes('etcd'),
  'NS-507': (file) => file === 'calico-bpf.yaml',
  // A default of that mode moved with v3.27.0, and the default target has a defect of it.
  'NS-508': (file, release) => file === 'calico-bpf.yaml' && isOlder(release, 'v3.27.0'),
  'NS-609': (file) => file === 'calico-bpf.yaml',
  // The registry moved with this release.
  'NS-606': (_file, release) => isOlder(release, 'v3.31.0'),
  // Until then the manifest had a number.
  'NS-607': (_file, release) => isOlder(release, 'v3.17.0'),
};

/** Whether a finding is no false alarm on that manifest. */
export function isTrue(id: string, file: string, release: string): boolean {
  return TRUE[id]?.(file, release) === true;
}

const from = (release: string, first: string, next: string) => !isOlder(release, first) && isOlder(release, next);

/** Conditions that hold wherever an operator of that release installed it and nobody has changed anything. */
const OPERATED: Readonly<Record<string, (release: string) => boolean>> = {
  // The registry moved with this release of the operator.
  'NS-606': (release) => isOlder(release, 'v3.30.4'),
  // The API server has a namespace of its own.
  'NS-621': (release) => from(release, 'v3.20.0', 'v3.31.0'),
  // There is no APIServer yet, which a status of the target needs.
  'NS-627': (release) => isOlder(release, 'v3.20.0'),
  // The operator signed with an authority that no later one knows.
  'NS-630': (release) => from(release, 'v3.20.0', 'v3.23.0'),
};

const CHARTED: typeof OPERATED = {
  ...OPERATED,
  // The driver is there, and the chart of the target leaves it out unless it is asked for.
  'NS-240': (release) => from(release, 'v3.24.0', 'v3.32.0'),
  // The release lived in namespace `default`.
  'NS-244': (release) => isOlder(release, 'v3.23.0'),
  // Holds the others of the chart: v3.23 has none.
  'NS-608': (release) => isOlder(release, 'v3.32.0') && !from(release, 'v3.23.0', 'v3.24.0'),
};

/** All that is to be found where an operator of that release was installed as it was published. */
export function trueWhereOperated(by: 'manifest' | 'chart', release: string): readonly string[] {
  return Object.entries(by === 'chart' ? CHARTED : OPERATED).flatMap(([id, holds]) => (holds(release) ? [id] : []));
}
