import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import { permissionsText, type RoleRequest } from '../../src/cli/permissions-command.ts';
import type { PolicyRule } from '../../src/features/rights/permission.ts';
import { accessText } from '../../src/kernel/ports.ts';
import { type InstalledCluster, installedCluster } from './installed-cluster.ts';
import { assertSucceeded, told, type UpgradeProcess } from './upgrade-process.ts';

export interface Role {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly PolicyRule[];
}

/** The roles that `permissions` prints. */
export async function rolesOf(command: string, profile: string, path: RoleRequest['path'] = 'manifest'): Promise<readonly Role[]> {
  const text = await permissionsText({ for: command, profile, path } as RoleRequest);
  return parseAllDocuments(text).map((one) => one.toJS() as Role);
}
/** Preflights that run at a time. */
const WIDTH = 3;
const SEARCH = accessText({ verb: 'list', group: '*', resource: '*' });
/** In no printed role: every Secret of the cluster. */
const UNPRINTED = accessText({ verb: 'list', group: '', resource: 'secrets' });

/** The role, bound to a user of the same name. */
function bound(role: Role): readonly object[] {
  const { name, namespace } = role.metadata;
  const group = 'rbac.authorization.k8s.io';
  return [
    role,
    {
      apiVersion: role.apiVersion,
      kind: `${role.kind}Binding`,
      metadata: { name, ...(namespace ? { namespace } : {}) },
      roleRef: { apiGroup: group, kind: role.kind, name },
      subjects: [{ apiGroup: group, kind: 'User', name }],
    },
  ];
}

/** Makes the roles, each with a user of its name. */
export async function grant({ plane }: Pick<InstalledCluster, 'plane'>, roles: readonly Role[]): Promise<void> {
  const items = roles.flatMap(bound);
  assertSucceeded(await plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items })));
}

/** Flags that act as the user with the role of a command. */
export const as = (command: string) => [`--as=netsvc-upgrade-${command}`];

/** True if the rule grants what NS-009 names. */
function grants({ verbs, resources, apiGroups }: PolicyRule, text: string): boolean {
  const [verb = '', type = ''] = text.split(' ');
  const dot = type.indexOf('.');
  const [resource, group] = dot < 0 ? [type, ''] : [type.slice(0, dot), type.slice(dot + 1)];
  const fits = (granted: readonly string[], one: string) => granted.includes(one) || granted.includes('*');
  return verbs.includes(verb) && fits(resources, resource) && fits(apiGroups, group);
}

/** What NS-009 of a preflight names. */
export function missing(result: UpgradeProcess): readonly string[] {
  const report = JSON.parse(result.stdout) as { findings: readonly { id: string; evidence?: readonly { text: string }[] }[] };
  const finding = report.findings.find(({ id }) => id === 'NS-009');
  return (finding?.evidence ?? []).map(({ text }) => text).sort();
}

export interface LeastPrivilege {
  readonly title: string;
  /** Manifest that is installed. */
  readonly manifest: string;
  readonly profile: string;
  /** Where it goes. */
  readonly flags: readonly string[];
  /** Resources that the plan has no use for here: its target has no such documents, and no pod a sidecar. Sorted. */
  readonly unused: readonly string[];
}

/** Describes a whole run by an account with the role of run, and what preflight says to one that lacks a rule of it. */
export function describeLeastPrivilege({ title, manifest, profile, flags, unused }: LeastPrivilege): void {
  describe(`least privilege on a real control plane: ${title}, the role of run`, function () {
    this.timeout(280_000);
    const isSearch = (rule: PolicyRule) => rule.apiGroups.includes('*');
    let cluster: InstalledCluster;
    let rules: readonly PolicyRule[];
    before(async () => {
      const [run, state] = await rolesOf('run', profile);
      assert.ok(run && state);
      ({ rules } = run);
      cluster = await installedCluster({ manifest, nodes: 2 });
      const named = (name: string, granted: readonly PolicyRule[]): Role => ({ ...run, metadata: { name }, rules: granted });
      const withState = (name: string): Role => ({ ...state, metadata: { ...state.metadata, name } });
      const whose = { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] };
      await grant(cluster, [
        run,
        state,
        named('nothing', [whose]),
        ...rules.flatMap((rule, index) => [
          named(
            `without-${index}`,
            rules.filter((one) => one !== rule && !isSearch(one)),
          ),
          withState(`without-${index}`),
        ]),
      ]);
    });
    after(() => cluster?.stop());

    it('preflight names every permission to an account that has none', async () => {
      const result = await cluster.upgrade('preflight', ...flags, '--as=nothing', '-o', 'json');
      assert.equal(result.exitCode, 3, told(result));
      const asked = missing(result);
      assert.ok(asked.length > 20 && asked.includes(SEARCH), told(result));
    });

    it('without one rule, preflight names what that rule grants, and nothing else', async () => {
      const queue = [...rules.entries()];
      const silent: string[] = [];
      const worker = async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const [index, rule] = next;
          const result = await cluster.upgrade('preflight', ...flags, `--as=without-${index}`, '-o', 'json');
          // Without this one nobody can tell which cluster it is, and nothing else is asked.
          if (rule.resources.includes('namespaces')) {
            assert.match(result.stderr, /namespaces.*forbidden/);
            continue;
          }
          const named = missing(result);
          assert.deepEqual(
            named.filter((text) => ![SEARCH, UNPRINTED].includes(text) && !grants(rule, text)),
            [],
            JSON.stringify(rule),
          );
          if (!named.some((text) => grants(rule, text))) silent.push(...rule.resources);
        }
      };
      await Promise.all(Array.from({ length: WIDTH }, worker));
      assert.deepEqual(silent.sort(), unused);
    });

    it('run takes the cluster to the target with exactly the role of run', async () => {
      assertSucceeded(await cluster.upgrade('run', '--yes', '--skip', 'cli', ...flags, ...as('run')));
      const again = await cluster.upgrade('run', '--yes', '--skip', 'cli', '-o', 'json', ...flags, ...as('run'));
      assert.deepEqual([again.exitCode, (JSON.parse(again.stdout) as { writes: number }).writes], [0, 0], told(again));
    });
  });
}
