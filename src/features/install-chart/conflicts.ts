import type { Reading } from '../../kernel/check.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { messageOf } from '../../kernel/fault.ts';
import { isRecord, jsonAt, sameValue } from '../../kernel/json.ts';
import { isCustom, type KubeObject, objectKey, refOf } from '../../kernel/object.ts';
import type { FieldChange } from '../../kernel/plan.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { ownersOf } from '../../kube/field-paths.ts';
import { changedFields, fieldAt } from '../../manifest/definition-differences.ts';
import { comparable } from '../../manifest/prepare.ts';
import type { FieldConflict, StoredRelease } from './chart-facts.ts';
import { recordedObjects } from './helm-record.ts';

/** Under this name the chart tool writes, in all its versions. */
const HELM = 'helm';
const WIDTH = 6;

/**
 * Where others decided otherwise than the chart: fields of other managers, and fields and objects removed from the installed revision. A
 * server-side release of helm 4 stops at the former; the rest is overwritten silently, except custom resources that a client-side chart
 * does not change (operator facts §3).
 */
export async function readConflicts(
  cluster: ClusterReader,
  documents: readonly KubeObject[],
  { record: newest, base }: StoredRelease,
  moveTo?: string,
): Promise<Reading<readonly FieldConflict[]>> {
  const installed = new Map(recordedObjects(base).map((object) => [objectKey(object), object]));
  const record = moveTo === undefined ? newest : { ...newest, namespace: moveTo };
  // Custom resources of a release that moves are not changed: helm compares the new chart with itself.
  const written = documents.filter(({ apiVersion }) => moveTo === undefined || !isCustom(apiVersion));
  try {
    const conflicts = await eachOf(written, WIDTH, (document) =>
      conflictsOf(cluster, { document, installed: installed.get(objectKey(document)), record, base }),
    );
    return { value: conflicts.flat() };
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    return { unread: `whose fields helm would take could not be found out: ${messageOf(thrown)}` };
  }
}

interface Written extends Pick<StoredRelease, 'record' | 'base'> {
  readonly document: KubeObject;
  /** The same object in the revision that helm continues from. */
  readonly installed: KubeObject | undefined;
}

async function conflictsOf(cluster: ClusterReader, written: Written): Promise<readonly FieldConflict[]> {
  const { document, installed, record, base } = written;
  const kind = await cluster.resolve(document.apiVersion, document.kind);
  if (!kind) return [];
  const namespace = kind.namespaced ? (document.metadata.namespace ?? record.namespace) : undefined;
  const live = await cluster.get(kind, document.metadata.name, namespace);
  const placed = namespace === undefined ? document : { ...document, metadata: { ...document.metadata, namespace } };
  // A revision that was never deployed may not have made it.
  if (!live) return installed && base.status === 'deployed' ? [{ ref: refOf(placed), change: { path: '' } }] : [];
  // In a client-side release helm patches custom resources by the chart's changes, without looking at the live ones. What is there without
  // being in the installed revision is adopted unchanged.
  const isPatched = record.applyMethod === 'client-side' && isCustom(document.apiVersion);
  const patched = installed ? (withDifference(live, installed, placed) as KubeObject) : live;
  const after = isPatched ? patched : await cluster.dryRunApply(kind, placed, HELM);
  return changedFields(comparable(live), comparable(after)).flatMap((change) => decisionsOn(change, live, installed));
}

function decisionsOn(change: FieldChange, live: KubeObject, installed: KubeObject | undefined): readonly FieldConflict[] {
  const ref = refOf(live);
  const others = ownersOf(live.metadata.managedFields, change.path).filter(({ manager }) => manager !== HELM);
  if (others.length > 0) return others.map(({ manager }) => ({ ref, change, manager }));
  // Set by the installed revision and gone. Omitted empty values do not count: nobody removed those.
  const isPutBack = change.before === undefined && !isEmpty(change.after) && fieldAt(installed, change.path) !== undefined;
  return isPutBack ? [{ ref, change }] : [];
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === '' || (isRecord(value) && Object.keys(value).length === 0);
}

/** `live` after a JSON merge patch (RFC 7386) of what differs between two other states: maps by key, lists as a whole. */
export function withDifference(live: unknown, before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return sameValue(before, after) ? live : after;
  const result = new Map(Object.entries(isRecord(live) ? live : {}));
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [jsonAt(before, key), jsonAt(after, key)];
    if (sameValue(was, is)) continue;
    const value = withDifference(result.get(key), was, is);
    if (value === undefined || value === null) result.delete(key);
    else result.set(key, value);
  }
  // A key may be called `__proto__`: no assignment to a member by its name.
  return Object.fromEntries(result);
}
