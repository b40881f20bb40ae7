import { grants, grouped, type Permission, permissionsOf, placeOf, placeOfVerb, ruleOf } from './permissions.ts';
import { decide, inField, type Place, settle, tell, type Walk } from './walk.ts';

const NEEDED = 'The target may need it; it stays.';

/**
 * The target's rules, and what the user allowed besides. Rules that are only grouped otherwise are no edit; a permission that
 * the user took away stays where the target has it.
 */
export function mergeRules(
  walk: Walk,
  place: Place,
  rules: { readonly base: unknown; readonly mine: unknown; readonly theirs: unknown },
): unknown {
  const [base, mine, theirs] = [permissionsOf(rules.base), permissionsOf(rules.mine), permissionsOf(rules.theirs)];
  if (!base || !mine || !theirs) return settle(walk, inField(place, 'rules'), rules);
  const extra = addedRules(
    walk,
    place,
    mine.filter((one) => !grants(base, one)),
    theirs,
  );
  for (const removed of grouped(base.filter((one) => !grants(mine, one)))) {
    const rule = ruleOf(removed, removed.verbs);
    const still = removed.verbs.some((verb) => grants(theirs, { ...removed, verb }));
    const three = { base: rule, mine: undefined, theirs: still ? rule : undefined };
    tell(walk, placeOf(place, removed), three, still ? 'target' : 'already', still ? NEEDED : undefined);
  }
  if (extra.length === 0) return rules.theirs;
  return [...(Array.isArray(rules.theirs) ? rules.theirs : []), ...extra];
}

/** What the user allowed besides and the target does not, as rules of their own. */
function addedRules(walk: Walk, place: Place, permissions: readonly Permission[], theirs: readonly Permission[]): readonly unknown[] {
  return grouped(permissions).flatMap((added) => {
    const at = placeOf(place, added);
    const three = (verbs: readonly string[]) => ({ base: undefined, mine: ruleOf(added, verbs), theirs: undefined });
    const verbs = added.verbs.filter((verb) => !grants(theirs, { ...added, verb }));
    if (verbs.length === 0) {
      tell(walk, at, { ...three(added.verbs), theirs: ruleOf(added, added.verbs) }, 'already');
      return [];
    }
    // Of the verbs on one thing the cluster may have some, and the user's file alone the others.
    const why = (verb: string) => walk.disputed?.(placeOfVerb(place, { ...added, verb }).path)?.because;
    const [because, open] = [verbs.map(why).find(Boolean), verbs.filter((verb) => why(verb) !== undefined)];
    const sure = verbs.filter((verb) => !open.includes(verb));
    if (sure.length > 0) tell(walk, at, three(added.verbs.filter((verb) => !open.includes(verb))), 'kept');
    const isTaken = because !== undefined && decide(walk, at, three(open), because) !== undefined;
    const granted = isTaken ? verbs : sure;
    return granted.length > 0 ? [ruleOf(added, granted)] : [];
  });
}
