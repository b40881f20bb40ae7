import { mapAt } from '../kernel/json.ts';
import { type KubeObject, refText } from '../kernel/object.ts';
import { alike } from './alike.ts';
import { changedFields, withoutTexts } from './definition-differences.ts';
import { mergeField } from './merge-fields.ts';
import { grants, grouped, isRole, type Permission, permissionsIn, placeOf, placeOfVerb, ruleOf, withoutRules } from './permissions.ts';
import { decide, inField, ROOT, settle, type Three, tell, type Walk } from './walk.ts';

/** The three states of one object; undefined = absent. */
export interface ThreeObjects {
  readonly base?: KubeObject | undefined;
  readonly mine?: KubeObject | undefined;
  readonly theirs?: KubeObject | undefined;
  /** Known from the cluster and not from `mine`: changed since the apply, absent, or of an unserved kind. */
  readonly live?: 'changed' | 'absent' | 'unserved' | undefined;
}

/** Definitions, accounts and bindings come from the target whole; edits of the latter two are told field by field. */
const BOUND = new Set(['ServiceAccount', 'RoleBinding', 'ClusterRoleBinding']);
const DEFINITION = 'CustomResourceDefinition';

const ADDED: Three = { base: undefined, mine: 'present', theirs: undefined };
const REMOVED: Three = { base: 'present', mine: undefined, theirs: 'present' };

const IN_CLUSTER = 'It stays in the cluster as it is; its values are written to no file.';
const SINCE_CHANGED = 'With what was changed in the cluster since.';
const DELETED = 'It is no longer in the cluster, and is not created again, unless you resolve it with mine.';
const DELETED_SECRET = 'It is no longer in the cluster. No Secret is written to a file: create it yourself if it is to be there.';
const STAYS_AWAY = 'It is no longer in the cluster, and is not created again, unless you resolve it with theirs.';
const UNSERVED = 'The server does not know its kind in this version: it is not changed.';
const AGENTS = 'The target cannot work without its agents.';
const FROM_TARGET = 'Definitions of resources always come from the target.';

/** Why the three states alone do not settle whether there is such an object in the result. */
export interface ObjectReasons {
  /** The target cannot do without it. */
  readonly need?: string | undefined;
  /** The user must decide. */
  readonly asked?: string | undefined;
}

/** The object that goes into the result; undefined if none does. */
export function mergeObject(walk: Walk, { base, mine, theirs, live }: ThreeObjects, why: ObjectReasons): KubeObject | undefined {
  if (!theirs) return mine && !base ? addObject(walk, mine, live, why) : leaveObject(walk, { base, mine });
  if (base && (!mine || live === 'absent') && !isBack(walk, theirs, why, mine)) return undefined;
  if (!mine) return theirs;
  if (theirs.kind === DEFINITION) return definition(walk, { base, mine, theirs });
  if (theirs.kind === 'Secret') return secret(walk, { base, mine, theirs });
  const mode = BOUND.has(theirs.kind) ? ({ ...walk, mode: 'theirs' } as const) : walk;
  if (!isRole(theirs)) return asObject(mergeField(mode, ROOT, { base: base ?? {}, mine, theirs }), theirs);
  const rest = mergeField(walk, ROOT, { base: base ? withoutRules(base) : {}, mine: withoutRules(mine), theirs: withoutRules(theirs) });
  const rules = mergeRules(walk, { base: base?.rules, mine: mine.rules, theirs: theirs.rules });
  return asObject({ ...mapAt(rest), ...(rules === undefined ? {} : { rules }) }, theirs);
}

/** A result without these members would be no object; the walk never takes them away. */
function asObject(value: unknown, { apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, ...mapAt(value), metadata: { ...mapAt(value, 'metadata'), name: metadata.name } };
}

/** What the user's file added. If it was deleted since, the file alone does not restore it. */
function addObject(walk: Walk, mine: KubeObject, live: ThreeObjects['live'], { asked }: ObjectReasons): KubeObject | undefined {
  const isSecret = mine.kind === 'Secret';
  if (live === 'unserved' || (live === 'absent' && (isSecret || walk.resolution(refText(walk.ref)) !== 'mine'))) {
    tell(walk, ROOT, ADDED, 'obsolete', live === 'unserved' ? UNSERVED : isSecret ? DELETED_SECRET : DELETED);
    return undefined;
  }
  if (asked !== undefined && !isSecret) return decide(walk, ROOT, ADDED, asked) === undefined ? undefined : mine;
  tell(walk, ROOT, ADDED, 'kept', isSecret ? IN_CLUSTER : live === 'changed' ? SINCE_CHANGED : undefined);
  return isSecret ? undefined : mine;
}

/** The release dropped the object: it stays in the cluster, and so does what was changed in it. */
function leaveObject(walk: Walk, { base, mine }: ThreeObjects): undefined {
  if (!base) return undefined;
  if (!mine) tell(walk, ROOT, { base: 'present', mine: undefined, theirs: undefined }, 'already');
  else if (base.kind === DEFINITION) definition(walk, { base, mine });
  else mergeField(walk, { ...ROOT, gone: true }, { base, mine, theirs: undefined });
  return undefined;
}

/** True if a removed object is created again; then with the user's file, if it still has it. */
function isBack(walk: Walk, theirs: KubeObject, { need, asked }: ObjectReasons, mine: KubeObject | undefined): boolean {
  const why = theirs.kind === DEFINITION ? FROM_TARGET : (need ?? (theirs.kind === 'DaemonSet' ? AGENTS : undefined));
  if (why === undefined && asked !== undefined) return decide(walk, ROOT, REMOVED, asked) !== undefined;
  if (why === undefined && walk.resolution(refText(walk.ref)) !== 'theirs') {
    tell(walk, ROOT, REMOVED, 'kept', mine && STAYS_AWAY);
    return false;
  }
  tell(walk, ROOT, REMOVED, 'target', why ?? 'You decided to take it.');
  return true;
}

/** One line for a definition, not one per field: a merge could carry no edit of it. */
function definition(walk: Walk, { base, mine, theirs }: ThreeObjects): KubeObject | undefined {
  const [was, is, target] = [base, mine, theirs].map((one) => one && withoutTexts(one));
  if (alike(was, is)) return theirs;
  const count = changedFields(was, is).length;
  const three = {
    base: base && 'the release’s own',
    mine: `${count} ${count === 1 ? 'field differs' : 'fields differ'}`,
    theirs: theirs && 'the target’s own',
  };
  tell(walk, ROOT, three, !theirs ? 'obsolete' : alike(is, target) ? 'already' : 'target', FROM_TARGET);
  return theirs;
}

/** The release's Secret is empty; a filled one must neither be emptied nor written to a file. */
function secret(walk: Walk, { base, mine, theirs }: ThreeObjects): KubeObject | undefined {
  if (alike(base, mine) || alike(mine, theirs)) return theirs;
  mergeField({ ...walk, mode: 'mine', add: (finding) => walk.add({ ...finding, note: IN_CLUSTER }) }, ROOT, {
    base: base ?? {},
    mine,
    theirs,
  });
  return undefined;
}

const NEEDED = 'The target may need it; it stays.';

/** The target's rules plus the user's additions; grouping is no edit, and a removed permission stays if the target has it. */
function mergeRules(walk: Walk, rules: Three): unknown {
  const [base, mine, theirs] = [permissionsIn(rules.base), permissionsIn(rules.mine), permissionsIn(rules.theirs)];
  if (!base || !mine || !theirs) return settle(walk, inField(ROOT, 'rules'), rules);
  const added = mine.filter((one) => !grants(base, one));
  const extra = addedRules(walk, added, theirs);
  for (const removed of grouped(base.filter((one) => !grants(mine, one)))) {
    const rule = ruleOf(removed, removed.verbs);
    const still = removed.verbs.some((verb) => grants(theirs, { ...removed, verb }));
    const three = { base: rule, mine: undefined, theirs: still ? rule : undefined };
    tell(walk, placeOf(removed), three, still ? 'target' : 'already', still ? NEEDED : undefined);
  }
  if (extra.length === 0) return rules.theirs;
  return [...(Array.isArray(rules.theirs) ? rules.theirs : []), ...extra];
}

/** What the user allowed besides and the target does not, as rules of their own. */
function addedRules(walk: Walk, permissions: readonly Permission[], theirs: readonly Permission[]): readonly unknown[] {
  return grouped(permissions).flatMap((added) => {
    const at = placeOf(added);
    const three = (verbs: readonly string[]) => ({ base: undefined, mine: ruleOf(added, verbs), theirs: undefined });
    const verbs = added.verbs.filter((verb) => !grants(theirs, { ...added, verb }));
    if (verbs.length === 0) {
      tell(walk, at, { ...three(added.verbs), theirs: ruleOf(added, added.verbs) }, 'already');
      return [];
    }
    // Some verbs on one thing may be from the cluster, and others only from the user's file.
    const why = (verb: string) => walk.disputed?.(placeOfVerb({ ...added, verb }).path)?.because;
    const [because, open] = [verbs.map(why).find(Boolean), verbs.filter((verb) => why(verb) !== undefined)];
    const sure = verbs.filter((verb) => !open.includes(verb));
    if (sure.length > 0) tell(walk, at, three(added.verbs.filter((verb) => !open.includes(verb))), 'kept');
    const isTaken = because !== undefined && decide(walk, at, three(open), because) !== undefined;
    const granted = isTaken ? verbs : sure;
    return granted.length > 0 ? [ruleOf(added, granted)] : [];
  });
}
