import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { inField, inItem, type Place, ROOT } from './walk.ts';

/** What one verb on one thing is; `*` grants all. */
export interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  readonly verb: string;
}

/** A thing, and all that may be done to it. */
export type Granted = Omit<Permission, 'verb'> & { readonly verbs: readonly string[] };

/** Stands for the API group of paths that are no resources. */
const URLS = '(url)';

export function isRole({ kind }: KubeObject): boolean {
  return kind === 'Role' || kind === 'ClusterRole';
}

export function withoutRules({ rules: _, ...rest }: KubeObject): KubeObject {
  return rest;
}

/** Where the rules of a role tell about a thing. */
export function placeOf({ group, resource, name }: Omit<Granted, 'verbs'>): Place {
  return inItem(inField(ROOT, 'rules'), [group, resource, name].filter((part) => part !== '' && part !== URLS).join('/'));
}

/** Where they tell about one verb on it. */
export function placeOfVerb(permission: Permission): Place {
  return inItem(inField(placeOf(permission), 'verbs'), permission.verb);
}

/** Undefined if a rule has another shape than Kubernetes gives it. */
export function permissionsIn(rules: unknown): readonly Permission[] | undefined {
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

export function grants(permissions: readonly Permission[], wanted: Permission): boolean {
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

export function grouped(permissions: readonly Permission[]): readonly Granted[] {
  const targets = new Map<string, Granted>();
  for (const { group, resource, name, verb } of permissions) {
    const key = `${group}|${resource}|${name}`;
    const known = targets.get(key)?.verbs ?? [];
    targets.set(key, { group, resource, name, verbs: known.includes(verb) ? known : [...known, verb] });
  }
  return [...targets.values()];
}

export function ruleOf({ group, resource, name }: Omit<Granted, 'verbs'>, verbs: readonly string[]): unknown {
  if (group === URLS) return { nonResourceURLs: [resource], verbs };
  return { apiGroups: [group], resources: [resource], ...(name === '' ? {} : { resourceNames: [name] }), verbs };
}
