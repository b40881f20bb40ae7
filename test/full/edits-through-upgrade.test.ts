import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../../src/kernel/check.ts';
import type { PlannedStage } from '../../src/kernel/plan.ts';
import { testFolder } from '../support/folders.ts';
import { assertWritesNothing, type InstalledCluster, installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, startUpgrade, told } from '../support/upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', '--skip', 'preflight'] as const;
const AGENT = 'ds -n kube-system calico-node';

interface Told {
  readonly findings: readonly Finding[];
  readonly stages: readonly PlannedStage[];
}

/** The manifest as a person had it: a mirror, an own build of the agents, a larger MTU, another pool. */
async function edited(folder: string): Promise<string> {
  const original = await readFile(manifestFile('v3.27.5', 'calico-typha.yaml'), 'utf8');
  const changes: readonly (readonly [string | RegExp, string])[] = [
    [/docker\.io\/calico\//g, 'mirror.example.org/calico/'],
    ['calico/typha:v3.27.5', 'calico/typha:v3.27.5-own'],
    ['veth_mtu: "0"', 'veth_mtu: "1350"'],
    [
      '# - name: CALICO_IPV4POOL_CIDR\n            #   value: "192.168.0.0/16"',
      '- name: CALICO_IPV4POOL_CIDR\n              value: "10.244.0.0/16"',
    ],
  ];
  let mine = original;
  for (const [from, to] of changes) {
    const before: string = mine;
    mine = mine.replace(from, to);
    assert.notEqual(mine, before, String(from));
  }
  const file = join(folder, 'calico-typha.yaml');
  await writeFile(file, mine);
  return file;
}

describe('edits on their way through an upgrade on a real control plane', () => {
  const folder = testFolder('edited-manifest-');
  const cluster = shared(async () => installedCluster({ manifest: await edited(folder), nodes: 3 }));
  let field: string;
  before(async () => {
    await cluster.plane.kubectl(['-n', 'kube-system', 'scale', 'deploy/calico-typha', '--replicas=2']);
    const debug = ['set', 'env', 'ds/calico-node', '-c', 'calico-node', 'FELIX_LOGSEVERITYSCREEN=debug'];
    await cluster.plane.kubectl(['-n', 'kube-system', ...debug]);
    await cluster.plane.kubectl(['-n', 'kube-system', 'rollout', 'status', 'ds/calico-node', '--timeout=60s']);
    await cluster.plane.kubectl(['-n', 'kube-system', 'rollout', 'status', 'deploy/calico-typha', '--timeout=60s']);
  });

  it('a plan lists each of them, and stops at the one that a person must decide', async () => {
    const before = await cluster.versions();
    const result = await cluster.upgrade('plan', ...CALICO, '--skip', 'preflight', '-o', 'json');
    assert.equal(result.exitCode, 8, told(result));
    const { findings, stages } = JSON.parse(result.stdout) as Told;
    const open = findings.find(({ id }) => id === 'NS-201') ?? assert.fail('no NS-201');
    field = open.evidence[0]?.text ?? assert.fail('nothing to decide');
    assert.equal(open.evidence.length, 1, JSON.stringify(open.evidence));
    const edits = stages.flatMap((stage) => stage.edits ?? []);
    const kept = edits.filter(({ outcome }) => outcome === 'kept').map(({ path, source }) => `${path} ${source.manager ?? source.kind}`);
    for (const wanted of [
      'data.veth_mtu last-applied',
      'spec.replicas kubectl',
      'spec.template.spec.containers[calico-node].env[CALICO_IPV4POOL_CIDR] last-applied',
      'spec.template.spec.containers[calico-node].image last-applied',
    ])
      assert.ok(kept.includes(wanted), `${wanted} is not in\n${kept.join('\n')}`);
    assert.deepEqual(await cluster.versions(), before);
  });

  it('run refuses with exit 8 and writes nothing while that is open', async () => {
    const before = await cluster.versions();
    const result = await cluster.upgrade(...RUN, ...CALICO, '--through', 'apply', '--from', 'apply');
    assert.equal(result.exitCode, 8, told(result));
    assert.match(result.stdout + result.stderr, /--resolve/);
    assert.deepEqual(await cluster.versions(), before);
  });

  it('decided, killed in the middle and run again without the decision, it carries all of them', async () => {
    const child = startUpgrade([...RUN, ...CALICO, '--resolve', `${field}=theirs`], cluster.around);
    await untilApplied(cluster);
    child.kill('SIGKILL');
    await child;
    assertSucceeded(await cluster.upgrade(...RUN, ...CALICO));
    const agent = await cluster.read(AGENT, '{.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].env}');
    assert.match(agent, pattern`^mirror\.example\.org/calico/node:${CALICO_TARGET} `);
    assert.match(agent, /"CALICO_IPV4POOL_CIDR","value":"10\.244\.0\.0\/16"/);
    assert.match(agent, /"FELIX_LOGSEVERITYSCREEN","value":"debug"/);
    const typha = await cluster.read('deploy -n kube-system calico-typha', '{.spec.replicas} {.spec.template.spec.containers[0].image}');
    assert.equal(typha, `2 mirror.example.org/calico/typha:${CALICO_TARGET}`);
    assert.equal(await cluster.read('cm -n kube-system calico-config', '{.data.veth_mtu}'), '1350');
  });

  it('a second run writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...RUN, ...CALICO));
  });
});

/** Until the agents have the target's image: the apply is then half done. */
async function untilApplied(cluster: InstalledCluster): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const image = await cluster.read(AGENT, '{.spec.template.spec.containers[0].image}');
    if (image.endsWith(`:${CALICO_TARGET}`)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail('the agents were not written within a minute');
}
