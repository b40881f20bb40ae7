import { isRecord } from './json.ts';
import { decide, inField, inItem, type Place, settle, tell, type Walk } from './walk.ts';

/** What one verb on one thing is; `*` grants all. */
interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  readonly verb: string;
}

interface Target {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  readonly verbs: readonly string[];
}

/** Stands for the API group of paths that are no resources. */
const URLS = '(url)';

const DISPUTED =
  'Your file allows it, and the cluster has other rules. Where those are right, write them into the file or leave --installed-manifest out.';
const NEEDED = 'The target may need it; it stays.';

/**
 * The target's rules, and what the person allowed besides. Rules that are only grouped otherwise are no edit; a permission that
 * the person took away stays where the target has it.
 */
export function mergeRules(
  walk: Walk,
  place: Place,
  rules: { readonly base: unknown; readonly mine: unknown; readonly theirs: unknown },
): unknown {
  const [base, mine, theirs] = [permissionsOf(rules.base), permissionsOf(rules.mine), permissionsOf(rules.theirs)];
  if (!base || !mine || !theirs) return settle(walk, place, rules);
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

/** What the person allowed besides and the target does not, as rules of their own. */
function addedRules(walk: Walk, place: Place, permissions: readonly Permission[], theirs: readonly Permission[]): readonly unknown[] {
  const isDisputed = walk.disputed?.(inField(place, 'rules').path) !== undefined;
  return grouped(permissions).flatMap((added) => {
    const verbs = added.verbs.filter((verb) => !grants(theirs, { ...added, verb }));
    const [at, rule] = [placeOf(place, added), ruleOf(added, added.verbs)];
    if (verbs.length === 0) {
      tell(walk, at, { base: undefined, mine: rule, theirs: rule }, 'already');
      return [];
    }
    const three = { base: undefined, mine: rule, theirs: undefined };
    const kept = isDisputed ? decide(walk, at, three, DISPUTED) : tell(walk, at, three, 'kept');
    return kept === undefined ? [] : [ruleOf(added, verbs)];
  });
}

function placeOf(place: Place, { group, resource, name }: Target): Place {
  const list = inField(place, 'rules');
  return inItem(list, [group, resource, name].filter((part) => part !== '' && part !== URLS).join('/'));
}

/** Undefined if a rule has another shape than Kubernetes gives it. */
function permissionsOf(rules: unknown): readonly Permission[] | undefined {
  if (rules === undefined) return [];
  if (!Array.isArray(rules) || !rules.every(isRecord)) return undefined;
  return rules.flatMap((rule) => {
    const names = texts(rule.resourceNames, ['']);
    const resources = texts(rule.apiGroups, []).flatMap((group) => texts(rule.resources, []).map((resource) => ({ group, resource })));
    const paths = texts(rule.nonResourceURLs, []).map((resource) => ({ group: URLS, resource }));
    return [...resources, ...paths].flatMap((one) =>
      names.flatMap((name) => texts(rule.verbs, []).map((verb) => ({ ...one, name, verb }))),
    );
  });
}

function texts(list: unknown, otherwise: readonly string[]): readonly string[] {
  return Array.isArray(list) && list.length > 0 ? list.map(String) : otherwise;
}

function grants(permissions: readonly Permission[], wanted: Permission): boolean {
  return permissions.some(
    ({ group, resource, name, verb }) =>
      covers(group, wanted.group) &&
      covers(resource, wanted.resource) &&
      covers(verb, wanted.verb) &&
      (name === '' || name === wanted.name),
  );
}

function covers(granted: string, wanted: string): boolean {
  return granted === wanted || granted === '*';
}

function grouped(permissions: readonly Permission[]): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const { group, resource, name, verb } of permissions) {
    const key = `${group}|${resource}|${name}`;
    const known = targets.get(key)?.verbs ?? [];
    targets.set(key, { group, resource, name, verbs: known.includes(verb) ? known : [...known, verb] });
  }
  return [...targets.values()];
}

function ruleOf({ group, resource, name }: Target, verbs: readonly string[]): unknown {
  if (group === URLS) return { nonResourceURLs: [resource], verbs };
  return { apiGroups: [group], resources: [resource], ...(name === '' ? {} : { resourceNames: [name] }), verbs };
}
