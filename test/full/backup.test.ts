import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, surroundingsEnv } from '../support/upgrade-process.ts';
import { commandsUnder } from '../support/way-back.ts';

const TARGET = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const CRD = 'crd.projectcalico.org';
const SPACE = ['-n', 'kube-system'] as const;

const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'calico-own', namespace: 'kube-system', labels: { by: 'a-person' } },
  type: 'Opaque',
  stringData: { key: 'geheim', other: 'yes' },
};

const stored = (kind: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: `${CRD}/v1`,
  kind,
  metadata: { name, ...metadata },
  spec,
});

/** Texts that YAML could take for something else, lists, numbers, a policy of a namespace, one object whose kind will go. */
const RESOURCES = [
  stored('GlobalNetworkPolicy', 'guard', {
    order: 10.5,
    selector: 'all()',
    types: ['Ingress'],
    ingress: [{ action: 'Allow', protocol: 'TCP', destination: { ports: [80, '1000:2000'] } }, { action: 'Deny' }],
  }),
  stored('GlobalNetworkPolicy', 'default.web', { selector: "role == 'web'" }, { annotations: { note: 'yes', 'a/b': 'x: y # z' } }),
  stored('NetworkPolicy', 'db', { selector: "app == 'db'" }, { namespace: 'default', labels: { on: 'true' } }),
  stored('IPPool', 'pool', { cidr: '10.7.0.0/16', blockSize: 26, natOutgoing: true }),
  stored('GlobalNetworkSet', 'nets', { nets: ['10.0.0.0/8', 'fe80::/64'] }, { labels: { version: '1e3' } }),
];

interface Stored {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** What the server and its controllers write by themselves, and write anew for an object that is put back. */
const SERVER_FIELDS = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields'];
const COUNTERS = ['deprecated.daemonset.template.generation', 'deployment.kubernetes.io/revision'];

const without = (from: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));

/** An object as people see it. */
function content({ status: _, metadata, ...rest }: Stored): object {
  const annotations = without(metadata.annotations ?? {}, COUNTERS);
  return { ...rest, metadata: { ...without(metadata, SERVER_FIELDS), annotations } };
}

const said = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => `${stdout}\n${stderr}`;

describe('a backup on a real control plane, put back as its own text says', function () {
  this.timeout(280_000);
  const manifest = manifestFile('v3.27.5', 'calico.yaml');
  const cluster = shared(() => installedCluster({ manifest, nodes: 1 }), 600_000);
  let folder: string;
  let restore: string;
  let first: Readonly<Record<string, object>>;

  const kubectl = async (...args: readonly string[]) => {
    const result = await cluster.plane.kubectl(args);
    assert.equal(result.exitCode, 0, `kubectl ${args.join(' ')}\n${said(result)}`);
    return result.stdout;
  };

  /** Everything that the release and a person put into the cluster, by its name. */
  async function everything(): Promise<Readonly<Record<string, object>>> {
    const own = await kubectl('api-resources', `--api-group=${CRD}`, '-o', 'name');
    const kinds = ['ds', 'deploy', 'cm', 'sa', 'secrets', 'pdb', 'clusterroles', 'clusterrolebindings', 'crds', ...own.trim().split('\n')];
    const { items } = JSON.parse(await kubectl('get', kinds.join(','), '-A', '-o', 'json')) as { readonly items: readonly Stored[] };
    return Object.fromEntries(
      items.map((one) => [[one.kind, one.metadata.namespace, one.metadata.name].filter(Boolean).join('/'), content(one)]),
    );
  }

  /** Runs in a shell what the text tells under a heading, with the files that a person puts in. */
  function follow(heading: string, files: Readonly<Record<string, string>> = {}): void {
    const commands = commandsUnder(restore, heading).map((line) =>
      Object.entries(files).reduce((text, [word, file]) => text.replaceAll(word, file), line),
    );
    assert.ok(commands.length > 0, heading);
    shell(['set -e', ...commands].join('\n'));
  }

  const shell = (script: string) =>
    execFileSync('sh', ['-c', script], { cwd: folder, env: surroundingsEnv(cluster.around), encoding: 'utf8', stdio: 'pipe' });

  before(async function () {
    this.timeout(600_000);
    const own = join(cluster.around.home, 'own.yaml');
    writeFileSync(own, `${readFileSync(manifest, 'utf8')}\n---\n${JSON.stringify(SECRET)}\n`);
    const made = await cluster.plane.kubectl(
      ['create', '-f', '-'],
      [SECRET, ...RESOURCES].map((one) => JSON.stringify(one)).join('\n---\n'),
    );
    assert.equal(made.exitCode, 0, said(made));
    first = await everything();
    folder = join(cluster.around.home, 'kept');
    const flags = ['--yes', '--with-secrets', '--backup-dir', folder, '--installed-manifest', own];
    assertSucceeded(await cluster.upgrade('backup', ...flags, ...TARGET));
    restore = readFileSync(join(folder, 'RESTORE.md'), 'utf8');
    assert.match(await edits(), /nothing of yours/);
  });

  /** What an upgrade would take for a person's edits. */
  async function edits(): Promise<string> {
    const planned = await cluster.upgrade('plan', '--skip', 'cli', '-o', 'json', ...TARGET);
    assertSucceeded(planned);
    return /"message": "([^"]*compared with [^"]*)"/.exec(planned.stdout)?.[1] ?? '';
  }

  const isBack = async (...names: readonly string[]) => {
    const now = await everything();
    for (const name of names) assert.deepEqual(now[name], first[name], name);
  };

  it('has files with the sums of its list, as the text says to check first', () => {
    const [, command = ''] = /Check the files first: `([^`]+)`/.exec(restore) ?? [];
    assert.match(command, /SHA256SUMS/);
    assert.doesNotMatch(shell(command), /FAILED/);
  });

  it('brings back custom resources that were changed, added to or deleted', async () => {
    const patch = { metadata: { labels: { more: 'one' } }, spec: { order: 1, applyOnForward: true, ingress: [] } };
    await kubectl('patch', `globalnetworkpolicies.${CRD}`, 'guard', '--type=merge', '-p', JSON.stringify(patch));
    await kubectl('delete', `globalnetworkpolicies.${CRD}`, 'default.web');
    await kubectl('delete', `ippools.${CRD}`, 'pool');
    await kubectl('delete', `networkpolicies.${CRD}`, 'db', '-n', 'default');
    for (const kind of ['GlobalNetworkPolicy', 'IPPool', 'NetworkPolicy']) {
      follow('To put custom resources back', { FILE: `custom-resources/${kind}.${CRD}.yaml` });
    }
    await isBack('GlobalNetworkPolicy/guard', 'GlobalNetworkPolicy/default.web', 'IPPool/pool', 'NetworkPolicy/default/db');
  });

  it('brings back a Secret with its values, and removes what was added', async () => {
    const patch = { stringData: { key: 'other', more: 'one' } };
    await kubectl('patch', 'secret', 'calico-own', ...SPACE, '--type=merge', '-p', JSON.stringify(patch));
    follow('To put one other object back', { FILE: 'secrets/Secret_kube-system_calico-own.yaml' });
    await isBack('Secret/kube-system/calico-own');
  });

  it('brings back a definition that is gone, and then its objects', async () => {
    await kubectl('delete', 'crd', `globalnetworksets.${CRD}`);
    follow('To put a CRD back that is gone', {
      'CRD-FILE': `CustomResourceDefinition_globalnetworksets.${CRD}.yaml`,
      'KIND-FILE': `GlobalNetworkSet.${CRD}.yaml`,
    });
    await isBack(`CustomResourceDefinition/globalnetworksets.${CRD}`, 'GlobalNetworkSet/nets');
  });

  it('brings back workloads, settings and roles, and leaves nothing of what was put in', async () => {
    await kubectl('set', 'env', 'ds/calico-node', ...SPACE, '-c', 'calico-node', 'ADDED=one', 'IP=none');
    await kubectl('set', 'image', 'ds/calico-node', ...SPACE, 'install-cni=example.com/cni:other');
    await kubectl('label', 'ds/calico-node', ...SPACE, 'added=one');
    await kubectl('delete', 'deploy/calico-kube-controllers', 'pdb/calico-kube-controllers', 'sa/calico-cni-plugin', ...SPACE);
    await kubectl('patch', 'cm', 'calico-config', ...SPACE, '--type=merge', '-p', '{"data":{"veth_mtu":"1400","added":"one"}}');
    await kubectl('patch', 'clusterrole', 'calico-node', '--type=merge', '-p', '{"rules":[]}');
    await kubectl('delete', 'clusterrolebinding', 'calico-node');
    follow('To go back to the old release');
    const names = ['DaemonSet/kube-system/calico-node', 'Deployment/kube-system/calico-kube-controllers', 'ClusterRoleBinding/calico-node'];
    await isBack(
      ...names,
      'ConfigMap/kube-system/calico-config',
      'ClusterRole/calico-node',
      'ServiceAccount/kube-system/calico-cni-plugin',
    );
  });

  it('leaves nothing that a later upgrade would take for edits', async () => assert.match(await edits(), /nothing of yours/));

  it('has brought back all that was there', async () => isBack(...Object.keys(first)));
});
