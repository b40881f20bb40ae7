import { grants, grouped, type Permission, permissionsOf, placeOfVerb, ruleOf } from './permissions.ts';
import { ROOT } from './walk.ts';

/** The rules of one role in the five states. */
export interface RuleStates {
  readonly base: unknown;
  readonly applied: unknown;
  readonly live: unknown;
  readonly file: unknown;
  readonly theirs: unknown;
}

interface ToldRules {
  readonly rules: unknown;
  /** Places of what only the file allows, and nothing tells whether that counts. */
  readonly disputed: readonly string[];
  /** Places at which the cluster counts, and not the file. */
  readonly noted: readonly string[];
}

/**
 * The rules that the user has, by their own file and by the cluster, permission by permission: as one value, what the cluster
 * allows besides would be lost to a file that says something of another thing. What the file takes away and the target still has
 * is no question: a merge takes no permission away (§4.4/1). Undefined if rules have another shape than Kubernetes gives them.
 */
export function reconciledRules(states: RuleStates): ToldRules | undefined {
  const [base, applied, live] = [states.base, states.applied, states.live].map(permissionsOf);
  const [file, theirs] = [states.file, states.theirs].map(permissionsOf);
  if (!base || !applied || !live || !file || !theirs) return undefined;
  const only = (some: readonly Permission[], others: readonly Permission[]) => some.filter((one) => !grants(others, one));
  // What was allowed or taken away in the cluster since it was applied, the file cannot know of.
  const added = only(only(only(file, live), base), applied);
  const removed = only(live, file).filter((one) => grants(base, one) && grants(applied, one));
  const mine = [...live.filter((one) => !removed.includes(one)), ...added];
  const noted = [...only(live, file), ...only(file, live)].filter((one) => !removed.includes(one) && !added.includes(one));
  const pathOf = (one: Permission) => placeOfVerb(ROOT, one).path;
  return {
    rules: added.length + removed.length === 0 ? states.live : grouped(mine).map((one) => ruleOf(one, one.verbs)),
    disputed: only(added, theirs).map(pathOf),
    noted: noted.map(pathOf),
  };
}
