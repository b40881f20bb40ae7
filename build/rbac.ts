import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { permissionsOf, permittedCommands } from '../src/features/rights/permissions.ts';
import {
  chartScope,
  manifestScope,
  operatorScope,
  roleLines,
  STATE_NAMESPACE,
  withoutWideSecrets,
} from '../src/features/rights/role-scopes.ts';
import type { Profile } from '../src/kernel/profile.ts';
import { calico } from '../src/profiles/calico.ts';
import { netsvc } from '../src/profiles/netsvc.ts';

/** Each generated file with what is in it. */
export const rbacFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  { file: 'docs/reference/rbac.yaml', text: () => commandRoles(netsvc) },
  { file: 'docs/reference/rbac-calico.yaml', text: () => commandRoles(calico) },
  { file: 'docs/reference/rbac-paths.yaml', text: () => pathRoles(netsvc) },
  { file: 'docs/reference/rbac-calico-paths.yaml', text: () => pathRoles(calico) },
];

const HELD = '# Written by `node build/rbac.ts`; a test holds it to the commands. Which to bind, and why: docs/reference/permissions.md.';

/** One ClusterRole per command, from what the stages and the permission check themselves go by. */
function commandRoles(profile: Profile): string {
  const head = [
    `# What each command asks of its account for a manifest install, by the names of the profile ${profile.name}: one ClusterRole per`,
    `# command, and a Role for the lock and the state. With --state-namespace the Role belongs there. By the names of the objects of a`,
    `# release, where they are known: kubectl netsvc-upgrade permissions --for COMMAND.`,
    HELD,
  ];
  return textOf(
    head,
    [...permittedCommands].flatMap((command) => roleLines(command, permissionsOf(command, profile, manifestScope()))),
  );
}

/** What `run` asks for on operator paths. Secrets only in the chart release's namespace: elsewhere its marks identify it. */
function pathRoles(profile: Profile): string {
  const { namespace } = profile.operator;
  const scopes = { operator: operatorScope(profile), chart: chartScope(profile) };
  const head = [
    `# What run asks of its account on the paths with an operator, flow logs among it, by the names of the profile ${profile.name}.`,
    `# Bind the ClusterRole and each Role: in ${STATE_NAMESPACE} for the lock and the state, in ${namespace} for releases of a chart that are kept in Secrets.`,
    HELD,
  ];
  const roles = Object.entries(scopes).flatMap(([path, scope]) =>
    roleLines(`run-${path}`, withoutWideSecrets(permissionsOf('run', profile, scope))),
  );
  return textOf(head, roles);
}

const textOf = (head: readonly string[], lines: readonly string[]) => `${[...head, ...lines].join('\n')}\n`;

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  for (const { file, text } of rbacFiles) writeFileSync(join(root, file), text());
}
