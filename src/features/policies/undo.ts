import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { isRecord, mapAt, sameValue, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { type KeptChange, keptChanges } from '../../kernel/object-change.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { Records } from '../../kernel/run-record.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { servedObject, storedMetadata } from '../../kube/stored-metadata.ts';
import { cliWrite, type NoCli, type ServiceCli } from '../service-cli/index.ts';

/** What the undo is planned by. */
interface Removed {
  /** What the latest removal deleted, or was about to. */
  readonly removed: readonly RemovedPolicy[];
  readonly found: readonly KubeObject[];
}

/** The CLI creates again what was deleted. A second stored form becomes a policy of that name, so that nothing is selected less. */
export function undoPlan(facts: Removed & { readonly cli: ServiceCli | NoCli }, { profile }: Context): StagePlan {
  const { removed, cli } = facts;
  if (removed.length === 0) return { skip: 'no removal of the temporary policy was recorded on this cluster' };
  const again = toCreate(facts, profile);
  if (again.length === 0) return { skip: 'the temporary policy is there' };
  if ('missing' in cli) return { skip: `the service’s CLI cannot be used: ${cli.missing}` };
  const actions = again.map(({ policy, name }, index): Action => {
    const stdin = JSON.stringify(servedObject({ ...policy, kind: 'GlobalNetworkPolicy' }, profile.apiGroup, name));
    return {
      id: index === 0 ? 'recreate' : `recreate-${index + 1}`,
      title: `create the temporary policy ${name} again${policy.metadata.name === name ? '' : `, which was stored as ${policy.metadata.name}`}`,
      ref: '§4.4/7',
      undo: 'full',
      effect: cliWrite(cli, ['create', '-f', '-'], stdin),
    };
  });
  return { actions };
}

/** The missing ones of those removed, under names that are free; nothing if somebody created another one meanwhile. */
export function toCreate({ removed, found }: Removed, profile: Profile): readonly (RemovedPolicy & { readonly name: string })[] {
  const before = distinct(removed, profile);
  const missing = before.filter(({ policy }) => !found.some((live) => isSame(live, policy, profile)));
  if (found.some((live) => !before.some(({ policy }) => isSame(live, policy, profile)))) return [];
  const taken = new Set(found.map(({ metadata }) => metadata.name));
  const names = storedNames(profile).filter((name) => !taken.has(name));
  return missing.slice(0, names.length).map((one, index) => ({ ...one, name: names[index] ?? profile.temporaryPolicy }));
}

/** Each content once; the one that is stored under its own name first. */
function distinct(removed: readonly RemovedPolicy[], profile: Profile): readonly RemovedPolicy[] {
  const rank = ({ policy }: RemovedPolicy) => (policy.metadata.name === profile.temporaryPolicy ? 0 : 1);
  const ordered = removed.toSorted((a, b) => rank(a) - rank(b));
  return ordered.filter(({ policy }, index) => !ordered.slice(0, index).some((other) => isSame(policy, other.policy, profile)));
}

/** The same object, or one that says the same. */
function isSame(one: KubeObject, other: KubeObject, profile: Profile): boolean {
  if (one.metadata.uid !== undefined && one.metadata.uid === other.metadata.uid) return true;
  return sameValue(contentOf(one, profile), contentOf(other, profile));
}

/** Newer releases write down the tier that is meant where none is given. */
function contentOf(policy: KubeObject, { apiGroup }: Profile): unknown {
  const { labels, annotations } = storedMetadata(policy, apiGroup);
  const { [`${apiGroup}/tier`]: _, ...own } = labels;
  return { labels: own, annotations, spec: { tier: 'default', ...(policy.spec as object | undefined) } };
}

/** Names under which clients of one release or another store it; its own first. */
export function storedNames({ temporaryPolicy, policyRenaming }: Profile): readonly string[] {
  return [temporaryPolicy, ...(policyRenaming ? [`${policyRenaming.prefix}${temporaryPolicy}`] : [])];
}

/** A stored object of the temporary policy as it was kept before it was deleted. */
export interface RemovedPolicy extends Pick<KeptChange, 'content'> {
  readonly policy: KubeObject;
}

/**
 * Every stored object that the latest removal deleted or tried to, as last seen. An earlier attempt belongs to it if it kept all that the
 * later one did: before an undo it saw others, for restored objects are new.
 */
export async function removedPolicies(records: Pick<Records, 'keptWith'>): Promise<readonly RemovedPolicy[]> {
  const kept = await keptChanges(records, 'policy', ({ before }) => isPolicy(before['']));
  const attempts = [...Map.groupBy(kept, ({ id }) => id).values()].map((changes) =>
    changes.map(({ content, before }): RemovedPolicy => ({ content, policy: before[''] as KubeObject })),
  );
  let later = attempts.pop() ?? [];
  const removed = [...later];
  for (const earlier of attempts.toReversed()) {
    if (!later.every((one) => isAmong(one, earlier))) break;
    removed.push(...earlier.filter((one) => !isAmong(one, removed)));
    later = earlier;
  }
  return removed;
}

function isPolicy(value: unknown): boolean {
  const { labels = {}, annotations = {} } = mapAt(value, 'metadata');
  const { spec = {} } = isRecord(value) ? value : {};
  return textAt(value, 'metadata', 'name') !== undefined && [labels, annotations, spec].every(isRecord);
}

/** In key-value mode one may have no uid: there it is the same only while nothing of it changes. */
function isAmong({ policy }: RemovedPolicy, others: readonly RemovedPolicy[]): boolean {
  const { uid } = policy.metadata;
  return others.some((other) => (uid === undefined ? sameValue(policy, other.policy) : other.policy.metadata.uid === uid));
}
