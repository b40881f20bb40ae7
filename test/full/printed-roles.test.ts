import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import { permittedCommands } from '../../src/features/permissions.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { missing, type Role } from '../support/least-privilege.ts';
import { manifestFile, ownReleases, releases } from '../support/releases.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const NETSVC = ['--profile', 'netsvc', '--manifest-url', ownReleases] as const;
const manifest = manifestFile('v3.26.4', 'netsvc.yaml', ownReleases);
const ACCOUNTS = 'default';

interface Finding {
  readonly id: string;
  readonly outcome: string;
  readonly message: string;
}

describe('printed roles on a real control plane: a service account with just the role of the command', function () {
  this.timeout(280_000);
  const cluster = shared(() => installedCluster({ manifest, nodes: 2 }));

  const kubectl = async (args: readonly string[], stdin?: string) => {
    const { exitCode, stdout, stderr } = await cluster.plane.kubectl(args, stdin);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  const as = (command: string) => [`--as=system:serviceaccount:${ACCOUNTS}:${command}`];

  before(async () => {
    for (const command of permittedCommands) {
      const printed = await cluster.upgrade('permissions', '--for', command);
      assertSucceeded(printed);
      await kubectl(['apply', '-f', '-'], printed.stdout);
      const name = `netsvc-upgrade-${command}`;
      const account = `--serviceaccount=${ACCOUNTS}:${command}`;
      await kubectl(['create', 'serviceaccount', command, '-n', ACCOUNTS]);
      if (/^kind: ClusterRole$/m.test(printed.stdout))
        await kubectl(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, account]);
      for (const [, namespace = ''] of printed.stdout.matchAll(/^kind: Role\nmetadata:\n.*\n {2}namespace: (.+)$/gm))
        await kubectl(['create', 'rolebinding', name, '-n', namespace, `--role=${name}`, account]);
    }
  });

  it('preflight --read-only asks for nothing but reading, judges what it can, and names what it left out', async () => {
    const result = await cluster.upgrade('preflight', '--read-only', ...NETSVC, ...as('preflight-read-only'), '-o', 'json');
    const { findings, next } = JSON.parse(result.stdout) as { readonly findings: readonly Finding[]; readonly next: string };
    const told = findings.map(({ id, outcome, message }) => `${id} ${outcome} ${message}`);
    const left = findings.filter(({ outcome, message }) => outcome === 'not-applicable' && message.startsWith('left out by --read-only: '));
    assert.deepEqual(
      findings.filter(({ outcome }) => outcome === 'error').map(({ id, message }) => `${id} ${message}`),
      [],
    );
    assertSucceeded(result);
    for (const id of ['NS-009', 'NS-012'])
      assert.ok(
        left.some((one) => one.id === id),
        told.join('\n'),
      );
    assert.ok(findings.filter(({ outcome }) => outcome === 'ok').length > 30, told.join('\n'));
    assert.match(next, /^kubectl netsvc-upgrade preflight /);
    const screen = await cluster.upgrade('preflight', '--read-only', ...NETSVC, ...as('preflight-read-only'));
    assert.match(screen.stdout, /^- NS-009 left out by --read-only: /m);
  });

  it('the role of --read-only writes nothing, dry runs included, and reads no Secret', async () => {
    const may = async (...asked: readonly string[]) =>
      (await cluster.plane.kubectl(['auth', 'can-i', ...asked, ...as('preflight-read-only')])).stdout.trim();
    for (const asked of [
      ['create', 'daemonsets', '-n', 'kube-system'],
      ['patch', 'clusterroles'],
      ['get', 'secrets', '-n', 'kube-system'],
      ['list', 'secrets', '-A'],
      ['escalate', 'clusterroles'],
      ['create', 'pods', '-n', 'default'],
    ])
      assert.equal(await may(...asked), 'no', asked.join(' '));
    assert.equal(await may('list', 'nodes'), 'yes');
  });

  it('preflight reads everything, and names what run needs more', async () => {
    const result = await cluster.upgrade('preflight', ...NETSVC, ...as('preflight'), '-o', 'json');
    assert.equal(result.exitCode, 3, told(result));
    const more = missing(result);
    assert.ok(more.includes('update leases.coordination.k8s.io in kube-system') && more.includes('watch pods'), more.join('\n'));
    assert.deepEqual(
      // Owners are read one by one only where references are put back, and no printed role lists every Secret.
      more.filter((text) => /^(get|list) /.test(text) && !/watch|configmaps|^get \*\.netsvc\.io$|^list secrets$/.test(text)),
      [],
    );
  });

  const steps: readonly (readonly string[])[] = [
    ['preflight', '--accept', 'NS-009'],
    ['plan', '--accept', 'NS-009'],
    ['backup', '--yes'],
    ['crds', '--yes'],
    ['apply', '--dry-run=server'],
    ['apply', '--yes'],
    ['wait'],
    ['alp', '--yes'],
    ['verify', '--accept', 'NS-301'],
    ['policy'],
    ['status'],
    ['report'],
    ['unlock'],
  ];
  for (const [command = '', ...rest] of steps)
    it(`${[command, ...rest].join(' ')} needs no more`, async () => {
      const chain = ['status', 'report', 'unlock'].includes(command) ? [] : NETSVC;
      const result = await cluster.upgrade(command, ...rest, ...chain, ...as(command));
      assertSucceeded(result);
      assert.doesNotMatch(result.stdout + result.stderr, /forbidden/i);
    });

  it('hep is stopped by what this install lacks, not by its role', async () => {
    const result = await cluster.upgrade('hep', ...NETSVC, ...as('hep'));
    assert.equal(result.exitCode, 3, told(result));
    assert.doesNotMatch(result.stdout + result.stderr, /forbidden/i);
  });

  for (const action of ['list', 'strip', 'restore'])
    it(`ownerrefs ${action} needs no more`, async () => {
      assertSucceeded(await cluster.upgrade('ownerrefs', action, ...(action === 'list' ? [] : ['--yes']), ...NETSVC, ...as('ownerrefs')));
    });

  it('run needs no more', async () => {
    assertSucceeded(await cluster.upgrade('run', '--yes', '--skip', 'cli', ...NETSVC, ...as('run')));
  });
});

describe('a printed role by names on a real control plane', function () {
  this.timeout(280_000);
  const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.27.5', 'calico-typha.yaml'), nodes: 2 }));
  before(async () => {
    const printed = await cluster.upgrade(
      ...[
        'permissions',
        '--for',
        'run',
        '--profile',
        'calico',
        '--path',
        'manifest',
        '--release',
        CALICO_TARGET,
        '--variant',
        'calico-typha',
      ],
    );
    assert.match(printed.stdout, /resourceNames: \["calico-typha"\]/);
    const onSecrets = parseAllDocuments(printed.stdout)
      .map((one) => one.toJS() as Role)
      .filter(({ rules }) => rules.some(({ resources }) => resources.includes('secrets')))
      .map(({ kind, metadata: { namespace } }) => `${kind} ${namespace}`);
    assert.deepEqual(onSecrets, ['Role kube-system']);
    for (const [args, stdin] of [
      [['create', 'namespace', 'state'], ''],
      [['apply', '-f', '-'], printed.stdout],
      [['create', 'serviceaccount', 'upgrader', '-n', 'state'], ''],
      [['create', 'clusterrolebinding', 'run', '--clusterrole=netsvc-upgrade-run', '--serviceaccount=state:upgrader'], ''],
      [['create', 'rolebinding', 'run', '-n', 'kube-system', '--role=netsvc-upgrade-run', '--serviceaccount=state:upgrader'], ''],
    ] as const) {
      assertSucceeded(await cluster.plane.kubectl(args, stdin));
    }
  });

  const as = ['--as=system:serviceaccount:state:upgrader'];

  it('patches no role and no workload of another name', async () => {
    const may = async (...asked: readonly string[]) =>
      (await cluster.plane.kubectl(['auth', 'can-i', ...asked, as[0] ?? ''])).stdout.trim();
    assert.equal(await may('escalate', 'clusterroles/calico-node'), 'yes');
    assert.equal(await may('escalate', 'clusterroles/cluster-admin'), 'no');
    assert.equal(await may('patch', 'customresourcedefinitions/ippools.crd.projectcalico.org'), 'yes');
    assert.equal(await may('patch', 'customresourcedefinitions/others.example.org'), 'no');
    assert.equal(await may('get', 'secrets', '-n', 'state'), 'no');
  });

  it('takes the cluster to the target', async () => {
    assertSucceeded(await cluster.upgrade('run', '--yes', '--skip', 'cli', ...CALICO, ...as));
    assert.match(
      await cluster.read('ds -n kube-system calico-node', '{.spec.template.spec.containers[0].image}'),
      pattern`:${CALICO_TARGET}$`,
    );
  });
});
