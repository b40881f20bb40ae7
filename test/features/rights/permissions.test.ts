import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLUSTER } from '../../../src/cli/flag.ts';
import { chain } from '../../../src/features/chain.ts';
import { permissionsOf, permittedCommands } from '../../../src/features/permissions.ts';
import { documentKinds, type PlanScope } from '../../../src/features/rights/needs.ts';
import { adminRights, roleRules } from '../../../src/features/rights/permission.ts';
import { manifestScope, scopeOf, withoutWideSecrets } from '../../../src/features/rights/role-scopes.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Kind } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { type Role, rolesOf } from '../../support/least-privilege.ts';
import { manifestFile } from '../../support/releases.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const FILE = 'src/features/permissions.ts';
const everything: PlanScope = { documents: documentKinds, meshed: true };
const textOf = (scope: PlanScope, command = 'run') =>
  permissionsOf(command, netsvc, scope).map(({ request }) =>
    `${request.verb} ${request.resource}.${request.group} ${request.namespace ?? ''}`.trim(),
  );

describe('permissions', () => {
  it('are those of a run for each stage that it performs without --include', () => {
    const ofRun = new Set(textOf(everything));
    const more = (command: string) => textOf(everything, command).filter((one) => !ofRun.has(one));
    for (const { id } of chain.filter((one) => permittedCommands.includes(one.id) && !one.optional)) assert.deepEqual(more(id), [], id);
    assert.notDeepEqual(more('hep'), [], 'an optional stage asks for more');
  });

  const named = ({ kind, metadata }: Role) => `${kind} ${metadata.name}${metadata.namespace ? ` in ${metadata.namespace}` : ''}`;
  const onSecrets = (roles: readonly Role[]) =>
    roles.flatMap(({ kind, rules }) =>
      rules.filter(({ resources }) => resources.includes('secrets')).map(({ verbs }) => `${kind} ${verbs.join(',')}`),
    );

  for (const profile of ['netsvc', 'calico'])
    it(`are printed for each command by the names of ${profile}: a ClusterRole, and a Role where the state is`, async () => {
      for (const command of permittedCommands)
        assert.deepEqual((await rolesOf(command, profile)).map(named), [
          `ClusterRole netsvc-upgrade-${command}`,
          `Role netsvc-upgrade-${command} in kube-system`,
          ...(command === 'probe-network' ? ['Role netsvc-upgrade-probe-network in default'] : []),
        ]);
    });

  for (const profile of [netsvc, calico])
    it(`are printed for the paths with an operator of ${profile.name}, those on Secrets in the namespaces of the state and of the chart release alone`, async () => {
      const state = 'Role create,delete,get,list,update';
      // Certificates that the operator keeps.
      const kept = profile === calico ? ['Role get'] : [];
      assert.deepEqual(onSecrets(await rolesOf('run', profile.name, 'operator')), [state, ...kept]);
      const chart = await rolesOf('run', profile.name, 'chart');
      assert.deepEqual(chart.map(named), [
        'ClusterRole netsvc-upgrade-run',
        'Role netsvc-upgrade-run in kube-system',
        `Role netsvc-upgrade-run in ${profile.operator.namespace}`,
      ]);
      assert.deepEqual(onSecrets(chart), [state, 'Role create,delete,get,list,patch,update']);
    });

  it('are printed, for the calico operator, with the resources that flow logs are switched on by', async () => {
    for (const path of ['operator', 'chart'] as const) {
      const [role] = await rolesOf('run', 'calico', path);
      const rule = role?.rules.find(({ resources }) => resources.includes('goldmanes'));
      assert.ok(rule?.resources.includes('whiskers') && rule.verbs.includes('create') && rule.verbs.includes('patch'), path);
    }
  });

  it('are said to amount to cluster-admin where they do: the page names the same commands as the program', () => {
    const isHarmless = (command: string) =>
      adminRights(withoutWideSecrets(permissionsOf(command, netsvc, { ...manifestScope(), kvstore: false })), netsvc).length === 0;
    const harmless = permittedCommands.filter(isHarmless);
    const page = readFileSync(join(root, 'docs/reference/permissions.md'), 'utf8');
    const [table = ''] = /## Which roles amount[\s\S]*?(?=\n## The roles)/.exec(page) ?? [];
    const [sentence = ''] = /^.*\bdo not amount to cluster-admin/m.exec(table) ?? [];
    const said = [...sentence.matchAll(/`([a-z -]+)`/g)].map(([, command = '']) => command.replace(' --', '-'));
    assert.deepEqual(said.sort(), harmless.toSorted(), 'fix the sentence in docs/reference/permissions.md');
    assert.deepEqual(said, ['preflight-read-only', 'status', 'unlock', 'wait']);
    for (const command of permittedCommands.filter((one) => !isHarmless(one)))
      assert.ok(table.includes(`\`${command}\``), `${command} is missing in docs/reference/permissions.md`);
  });

  it('are by name where the names are known, and never so for what cannot be limited by it', () => {
    const scope = scopeOf([
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'b' } },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a' } },
    ]);
    const asked = permissionsOf('apply', netsvc, scope).filter(({ request }) => request.resource === 'clusterroles');
    assert.deepEqual(asked.map(({ request: { verb }, names }) => `${verb} ${names?.join() ?? '*'}`).sort(), [
      'bind a,b',
      'create *',
      'escalate a,b',
      'get a,b',
      'patch a,b',
    ]);
    const rules = roleRules(asked).map(({ rule: { verbs, resourceNames } }) => ({ verbs, resourceNames }));
    assert.deepEqual(rules.find(({ resourceNames }) => resourceNames === undefined)?.verbs, ['create']);
  });

  it('are known for every command that asks a cluster', () => {
    // Some flags have a role of their own: without them the command only reads, or needs less.
    const ofFlags = ['probe-nodes', 'probe-network', 'preflight-read-only'];
    const roles = permittedCommands.filter((one) => !ofFlags.includes(one));
    assert.deepEqual([...roles].sort(), [...CLUSTER].sort(), `commandNeeds in ${FILE} and COMMANDS in src/cli/command-names.ts differ`);
  });

  it('let commands that only look write nothing but dry runs', () => {
    const written = (command: string) => textOf({ ...everything, documents: [] }, command).filter((one) => !/^(get|list|watch) /.test(one));
    for (const command of ['preflight', 'preflight-read-only', 'status', 'wait']) assert.deepEqual(written(command), [], command);
  });

  it('are asked for the Jobs of a network probe in its namespace alone, where one is wanted', () => {
    const jobs = (scope: PlanScope, command?: string) => textOf(scope, command).filter((one) => /^(create|delete) jobs/.test(one));
    assert.deepEqual(jobs(everything), []);
    assert.deepEqual(jobs({ ...everything, probeNamespace: 'probe' }), ['create jobs.batch probe', 'delete jobs.batch probe']);
    assert.deepEqual(jobs({ ...everything, probeNamespace: 'probe' }, 'probe-network'), [
      'create jobs.batch probe',
      'delete jobs.batch probe',
    ]);
  });

  it('let whoever waits for an operator, puts references back after it or verifies the result, look at what the end of its work is told by', () => {
    for (const command of ['wait', 'ownerrefs', 'verify']) {
      const asked = permissionsOf(command, calico, everything).map(
        ({ request: { verb, resource, group } }) => `${verb} ${resource}.${group}`,
      );
      for (const one of ['get *.operator.tigera.io', 'list *.operator.tigera.io', 'get apiservices.apiregistration.k8s.io'])
        assert.ok(asked.includes(one), `${command}: ${one}`);
    }
  });

  it('let a backup list what the target drops, where the server has it: there it fails without', () => {
    const [gone] = calico.removedKinds;
    const required = (scope: PlanScope) =>
      permissionsOf('run', calico, scope).find(({ request }) => request.verb === 'list' && request.resource === gone?.plural)?.required;
    assert.deepEqual(
      [required(everything), required({ ...everything, served: gone ? [gone] : [] }), required({ ...everything, served: [] })],
      [true, true, false],
    );
  });

  it('ask for the kinds of an operator that are judged by their names, all required, for errors hang on them', () => {
    const asked = permissionsOf('preflight', calico, everything).filter(({ request }) => request.group === calico.operatorGroup);
    assert.deepEqual(
      asked.map(({ request: { verb, resource }, required }) => `${verb} ${resource}${required ? '' : '?'}`),
      ['installations', 'imagesets', 'gatewayapis', 'apiservers', 'goldmanes', 'whiskers', 'tigerastatuses'].map((one) => `list ${one}`),
    );
  });

  it('ask for each thing once', () => {
    const all = textOf(everything);
    assert.equal(new Set(all).size, all.length);
  });

  it('follow the documents of the target and their namespaces', () => {
    const scope = { documents: [{ kind: K.Service, namespace: 'kube-system' }], meshed: false };
    const asked = textOf(scope);
    for (const verb of ['get', 'create', 'patch']) assert.ok(asked.includes(`${verb} services. kube-system`), verb);
    assert.ok(asked.includes('update leases.coordination.k8s.io kube-system'));
    assert.deepEqual(
      asked.filter((one) => /escalate|statefulsets|patch (daemonsets|deployments)/.test(one)),
      [],
    );
  });

  it('delete agents for a canary, where their DaemonSet is a document of the target and no operator writes it', () => {
    const deletes = (kind: Kind, operated: boolean) =>
      permissionsOf('commit', netsvc, { documents: [{ kind, namespace: 'kube-system' }], meshed: false, operated })
        .map(({ request: { verb, resource, namespace } }) => `${verb} ${resource} ${namespace}`)
        .filter((one) => one === 'delete pods kube-system').length;
    assert.deepEqual([deletes(K.DaemonSet, false), deletes(K.DaemonSet, true), deletes(K.Service, false)], [1, 0, 0]);
  });

  it('ask for the mesh’s part only where there may be a sidecar', () => {
    assert.ok(textOf({ ...everything, documents: [] }).includes('patch statefulsets.apps'));
    assert.ok(!textOf({ ...everything, documents: [], meshed: false }).includes('patch statefulsets.apps'));
  });

  it('ask for what helm writes in the namespace of the release, and nowhere else', () => {
    const chart = { namespace: 'tigera-operator', storage: 'Secret', upgraded: false, installed: [], removed: [] } as const;
    const asked = textOf({ ...everything, chart });
    const secrets = asked.filter((one) => /^(create|update|delete) secrets/.test(one) && one.endsWith('tigera-operator'));
    assert.equal(secrets.length, 3);
  });

  it('ask for roles only if the target holds some, and do without escalate', () => {
    const scope = { documents: [{ kind: K.ClusterRole }], meshed: false };
    const escalate = permissionsOf('run', netsvc, scope).filter(({ request }) => request.verb === 'escalate');
    assert.deepEqual(
      escalate.map(({ request, required }) => [request.resource, required]),
      [['clusterroles', false]],
    );
  });

  it('cover every built-in kind that the manifests of the release hold', () => {
    const known = new Set(documentKinds.map(({ kind }) => kind.kind));
    const files = ['calico.yaml', 'calico-typha.yaml', 'calico-etcd.yaml', 'canal.yaml', 'tigera-operator.yaml', 'apiserver.yaml'];
    const kinds = files.flatMap((file) =>
      [...readFileSync(manifestFile(CALICO_TARGET, file), 'utf8').matchAll(/^kind: (\w+)/gm)].map(([, kind]) => kind),
    );
    assert.ok(kinds.length > 100);
    assert.deepEqual(
      [...new Set(kinds)].filter((kind) => !known.has(kind ?? '')),
      [],
    );
  });
});
