import { pointerTo } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { JsonPatchOp, KubeObject, ObjectRef } from '../kernel/object.ts';
import type { OperatorIgnores } from '../kernel/operator-names.ts';
import type { ClusterReader } from '../kernel/ports.ts';

/** Our own annotation beside the operator's: the run that holds the object. It tells our hold from a user's where the record is lost. */
export const HELD_BY = 'netsvc-upgrade/held-by';

const placeOf = (annotation: string): string => pointerTo('metadata', 'annotations', annotation);

/** The place of the operator's annotation. */
export const ignoredAt = ({ annotation }: OperatorIgnores): string => placeOf(annotation);

/** The run that holds it; undefined where none of this program does. */
export function heldBy({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[HELD_BY];
}

/** The operator leaves it as it is, whoever said so. */
export function isIgnored({ metadata }: KubeObject, { annotation, value }: OperatorIgnores): boolean {
  return metadata.annotations?.[annotation] === value;
}

/** Both annotations are there: nobody has removed one of them. */
export function isWhollyHeld(object: KubeObject, ignores: OperatorIgnores): boolean {
  return heldBy(object) !== undefined && isIgnored(object, ignores);
}

/** A user's own annotation, whatever its value: not ours to change. */
export function isAnnotatedByUser(object: KubeObject, { annotation }: OperatorIgnores): boolean {
  return object.metadata.annotations?.[annotation] !== undefined && heldBy(object) === undefined;
}

/** ReplicaSets of a Deployment that bear our annotation. */
export async function readHeldCopies(cluster: Pick<ClusterReader, 'list'>, deployment: ObjectRef): Promise<readonly KubeObject[]> {
  const { namespace = '', name } = deployment;
  const sets = await cluster.list(K.ReplicaSet, { namespace, metadataOnly: true });
  return sets
    .filter(
      (set) =>
        heldBy(set) !== undefined && set.metadata.ownerReferences?.some((owner) => owner.kind === 'Deployment' && owner.name === name),
    )
    .map((set) => ({ ...set, apiVersion: 'apps/v1', kind: K.ReplicaSet.kind }));
}

/** Adds both annotations. A DaemonSet replaces no pod while it is held, whoever changes it. */
export function holdOps(object: KubeObject, { annotation, value }: OperatorIgnores, run: string): readonly JsonPatchOp[] {
  const { metadata } = object;
  const wanted = { [annotation]: value, [HELD_BY]: run };
  const annotated: readonly JsonPatchOp[] = metadata.annotations
    ? Object.entries(wanted).map(([key, text]) => ({ op: 'add', path: placeOf(key), value: text }))
    : [{ op: 'add', path: pointerTo('metadata', 'annotations'), value: wanted }];
  return [...annotated, ...strategyOps(object, HELD)];
}

/** Removes both, each only while it is as it was read; nothing where the hold is not ours. */
export function releaseOps(object: KubeObject, { annotation }: OperatorIgnores): readonly JsonPatchOp[] {
  const { annotations = {} } = object.metadata;
  if (heldBy(object) === undefined) return [];
  const removed = [HELD_BY, annotation].flatMap((key): readonly JsonPatchOp[] => {
    const value = annotations[key];
    if (value === undefined) return [];
    return [
      { op: 'test', path: placeOf(key), value },
      { op: 'remove', path: placeOf(key) },
    ];
  });
  return [...removed, ...strategyOps(object, ROLLING)];
}

const HELD = 'OnDelete';
const ROLLING = 'RollingUpdate';

/**
 * An annotation alone does not move a DaemonSet's generation, and the operator would hear of it only minutes later: with a strategy it does.
 * The operator writes its own strategy again together with its template.
 */
function strategyOps({ kind }: KubeObject, type: typeof HELD | typeof ROLLING): readonly JsonPatchOp[] {
  return kind === 'DaemonSet' ? [{ op: 'add', path: pointerTo('spec', 'updateStrategy'), value: { type } }] : [];
}
