import { mapAt, parsedJson, sameValue, textAt } from '../../kernel/json.ts';
import { type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { OWN_MANAGER } from '../../kube/managed-fields.ts';
import { isOfDefaultTier, madeAtOf, notedOwners, policyName, storedMetadata } from '../../kube/stored-metadata.ts';
import { formerName, isStoredSo, type Naming, whyNoName } from './former-names.ts';
import { withOwnMetadata } from './own-metadata.ts';

/** One stored policy, and what makes the old release find it. */
export interface NameMove {
  /** The very object that goes once its copy stands. */
  readonly from: ObjectRef;
  readonly resourceVersion: string;
  /** Under the former name. */
  readonly copy: KubeObject;
  /** What stands under that name: `equal` is all that is needed, `stale` is our own copy of what the policy was before it was changed. */
  readonly there?: { readonly ref: ObjectRef; readonly resourceVersion: string; readonly is: 'equal' | 'stale' };
}

/** A policy that is not moved, and why. */
export interface NameProblem {
  readonly object: ObjectRef;
  readonly detail: string;
}

export interface NamesJudged {
  readonly moves: readonly NameMove[];
  /** The old release has no name for them, or would take them for something else. */
  readonly unnameable: readonly NameProblem[];
  /** Two that the old release would know by one name, and that differ. */
  readonly conflicts: readonly NameProblem[];
  /** Nobody renamed them: they were not written through the service's API. */
  readonly handWritten: readonly ObjectRef[];
}

interface Wanted {
  readonly naming: Naming;
  readonly profile: Pick<Profile, 'apiGroup' | 'policyRenaming'>;
  /** The old release reads an object's own labels alone. */
  readonly ownMetadata: boolean;
}

/** Which stored policies the old release would not find by name, and what to do about each. Those of other tiers have a check of their own. */
export function judgeNames(policies: readonly KubeObject[], wanted: Wanted): NamesJudged {
  const { naming, profile } = wanted;
  const known = policies.filter(({ kind }) => naming.kinds.includes(kind));
  const byPlace = new Map(known.map((policy) => [placeOf(policy, policy.metadata.name), policy]));
  const found = {
    moves: [] as NameMove[],
    unnameable: [] as NameProblem[],
    conflicts: [] as NameProblem[],
    handWritten: [] as ObjectRef[],
  };
  const taken = new Map<string, KubeObject>();
  for (const policy of known) {
    const stays = standingOf(policy, wanted);
    if (stays === 'found') continue;
    if (stays !== undefined) {
      if (stays === 'hand-written') found.handWritten.push(refOf(policy));
      else found.unnameable.push({ object: refOf(policy), detail: stays.because });
      continue;
    }
    const name = formerName(policyName(policy, profile), naming);
    const place = placeOf(policy, name);
    const copy = copyOf(policy, name, wanted);
    const there = byPlace.get(place);
    const other = taken.get(place);
    taken.set(place, policy);
    const is = there === undefined ? 'free' : howItIs(there, policy, copy, profile);
    const rival = other ?? (is === 'differs' ? there : undefined);
    if (rival) found.conflicts.push(conflictOf(policy, rival, name));
    else found.moves.push(moveOf(policy, copy, there, is));
  }
  return found;
}

/** Why a policy is not moved; undefined for one that is. */
function standingOf(policy: KubeObject, { naming, profile }: Wanted): 'found' | 'hand-written' | { readonly because: string } | undefined {
  const stored = policy.metadata.name;
  if (!isOfDefaultTier(policy)) return inItsTier(policy, naming);
  if (isStoredSo(stored, naming)) return 'found';
  const isOurs = storedMetadata(policy, profile.apiGroup).stored;
  const because = whyNoName(isOurs ? policyName(policy, profile) : stored, naming);
  if (!isOurs) return because !== undefined && naming.tierInName ? { because } : 'hand-written';
  if (because !== undefined) return { because };
  const { finalizers = [], deletionTimestamp } = policy.metadata;
  if (deletionTimestamp !== undefined) return { because: 'it is being deleted' };
  return finalizers.length > 0 ? { because: `it has finalizers: ${finalizers.join(', ')}` } : undefined;
}

/** Agents that read the tier in the stored name must find this one there. */
export function inItsTier({ metadata: { name }, spec }: KubeObject, { tierInName }: Naming): 'found' | { readonly because: string } {
  const tier = textAt(spec, 'tier') ?? '';
  if (!tierInName || name.startsWith(`${tier}.`)) return 'found';
  return { because: `it is in tier ${tier}, and its agents read the tier in the name: only names like ${tier}.NAME are in it` };
}

function placeOf({ kind, metadata: { namespace = '' } }: KubeObject, name: string): string {
  return `${kind}|${namespace}|${name}`;
}

function moveOf(policy: KubeObject, copy: KubeObject, there: KubeObject | undefined, is: 'free' | 'equal' | 'stale' | 'differs'): NameMove {
  const move = { from: refOf(policy), resourceVersion: versionOf(policy), copy };
  if (!there || (is !== 'equal' && is !== 'stale')) return move;
  return { ...move, there: { ref: refOf(there), resourceVersion: versionOf(there), is } };
}

const versionOf = ({ metadata: { resourceVersion = '' } }: KubeObject): string => resourceVersion;

function conflictOf(policy: KubeObject, other: KubeObject, name: string): NameProblem {
  return { object: refOf(policy), detail: `${refText(refOf(other))} differs from it: the old release knows both as ${name}` };
}

/** The same policy under its former name: with what the old release's readers take its name, labels and age from. */
function copyOf(policy: KubeObject, name: string, { naming, profile, ownMetadata }: Wanted): KubeObject {
  const { metadata, ...rest } = ownMetadata ? withOwnMetadata(policy, profile.apiGroup) : policy;
  const key = `${profile.apiGroup}/metadata`;
  const { namespace, labels, annotations = {}, ownerReferences } = metadata;
  return {
    ...rest,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, [key]: notedAs(policy, naming, profile) },
      ...(ownerReferences ? { ownerReferences } : {}),
    },
  };
}

/** The annotation's text: its name where the old release shows that, and always when the policy was made. */
function notedAs(policy: KubeObject, { shows }: Naming, profile: Wanted['profile']): string {
  const { name: _, ...noted } = mapAt(parsedJson(policy.metadata.annotations?.[`${profile.apiGroup}/metadata`] ?? '{}'));
  const named = shows === 'noted' ? { name: policyName(policy, profile) } : {};
  const madeAt = madeAtOf(policy, profile.apiGroup);
  return JSON.stringify({ ...named, ...noted, ...(madeAt === undefined ? {} : { creationTimestamp: madeAt }) });
}

function howItIs(there: KubeObject, policy: KubeObject, copy: KubeObject, profile: Wanted['profile']): 'equal' | 'stale' | 'differs' {
  if (there.metadata.deletionTimestamp !== undefined) return 'differs';
  if (saysTheSame(there, copy, profile.apiGroup)) return 'equal';
  return isOwnCopy(there, policy, profile.apiGroup) ? 'stale' : 'differs';
}

/** The same rules, labels, annotations and owners, wherever each release keeps them. */
export function saysTheSame(one: KubeObject, other: KubeObject, apiGroup: string): boolean {
  return sameValue(meaningOf(one, apiGroup), meaningOf(other, apiGroup));
}

function meaningOf(policy: KubeObject, apiGroup: string) {
  const { labels, annotations } = storedMetadata(policy, apiGroup);
  const { [`${apiGroup}/tier`]: tier = 'default', ...rest } = labels;
  const { tier: _, ...spec } = mapAt(policy.spec);
  return {
    ...{ spec, tier, labels: rest, annotations },
    owners: [...(policy.metadata.ownerReferences ?? []), ...(notedOwners(policy, apiGroup) ?? [])],
    isOfDefaultTier: isOfDefaultTier(policy),
  };
}

/** We made it of this policy, and nobody has changed it since: it has the same age, is stored later, and only we have written it. */
function isOwnCopy(there: KubeObject, policy: KubeObject, apiGroup: string): boolean {
  const { generation = 1, managedFields = [], creationTimestamp = '' } = there.metadata;
  const isLater = Date.parse(creationTimestamp) >= Date.parse(policy.metadata.creationTimestamp ?? '');
  const isOurs = managedFields.length > 0 && managedFields.every(({ manager }) => manager === OWN_MANAGER);
  return isOurs && isLater && generation === 1 && madeAtOf(there, apiGroup) === madeAtOf(policy, apiGroup);
}

/** For `ListOptions.keep`: who wrote which field is as large as the rest, and only the writers' names are asked for. */
export function namedWriters(policy: KubeObject): KubeObject {
  const { managedFields = [], ...metadata } = policy.metadata;
  const managers = [...new Set(managedFields.flatMap(({ manager }) => manager ?? []))];
  return { ...policy, metadata: { ...metadata, managedFields: managers.map((manager) => ({ manager })) } };
}
