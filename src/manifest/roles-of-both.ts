import { parsedJson, sameValue } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { OlderRule } from '../kernel/profile.ts';
import type { ManifestDocument } from './manifest.ts';
import { grants, grouped, isRole, type Permission, permissionsIn, ruleOf } from './permissions.ts';
import { writeYaml } from './yaml-rules.ts';

/** On a role that serves both releases: the rules that are only there for older workloads. It tells them from a user's where the record is lost. */
export const OLDER_RULES = 'netsvc-upgrade/older-rules';

/** A role of the target that grants older workloads what they ask for, as long as some of them run. */
export interface RoleOfBoth {
  /** The target's own document. */
  readonly target: KubeObject;
  /** The same, with what the live role grants besides. */
  readonly both: ManifestDocument;
  /** `adminnetworkpolicies.policy.networking.k8s.io`, each once. */
  readonly kept: readonly string[];
}

/**
 * Undefined where the live role grants nothing that the workloads still running ask for and the target's does not. `asked`: what older ones
 * ask for; in a rollback it is all, as the newer ones have it.
 */
export function roleOfBoth(target: KubeObject, live: KubeObject, asked: readonly OlderRule[] | 'all'): RoleOfBoth | undefined {
  if (!isRole(target)) return undefined;
  const [wanted, granted] = [permissionsIn(target.rules), permissionsIn(live.rules)];
  const stay = (granted ?? []).filter((one) => (asked === 'all' || isAsked(one, asked)) && !grants(wanted ?? [], one));
  if (!wanted || stay.length === 0) return undefined;
  const rules = grouped(stay).map(({ verbs, ...of }) => ruleOf(of, verbs));
  const annotations = { ...target.metadata.annotations, [OLDER_RULES]: JSON.stringify(rules) };
  const object: KubeObject = { ...target, metadata: { ...target.metadata, annotations }, rules: [...rulesOf(target), ...rules] };
  const kept = stay.map(({ group, resource }) => (group === '' ? resource : `${resource}.${group}`));
  return { target, both: { object, text: writeYaml(object), line: 1 }, kept: [...new Set(kept)] };
}

function isAsked({ group, resource, name }: Permission, older: readonly OlderRule[]): boolean {
  return older.some((one) => one.group === group && one.resource === resource && (one.name ?? '') === name);
}

const rulesOf = ({ rules }: KubeObject): readonly unknown[] => (Array.isArray(rules) ? rules : []);

/** The role without what `roleOfBoth` added: that is no edit of a user's. */
export function withoutOlderRules(live: KubeObject): KubeObject {
  const { [OLDER_RULES]: noted, ...annotations } = live.metadata.annotations ?? {};
  if (noted === undefined) return live;
  const added = parsedJson(noted);
  const own = Array.isArray(added) ? added : [];
  // They stand at the end; a rule of the user's that is equal stands before them.
  const from = rulesOf(live).length - own.length;
  const rules = rulesOf(live).filter((rule, index) => index < from || !own.some((one) => sameValue(one, rule)));
  return { ...live, metadata: { ...live.metadata, annotations }, rules };
}
