import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { type KeptRules, type ListRules, rulesOf } from '../kube/list-keys.ts';

/** Of the server's rules those for lists that these objects have: what writing their text needs, and no more is kept. */
export function rulesToKeep(rules: ListRules | undefined, objects: readonly KubeObject[]): KeptRules {
  const kept = objects.flatMap((object) => {
    const known = rulesOf(object, rules);
    const needed = known ? [...new Set(listPaths(object, ''))].flatMap((path) => ruleEntry(path, known.get(path))) : [];
    return needed.length > 0 ? [[`${object.apiVersion} ${object.kind}`, needed] as const] : [];
  });
  const byKind = Map.groupBy(kept, ([kind]) => kind);
  return Object.fromEntries([...byKind].map(([kind, all]) => [kind, Object.fromEntries(all.flatMap(([, needed]) => needed))]));
}

/** The same as a merge takes them; undefined if none were kept, and the table applies. */
export function keptRules(kept: KeptRules | undefined): ListRules | undefined {
  return kept && new Map(Object.entries(kept).map(([kind, rules]) => [kind, new Map(Object.entries(rules))]));
}

function ruleEntry<Rule>(path: string, rule: Rule | undefined): readonly (readonly [string, Rule])[] {
  return rule === undefined ? [] : [[path, rule]];
}

/** Names of fields alone, without items: `spec.template.spec.containers.env`. */
function* listPaths(value: unknown, path: string): Generator<string> {
  if (Array.isArray(value)) {
    yield path;
    for (const item of value) yield* listPaths(item, path);
  } else if (isRecord(value)) {
    for (const [name, field] of Object.entries(value)) yield* listPaths(field, path === '' ? name : `${path}.${name}`);
  }
}
