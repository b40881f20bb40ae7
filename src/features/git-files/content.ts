import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { groupOf, isCustom, type KubeObject, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { LAST_APPLIED } from '../../kube/managed-fields.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { manifestText } from '../../manifest/manifest.ts';
import { pathOf } from '../install/index.ts';
import { readRenamedPolicies } from '../policies/index.ts';

/** A file of one object; its path in the folder has slashes everywhere. */
export interface GitFile {
  readonly path: string;
  readonly text: string;
}

/** What Git should hold once the upgrade has ended. */
export interface GitContent {
  readonly files: readonly GitFile[];
  /** Secrets of the target: no value of one is ever written. */
  readonly leftOut: readonly string[];
  /** What else has to be changed in Git, each a sentence. */
  readonly notes: readonly string[];
}

/** The objects as the upgrade applies them, with what is kept of the user's edits, and the policies that it renames. */
export async function readGitContent(sources: Sources, context: Context, installation: Installation): Promise<GitContent> {
  const [{ objects, removed, notes }, renamed] = await Promise.all([
    pathOf(installation).inGit(sources, context, installation),
    readRenamedPolicies(sources, context, installation),
  ]);
  const files = new Map<string, string>();
  // kubectl applies an object that is there twice in this order, too.
  for (const object of [...objects, ...renamed.map(ofTenant)].filter((one) => !isSecret(one)))
    files.set(fileName(object), manifestText([asInGit(object)]));
  return {
    files: [...files].map(([path, text]) => ({ path, text })).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    leftOut: [...objects.filter(isSecret), ...removed].map(({ kind, metadata }) => refText({ kind, ...metadata })),
    notes,
  };
}

function isSecret({ apiVersion, kind }: KubeObject): boolean {
  return groupOf(apiVersion) === '' && kind === 'Secret';
}

/** What tools write on an object themselves: in Git it would belong to another tool, or be outdated. */
const OF_TOOLS: readonly string[] = [
  LAST_APPLIED,
  'deployment.kubernetes.io/revision',
  'deprecated.daemonset.template.generation',
  'argocd.argoproj.io/instance',
  'argocd.argoproj.io/tracking-id',
  ...['name', 'namespace', 'checksum'].map((key) => `kustomize.toolkit.fluxcd.io/${key}`),
  ...['name', 'namespace'].map((key) => `helm.toolkit.fluxcd.io/${key}`),
];

/** Of the metadata only what the user writes. */
const METADATA: readonly string[] = ['name', 'namespace', 'labels', 'annotations'];

/** An object as the user commits it: nothing that the cluster or a tool adds to it. */
export function asInGit({ status: _, metadata, ...object }: KubeObject & { readonly status?: unknown }): KubeObject {
  const own = Object.entries(metadata).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (!METADATA.includes(key) || value === undefined || value === null) return [];
    if (key !== 'labels' && key !== 'annotations') return [[key, value]];
    const kept = Object.entries(value as Readonly<Record<string, string>>).filter(([name]) => !OF_TOOLS.includes(name));
    return kept.length === 0 ? [] : [[key, Object.fromEntries(kept)]];
  });
  const { apiVersion, kind, ...rest } = object;
  return { apiVersion, kind, metadata: Object.fromEntries(own) as unknown as KubeObject['metadata'], ...rest };
}

/** Delivery tools read some of their marks from labels, too. */
const OF_DELIVERY = /(?:^|\.)(?:fluxcd|argoproj)\.io\//;

/**
 * What a tenant wrote: its annotations would steer the tool that applies it with more rights (hooks, functions, sync options), and so would
 * labels of that tool. Flux would fill in `${…}` with values of the cluster.
 */
export function ofTenant({ metadata: { annotations: _, labels = {}, ...metadata }, ...object }: KubeObject): KubeObject {
  const own = Object.fromEntries(Object.entries(labels).filter(([name]) => !OF_DELIVERY.test(name)));
  const hasVariable = JSON.stringify({ ...object, metadata, own }).includes('${');
  const annotations = hasVariable ? { annotations: { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' } } : {};
  return { ...object, metadata: { ...metadata, labels: own, ...annotations } };
}

/** Of objects without a namespace; no namespace has such a name. */
const CLUSTER = '_cluster';

/** Names that every file system takes unchanged and that lead to no other folder. */
const PLAIN = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const LONGEST = 180;

/**
 * Where an object stands in the folder: `kube-system/daemonset-calico-node.yaml`; kinds outside Kubernetes carry their group, as two groups
 * have a NetworkPolicy. Names are text of others: special characters are replaced and the name's sum is added.
 */
export function fileName({ apiVersion, kind, metadata }: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): string {
  const folder = metadata.namespace ? plain(metadata.namespace) : CLUSTER;
  const type = kind.toLowerCase();
  return `${folder}/${plain(isCustom(apiVersion) ? `${type}.${groupOf(apiVersion)}` : type)}-${plain(metadata.name)}.yaml`;
}

function plain(name: string): string {
  if (PLAIN.test(name) && name.length <= LONGEST) return name;
  const kept = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '_')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, LONGEST);
  return `${kept}-${sha256Of(name).slice(0, 8)}`.replace(/^-/, '');
}
