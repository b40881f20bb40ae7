import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { sameValue } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { storedMetadata } from '../../kube/stored-metadata.ts';
import { cliWrite } from '../service-cli/index.ts';
import type { PolicyFacts, RemovedPolicy } from './facts.ts';

/** The CLI creates again what was deleted. A second stored form becomes a policy of that name, so that nothing is selected less. */
export function undoPlan(facts: PolicyFacts, { profile }: Context): StagePlan {
  const { removed, call } = facts;
  if (removed.length === 0) return { skip: 'no removal of the temporary policy was recorded on this cluster' };
  const again = toCreate(facts, profile);
  if (again.length === 0) return { skip: 'the temporary policy is there' };
  if ('missing' in call) return { skip: `the service’s CLI cannot be used: ${call.missing}` };
  const actions = again.map(({ policy, name }, index): Action => {
    const stdin = JSON.stringify(served(policy, name, profile));
    return {
      id: index === 0 ? 'recreate' : `recreate-${index + 1}`,
      title: `create the temporary policy ${name} again${policy.metadata.name === name ? '' : `, which was stored as ${policy.metadata.name}`}`,
      ref: '§4.4/7',
      undo: 'full',
      effect: cliWrite(call, ['create', '-f', '-'], stdin),
    };
  });
  return { actions };
}

interface ToCreate extends RemovedPolicy {
  readonly name: string;
}

/** The missing ones of those removed, under names that are free; nothing if somebody created another one meanwhile. */
export function toCreate({ removed, found }: Pick<PolicyFacts, 'removed' | 'found'>, profile: Profile): readonly ToCreate[] {
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

/** As the v3 API takes it. */
function served(policy: KubeObject, name: string, { apiGroup }: Profile): KubeObject {
  const { labels, annotations } = storedMetadata(policy, apiGroup);
  return { apiVersion: `${apiGroup}/v3`, kind: 'GlobalNetworkPolicy', metadata: { name, labels, annotations }, spec: policy.spec };
}

/** Names under which clients of one release or another store it; its own first. */
export function storedNames({ temporaryPolicy, policyRenaming }: Profile): readonly string[] {
  return [temporaryPolicy, ...(policyRenaming ? [`${policyRenaming.prefix}${temporaryPolicy}`] : [])];
}
