import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../src/core/profile.ts';
import { calico } from '../src/profiles/calico.ts';
import { netsvc } from '../src/profiles/netsvc.ts';
import { documentKinds } from '../src/stages/needs.ts';
import { roleRules } from '../src/stages/permission.ts';
import { permissionsOf, permittedCommands } from '../src/stages/permissions.ts';

/** Each generated file with the profile whose names are in it. */
export const rbacFiles: readonly { readonly file: string; readonly profile: Profile }[] = [
  { file: 'docs/rbac.yaml', profile: netsvc },
  { file: 'docs/rbac-calico.yaml', profile: calico },
];

/** One ClusterRole per command, from what the stages and the permission check themselves go by. */
export function rbacText(profile: Profile): string {
  const head = [
    `# What each command asks of its account, by the names of the profile ${profile.name}: one ClusterRole per command.`,
    '# Written by `node build/rbac.ts`; a test holds it to the commands. Which to bind, and why: docs/permissions.md.',
  ];
  return `${[...head, ...permittedCommands.flatMap((command) => role(command, profile))].join('\n')}\n`;
}

function role(command: string, profile: Profile): readonly string[] {
  const scope = { stateNamespace: '', documents: documentKinds, meshed: true };
  return [
    '---',
    'apiVersion: rbac.authorization.k8s.io/v1',
    'kind: ClusterRole',
    'metadata:',
    `  name: netsvc-upgrade-${command}`,
    'rules:',
    ...roleRules(permissionsOf(command, profile, scope)).flatMap(({ rule, whys }) => [
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
  for (const { file, profile } of rbacFiles) writeFileSync(join(root, file), rbacText(profile));
}
