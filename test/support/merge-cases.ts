import type { KubeObject } from '../../src/kernel/object.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import type { MergeResult } from '../../src/manifest/merge-input.ts';
import { calico } from '../../src/profiles/calico.ts';

/** What the service's manifests are known for. */
export const knowledge = calico.merge;

export function agents(pod: object): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'node', namespace: 'kube-system' },
    spec: { template: { spec: { containers: [], ...pod } } },
  };
}

/** Agents with one container. */
export const container = (fields: object, more: object = {}): KubeObject => agents({ containers: [{ name: 'c', ...fields }], ...more });

/** Agents with one container and its variables: a text is a value, anything else the content of the entry. */
export function env(variables: Readonly<Record<string, unknown>>, ...more: readonly object[]): KubeObject {
  const entries = Object.entries(variables).map(([name, content]) =>
    typeof content === 'object' && content !== null ? { name, ...content } : { name, value: content },
  );
  return container({ env: [...entries, ...more] });
}

export const image = (text: string): KubeObject => container({ image: text });

export function config(data: object): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config', namespace: 'kube-system' }, data };
}

export const json = (text: string): KubeObject => config({ json: text });

export function merged(base: KubeObject | undefined, mine: KubeObject | undefined, theirs: KubeObject | undefined): MergeResult {
  const list = (object: KubeObject | undefined) => (object ? [object] : []);
  return mergeManifest({ base: list(base), mine: list(mine), theirs: list(theirs), knowledge });
}

/** `kept env[A].value`: each edit, told briefly. */
export function briefly({ edits }: MergeResult): readonly string[] {
  return edits.map(({ outcome, path }) => `${outcome} ${path.replace(/^spec\.template\.spec\.(containers\[c\]\.?)?|^data\./, '')}`.trim());
}
