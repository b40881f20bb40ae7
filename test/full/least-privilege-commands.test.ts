import assert from 'node:assert/strict';
import { permittedCommands } from '../../src/features/rights/permissions.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { as, describeLeastPrivilege, grant, missing, rolesOf } from '../support/least-privilege.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const NETSVC = ['--profile', 'netsvc', '--manifest-url', ownReleases] as const;
const manifest = manifestFile('v3.26.4', 'netsvc.yaml', ownReleases);

describeLeastPrivilege({
  title: 'our own manifest',
  manifest,
  roles: 'rbac.yaml',
  flags: NETSVC,
  unused: ['csidrivers', 'networkpolicies', 'replicasets', 'statefulsets'],
});

describe('least privilege on a real control plane: every command with its own role', function () {
  this.timeout(280_000);
  const cluster = shared(() => installedCluster({ manifest, nodes: 2 }));

  before(async () => {
    const roles = rolesOf('rbac.yaml');
    // A ClusterRole and a Role where the state is, and one where the network is probed.
    assert.equal(roles.length, 2 * permittedCommands.length + 1);
    await grant(cluster, roles);
  });

  it('preflight reads everything, and names what run needs more', async () => {
    const result = await cluster.upgrade('preflight', ...NETSVC, ...as('preflight'), '-o', 'json');
    assert.equal(result.exitCode, 3, told(result));
    const more = missing(result);
    assert.ok(more.includes('update leases.coordination.k8s.io in kube-system') && more.includes('watch pods'), more.join('\n'));
    assert.deepEqual(
      // Owners are read one by one only where references are put back.
      more.filter((text) => /^(get|list) /.test(text) && !/watch|configmaps|^get \*\.netsvc\.io$/.test(text)),
      [],
    );
    assertSucceeded(await cluster.upgrade('preflight', ...NETSVC, ...as('preflight'), '--accept', 'NS-009'));
  });

  const steps: readonly (readonly string[])[] = [
    ['plan', '--accept', 'NS-009'],
    ['backup', '--yes'],
    ['crds', '--yes'],
    ['apply', '--dry-run=server'],
    ['apply', '--yes'],
    ['wait'],
    ['alp', '--yes'],
    ['verify', '--accept', 'NS-301'],
    ['policy'],
  ];
  for (const [command = '', ...rest] of steps) {
    it(`${[command, ...rest].join(' ')} needs no more than netsvc-upgrade-${command}`, async () => {
      const result = await cluster.upgrade(command, ...rest, ...NETSVC, ...as(command));
      assertSucceeded(result);
      assert.doesNotMatch(result.stdout + result.stderr, /forbidden/i);
    });
  }

  for (const command of ['status', 'unlock']) {
    it(`${command} needs no more than netsvc-upgrade-${command}`, async () => {
      assertSucceeded(await cluster.upgrade(command, ...as(command)));
    });
  }

  it('the upgrade has arrived', async () => {
    assert.match(await cluster.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[0].image}'), /:v3\.32\.2$/);
  });
});
