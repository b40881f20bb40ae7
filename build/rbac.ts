import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../src/core/profile.ts';
import { calico } from '../src/profiles/calico.ts';
import { netsvc } from '../src/profiles/netsvc.ts';
import { documentKinds } from '../src/stages/needs.ts';
import { type Permission, roleRules } from '../src/stages/permission.ts';
import { permissionsOf, permittedCommands } from '../src/stages/permissions.ts';
import { anywhere, chartScope, operatorScope, STATE_NAMESPACE } from './rbac-scopes.ts';

/** Each generated file with what is in it. */
export const rbacFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  { file: 'docs/rbac.yaml', text: () => commandRoles(netsvc) },
  { file: 'docs/rbac-calico.yaml', text: () => commandRoles(calico) },
  { file: 'docs/rbac-paths.yaml', text: () => pathRoles(netsvc) },
  { file: 'docs/rbac-calico-paths.yaml', text: () => pathRoles(calico) },
];

const HELD = '# Written by `node build/rbac.ts`; a test holds it to the commands. Which to bind, and why: docs/permissions.md.';

/** One ClusterRole per command, from what the stages and the permission check themselves go by. */
function commandRoles(profile: Profile): string {
  const scope = { ...anywhere, documents: documentKinds };
  const head = [
    `# What each command asks of its account for a manifest install, by the names of the profile ${profile.name}: one ClusterRole per`,
    `# command, and a Role for the lock and the state. With --state-namespace the Role belongs there.`,
    HELD,
  ];
  return textOf(
    head,
    [...permittedCommands].flatMap((command) => {
      const all = permissionsOf(command, profile, scope);
      return [...clusterRole(command, all.filter(isWide)), ...roleIn(STATE_NAMESPACE, command, all)];
    }),
  );
}

/**
 * What `run` asks for on the paths with an operator. On Secrets only in the namespace of the chart release: elsewhere a release is told
 * by what it left on its objects.
 */
function pathRoles(profile: Profile): string {
  const { namespace } = profile.operator;
  const scopes = { operator: operatorScope(profile), chart: chartScope(profile) };
  const head = [
    `# What run asks of its account on the paths with an operator, flow logs among it, by the names of the profile ${profile.name}.`,
    `# Bind the ClusterRole and each Role: in ${STATE_NAMESPACE} for the lock and the state, in ${namespace} for releases of a chart that are kept in Secrets.`,
    HELD,
  ];
  const roles = Object.entries(scopes).flatMap(([path, scope]) => {
    const all = permissionsOf('run', profile, scope);
    const wide = all.filter((one) => isWide(one) && (one.required || one.request.resource !== 'secrets'));
    return [...clusterRole(`run-${path}`, wide), ...roleIn(STATE_NAMESPACE, `run-${path}`, all), ...roleIn(namespace, `run-${path}`, all)];
  });
  return textOf(head, roles);
}

const textOf = (head: readonly string[], lines: readonly string[]) => `${[...head, ...lines].join('\n')}\n`;

const isWide = ({ request }: Permission) => request.namespace === undefined;

/** What is asked for in that namespace alone; nothing where nothing is. */
function roleIn(namespace: string, name: string, permissions: readonly Permission[]): readonly string[] {
  const placed = permissions.filter(({ request }) => request.namespace === namespace);
  return placed.length > 0 ? role('Role', { name: `netsvc-upgrade-${name}`, namespace }, placed) : [];
}

function clusterRole(name: string, permissions: readonly Permission[]): readonly string[] {
  return role('ClusterRole', { name: `netsvc-upgrade-${name}` }, permissions);
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
      `    verbs: ${list(rule.verbs)}`,
    ]),
  ];
}

const list = (words: readonly string[]) => JSON.stringify(words).replaceAll('","', '", "');

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  for (const { file, text } of rbacFiles) writeFileSync(join(root, file), text());
}
