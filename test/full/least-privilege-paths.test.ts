import assert from 'node:assert/strict';
import type { PolicyRule } from '../../src/features/rights/permission.ts';
import { chartCluster, flagsOf } from '../support/chart-cluster.ts';
import { as, grant, missing, rolesOf } from '../support/least-privilege.ts';
import { needsHelm } from '../support/needs-helm.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, told, type UpgradeProcess } from '../support/upgrade-process.ts';

/** A cluster on which one of the paths with an operator is gone. */
interface PathCluster {
  readonly plane: Parameters<typeof grant>[0]['plane'];
  upgrade(...args: readonly string[]): Promise<UpgradeProcess>;
  read(resource: string, jsonPath: string): Promise<string>;
  stop(): Promise<void>;
}

const WELL = { mode: 'well', pace: 0.1 } as const;
const CHART = { chart: { version: 'v3.24.6', operator: 'v1.28.5', isNew: false }, crds: manifestFile('v3.24.6', 'operator-crds.yaml') };
const OPERATOR_FLAGS = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases];

interface PathCase {
  readonly path: 'operator' | 'chart';
  readonly with: string;
  /** What the roles that are printed do not hold, and the acceptance that the path asks for. */
  readonly besides?: { readonly rule: PolicyRule; readonly accept: string };
  start(suite: Mocha.Context): Promise<{ readonly cluster: PathCluster; readonly flags: readonly string[] }>;
}

/** A whole run, flow logs among it, with exactly the roles of the path; and what preflight says without the right to switch them on. */
function describePath({ path, with: how, besides, start }: PathCase): void {
  describe(`least privilege on a real control plane: the ${path} path with flow logs${how}`, function () {
    this.timeout(600_000);
    let cluster: PathCluster;
    let flags: readonly string[];
    before(async function () {
      this.timeout(0); // the very first run builds helm
      ({ cluster, flags } = await start(this));
      const roles = await rolesOf('run', 'calico', path);
      assert.equal(roles.length, 3);
      const inOperator = roles.filter(({ metadata }) => metadata.namespace === 'tigera-operator');
      const more = besides ? inOperator.map((one) => ({ ...one, rules: [...one.rules, besides.rule] })) : inOperator;
      const blind = roles.map((one) => ({
        ...one,
        metadata: { ...one.metadata, name: 'without-flow-logs' },
        rules: one.rules.filter(({ resources }) => !resources.includes('goldmanes')),
      }));
      await grant(cluster, [...roles.filter((one) => !inOperator.includes(one)), ...more, ...blind]);
    });
    after(() => cluster?.stop());

    it('preflight names what flow logs need before anything is written', async () => {
      const result = await cluster.upgrade('preflight', ...flags, '--as=without-flow-logs', '-o', 'json');
      assert.equal(result.exitCode, 3, told(result));
      const named = missing(result);
      for (const one of ['create goldmanes.operator.tigera.io', 'patch whiskers.operator.tigera.io'])
        assert.ok(named.includes(one), told(result));
    });

    it('preflight misses nothing with the roles of the path', async () => {
      const result = await cluster.upgrade('preflight', ...flags, ...as('run'), '-o', 'json');
      assert.deepEqual(missing(result), []);
    });

    it('run takes the cluster to the target with exactly these roles', async () => {
      const accepted = besides ? ['--accept', besides.accept] : [];
      const command = ['run', '--yes', '--skip', 'cli', ...flags, ...accepted, ...as('run')];
      const result = await cluster.upgrade(...command);
      assertSucceeded(result);
      assert.doesNotMatch(result.stdout + result.stderr, /forbidden/i);
      for (const kind of ['goldmanes', 'whiskers'])
        assert.equal(await cluster.read(`${kind}.operator.tigera.io`, '{.items[*].metadata.name}'), 'default');
      const again = await cluster.upgrade(...command, '-o', 'json');
      assert.deepEqual([again.exitCode, (JSON.parse(again.stdout) as { writes: number }).writes], [0, 0], told(again));
    });
  });
}

describePath({
  path: 'operator',
  with: '',
  async start() {
    const cluster = await operatedCluster(WELL, { release: 'v3.27.5' });
    return { cluster, flags: [...OPERATOR_FLAGS, '--enable-flow-logs'] };
  },
});

for (const major of [3, 4] as const)
  describePath({
    path: 'chart',
    with: ` (helm ${major})`,
    async start(suite) {
      const cluster = await chartCluster(await needsHelm(suite, major), { ...CHART, operator: WELL });
      return { cluster, flags: [...flagsOf(cluster), '--enable-flow-logs'] };
    },
  });

describePath({
  path: 'chart',
  with: ', releases in ConfigMaps',
  besides: { rule: { apiGroups: [''], resources: ['configmaps'], verbs: ['update'] }, accept: 'NS-247=tigera-operator/calico' },
  async start(suite) {
    const cluster = await chartCluster(await needsHelm(suite, 3), { ...CHART, operator: WELL, env: { HELM_DRIVER: 'configmap' } });
    return { cluster, flags: [...flagsOf(cluster), '--enable-flow-logs'] };
  },
});
