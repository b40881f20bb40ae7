import { type Permission, roleRules } from './permission.ts';

/** The roles of one command: what it needs everywhere, and what it needs in one namespace each. YAML documents, each with its line `---`. */
export function roleLines(name: string, permissions: readonly Permission[]): readonly string[] {
  const places = new Set(permissions.flatMap(({ request: { namespace } }) => namespace ?? []));
  const wide = permissions.filter(({ request }) => request.namespace === undefined);
  return [
    ...(wide.length > 0 ? role('ClusterRole', { name: `netsvc-upgrade-${name}` }, wide) : []),
    ...[...places].flatMap((namespace) => roleIn(namespace, name, permissions)),
  ];
}

/** What is asked for in that namespace alone; nothing where nothing is. */
function roleIn(namespace: string, name: string, permissions: readonly Permission[]): readonly string[] {
  const placed = permissions.filter(({ request }) => request.namespace === namespace);
  return role('Role', { name: `netsvc-upgrade-${name}`, namespace }, placed);
}

function role(kind: string, metadata: Readonly<Record<string, string>>, permissions: readonly Permission[]): readonly string[] {
  return [
    '---',
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
    'metadata:',
    ...Object.entries(metadata).map(([field, value]) => `  ${field}: ${value}`),
    'rules:',
    ...roleRules(permissions).flatMap(({ rule, whys }) => [
      `  # ${whys.join('; ')}`,
      `  - apiGroups: ${list(rule.apiGroups)}`,
      `    resources: ${list(rule.resources)}`,
      ...(rule.resourceNames ? [`    resourceNames: ${list(rule.resourceNames)}`] : []),
      `    verbs: ${list(rule.verbs)}`,
    ]),
  ];
}

const list = (words: readonly string[]) => JSON.stringify(words).replaceAll('","', '", "');
