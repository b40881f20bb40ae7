import { command } from '../../kernel/argv.ts';
import type { Reading } from '../../kernel/check.ts';
import { K } from '../../kernel/kinds.ts';
import { crdName, groupOf, type KubeObject, objectKey, refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { identityOf } from '../../manifest/prepare.ts';
import { PROGRAM } from '../survey/index.ts';
import { type OwnObject, readOwnObjects } from './own-objects.ts';

/** What the installed release has and the target no longer has. */
export interface Orphans {
  /** As they are in the cluster, where they stay. */
  readonly live: readonly KubeObject[];
  /** Documents of kinds that this server no longer serves. */
  readonly unserved: readonly KubeObject[];
}

export const NO_ORPHANS: Orphans = { live: [], unserved: [] };

/** Of what the user has, whatever the target does not name. */
export function orphansOf(own: readonly OwnObject[], target: readonly KubeObject[]): Orphans {
  const targeted = new Set(target.map(identityOf));
  const orphans = own.filter(({ document }) => !targeted.has(identityOf(document)));
  return {
    live: orphans.flatMap(({ live }) => live ?? []),
    unserved: orphans.filter(({ state }) => state === 'unserved').map(({ document }) => document),
  };
}

/** Of what `base` has, whatever `target` does not: asked of the cluster again. */
export async function orphansBetween(
  cluster: Parameters<typeof readOwnObjects>[0],
  base: readonly KubeObject[],
  target: readonly KubeObject[],
): Promise<Orphans> {
  const targeted = new Set(target.map(identityOf));
  const gone = base.filter((document) => document.kind !== 'CustomResourceDefinition' && !targeted.has(identityOf(document)));
  return orphansOf(await readOwnObjects(cluster, gone), target);
}

/** What `edits` tells, and CRDs of removed kinds, which no base tells: `definitions` has the target's own. */
export async function readOrphans(
  cluster: ClusterReader,
  { removedKinds }: Pick<Profile, 'removedKinds'>,
  definitions: Manifest,
  edits?: Reading<{ readonly orphans: Orphans }>,
): Promise<Orphans> {
  const kept = new Set(definitions.documents.map(({ object }) => object.metadata.name));
  const names = removedKinds.map(crdName).filter((name) => !kept.has(name));
  const crds = await Promise.all(names.map((name) => cluster.get(K.CustomResourceDefinition, name)));
  const { live, unserved } = edits && 'value' in edits ? edits.value.orphans : NO_ORPHANS;
  const all = [...crds.filter((one) => one !== undefined), ...live];
  return { live: [...new Map(all.map((one) => [objectKey(one), one])).values()], unserved };
}

/** One row of the plan per object that stays: whether and when it may be deleted, and by which command the user does that. */
export function leftBehind({ live }: Orphans): readonly PlannedObject[] {
  return live.map((object) => ({
    ref: refOf(object),
    change: 'left-behind',
    fields: [],
    hidden: [],
    taken: [],
    note: `the target no longer has it; ${farewell(object)}`,
  }));
}

/** What was installed under an API version that the server has no longer: the kind may live on under a newer one. */
export function unservedNotes({ unserved }: Orphans): readonly string[] {
  return unserved.map((document) => {
    const { apiVersion, kind, metadata } = document;
    const look =
      command`kubectl get ${kind.toLowerCase()} ${metadata.name} ${metadata.namespace ? ['-n', metadata.namespace] : []}`.trimEnd();
    const fact = `the target no longer has it and this server no longer serves ${apiVersion}`;
    return `${refText(refOf(document))}: ${fact}: it is gone, unless a newer version has the kind (${look})`;
  });
}

const WORKLOADS: readonly string[] = ['DaemonSet', 'Deployment', 'StatefulSet'];
const GREEN = `once ${PROGRAM} verify is green`;

/** The command is for the user; there is none if the object holds others, as one slip would delete those too. */
function farewell(object: KubeObject): string {
  const { kind, metadata } = object;
  if (kind === 'CustomResourceDefinition')
    return `deleting it deletes every object of its kind, so there is no command for that; ${GREEN}, look whether any is left: ${command`kubectl get ${metadata.name} -A`}`;
  if (kind === 'Namespace')
    return `deleting it deletes everything in it, so there is no command for that; ${GREEN}, look what is in it: ${contentsOf(metadata.name)}`;
  if (WORKLOADS.includes(kind))
    return `its pods keep running the old release; once ${PROGRAM} verify names nothing but them: ${deletion(object)}`;
  return `old pods may still use it; ${GREEN}, and if nothing of yours uses it: ${deletion(object)}`;
}

/** Of every kind: `kubectl get all` leaves most of them out. */
const contentsOf = (namespace: string): string =>
  command`kubectl api-resources --verbs=list --namespaced -o name | xargs -n 1 kubectl get --show-kind --ignore-not-found -n ${namespace}`;

/** With the group: another API may have a kind of the same name. */
function deletion({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): string {
  const group = groupOf(apiVersion);
  const type = `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}`;
  return command`kubectl delete ${type} ${name} ${namespace ? ['-n', namespace] : []}`.trimEnd();
}
