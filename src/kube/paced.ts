import { isRecord, jsonAt, parsedJson, pointerTo, sameValue } from '../kernel/json.ts';
import type { JsonPatchOp, KubeObject } from '../kernel/object.ts';
import { handedBack, type Owner, ownersAt } from './managed-fields.ts';

/** Our annotation of the resource that an operator takes the agents' pace from: what was there, and what is there for a run alone. */
const PACED = 'netsvc-upgrade/pace';
const PLACE = pointerTo('metadata', 'annotations', PACED);
/** Field manager of its writes: what it owns in the end is nobody's decision, and given up. */
export const PACER = 'netsvc-upgrade-pace';

/** How many pods may be away, as `rollingUpdate` of a DaemonSet says it; undefined where nothing is said. */
export type Rolling = Readonly<Record<string, unknown>> | undefined;

export interface Paced {
  readonly former?: Rolling;
  readonly ours: Rolling;
  /** Who owned it before, by managedFields. */
  readonly owners?: readonly Owner[];
}

/** What this program has set for a while; undefined where it has set nothing. */
export function pacedIn({ metadata }: KubeObject): Paced | undefined {
  const said = parsedJson(metadata.annotations?.[PACED] ?? '');
  if (!isRecord(said) || !isRolling(said.ours)) return undefined;
  const owners = Array.isArray(said.owners) ? said.owners.filter(isOwner) : [];
  return { ...(isRolling(said.former) ? { former: said.former } : {}), ours: said.ours, owners };
}

const isOwner = (said: unknown): said is Owner => isRecord(said) && typeof said.manager === 'string' && typeof said.operation === 'string';

/** What was put back, where a run was killed before it gave its ownership up. */
export function leftIn(live: KubeObject, path: readonly string[]): Paced | undefined {
  const isLeft = ownersAt(live, [...path, 'maxUnavailable']).some(({ manager }) => manager === PACER) && giveUpOps(live, path).length > 0;
  const rolling = rollingIn(live, path);
  return isLeft ? { former: rolling, ours: rolling } : undefined;
}

/** Whoever may write the annotation chose it: nothing but a pace is taken from it. */
function isRolling(value: unknown): value is NonNullable<Rolling> {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(
    ([key, one]) => ['maxUnavailable', 'maxSurge'].includes(key) && ['number', 'string'].includes(typeof one),
  );
}

/** What is there now; `path`: where the resource has it. */
export function rollingIn(live: KubeObject, path: readonly string[]): Rolling {
  const found = jsonAt(live, ...path);
  return isRecord(found) ? found : undefined;
}

/** Somebody has set another maxUnavailable than this program did; whatever else they set beside it stays in any case. */
export function isOverridden(live: KubeObject, path: readonly string[], { ours }: Paced): boolean {
  return !sameValue(rollingIn(live, path)?.maxUnavailable, ours?.maxUnavailable);
}

/** What of it differs from what was there. */
const writtenBy = ({ former, ours }: Paced): readonly (readonly [string, unknown])[] =>
  Object.entries(ours ?? {}).filter(([key, one]) => key === 'maxUnavailable' || !sameValue(one, former?.[key]));

/** This program wrote it: nothing that somebody has set beside it. */
export const isOurs = (paced: Paced, key: string): boolean => writtenBy(paced).some(([written]) => written === key);

/** Nothing else has been set beside it since. */
export function isWhollyOurs(live: KubeObject, path: readonly string[], { ours }: Paced): boolean {
  return Object.entries(rollingIn(live, path) ?? {}).every(([key, one]) => sameValue(one, ours?.[key]));
}

/** Values and annotation are one write. */
export function paceOps(live: KubeObject, path: readonly string[], paced: Paced): readonly JsonPatchOp[] {
  const owners = pacedIn(live)?.owners ?? ownersAt(live, [...path, 'maxUnavailable']).filter(({ manager }) => manager !== PACER);
  const annotation = JSON.stringify({ ...paced, owners });
  const value = { ...rollingIn(live, path), ...Object.fromEntries(writtenBy(paced)) };
  return [putDeep(live, ['metadata', 'annotations', PACED], annotation), putDeep(live, path, value)];
}

/** What this program wrote becomes what it was, key by key, unless somebody has set another maxUnavailable. */
export function unpaceOps(live: KubeObject, path: readonly string[]): readonly JsonPatchOp[] {
  const paced = pacedIn(live);
  if (!paced) return [];
  const unmark: JsonPatchOp = { op: 'remove', path: PLACE };
  if (isOverridden(live, path, paced)) return [unmark];
  const now = new Map(Object.entries(rollingIn(live, path) ?? {}));
  for (const [key, ours] of writtenBy(paced)) {
    if (!sameValue(now.get(key), ours)) continue;
    const own = paced.former?.[key];
    if (own === undefined) now.delete(key);
    else now.set(key, own);
  }
  if (now.size === 0 && paced.former === undefined) return [unmark, { op: 'remove', path: pointerTo(...path) }];
  return [unmark, putDeep(live, path, Object.fromEntries(now))];
}

/** Afterwards, in a write of its own: the server books to the writer what one changes, whatever managedFields it sets. */
export function giveUpOps(live: KubeObject, path: readonly string[], owners: Paced['owners'] = []): readonly JsonPatchOp[] {
  const value = handedBack(live, PACER, path, owners);
  return value ? [{ op: 'replace', path: '/metadata/managedFields', value }] : [];
}

/** With whatever is missing above it. */
function putDeep(live: KubeObject, path: readonly string[], value: unknown): JsonPatchOp {
  const missing = path.findIndex((_, index) => jsonAt(live, ...path.slice(0, index + 1)) === undefined);
  if (missing < 0) return { op: 'replace', path: pointerTo(...path), value };
  const nested = path.slice(missing + 1).reduceRight((inner, key) => ({ [key]: inner }), value);
  return { op: 'add', path: pointerTo(...path.slice(0, missing + 1)), value: nested };
}

/** `10%`; where nothing is said the operator has its own. */
export const rollingText = (rolling: Rolling): string => String(rolling?.maxUnavailable ?? 'none');
