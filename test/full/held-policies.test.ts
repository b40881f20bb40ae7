import assert from 'node:assert/strict';
import { delimiter, dirname } from 'node:path';
import { execa } from 'execa';
import { type PolicyMigration, playPolicyMigration } from '../control-plane/policy-migration.ts';
import { NEW_SERVER } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from '../support/collector-settles.ts';
import { shared } from '../support/installed-cluster.ts';
import { ownedPlane } from '../support/owned-cluster.ts';
import { GROUP } from '../support/owned-objects.ts';
import { stripWork } from '../support/perform-stage.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { program, surroundingsEnv } from '../support/upgrade-process.ts';

const CONFIGURATIONS = `/apis/crd.${GROUP}/v1/kubecontrollersconfigurations`;
const FLAGS = `--profile=calico --release=${CALICO_TARGET} --manifest-url=${releases}`;
/** A person who follows what is printed is at the end by then. */
const MOST_STEPS = 8;

describe('policies whose renaming is held, and objects that they own', function () {
  this.timeout(280_000);
  let migration: PolicyMigration;
  after(() => migration?.stop());
  const owned = shared(() => ownedPlane(20, { maxMinutes: 10 }));

  /** A person's shell, off a terminal. */
  const shell = async (line: string) => {
    const env = surroundingsEnv(owned.around);
    const path = `${dirname(program)}${delimiter}${env.PATH}`;
    const { exitCode, stdout, stderr } = await execa('sh', ['-c', line], { env: { ...env, PATH: path }, extendEnv: false, reject: false });
    assert.ok(exitCode === 0 || exitCode === 3, `${line}: exit ${exitCode}\n${stdout}\n${stderr}`);
    return `${stdout}\n${stderr}`;
  };

  /** What NS-743 says to do next, as it is printed; undefined where it says nothing any more. */
  const nextOf = (text: string) => /NS-743[\s\S]*?(?:fix|next): (.*)/.exec(text)?.[1];

  it('lose none of them to a person who does what NS-743 prints, step by step, and have every reference back', async () => {
    const { plane } = owned;
    assert.equal((await stripWork.perform(owned.around)).exit, 'done');
    // The upgrade, held: what it brings, played.
    await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', manifestFile(CALICO_TARGET, 'calico.yaml')]);
    await plane.api.send('POST', CONFIGURATIONS, {
      apiVersion: `crd.${GROUP}/v1`,
      kind: 'KubeControllersConfiguration',
      metadata: { name: 'default' },
      spec: { controllers: { policyMigration: { enabled: 'Disabled' } } },
    });
    owned.served.serve(NEW_SERVER);
    migration = playPolicyMigration(plane.api, { group: GROUP, agents: 'calico-node' });
    const restore = `kubectl netsvc-upgrade ownerrefs restore --yes ${FLAGS}`;
    const steps: string[] = [];
    for (let said = await shell(restore); nextOf(said) !== undefined; ) {
      const next = nextOf(said) ?? '';
      assert.ok(steps.length < MOST_STEPS, steps.join('\n'));
      assert.doesNotMatch(next, /--until controllers/);
      assert.notEqual(next, steps.at(-1), `it leads to itself: ${next}`);
      steps.push(next);
      await shell(next.includes('netsvc-upgrade') ? `${next} --yes` : next);
      if (next.startsWith('kubectl patch'))
        await until('policies have their new names', async () => migration.migrated.length >= 2, 60_000);
      await collectorStartsAnew(plane);
      assert.deepEqual(Object.keys(await owned.graph()), Object.keys(owned.first), steps.join('\n'));
      said = await shell(restore);
    }
    assert.ok(
      steps.some((step) => step.startsWith('kubectl patch')),
      steps.join('\n'),
    );
    const wanted = await owned.wanted();
    assert.deepEqual(await owned.graph(), wanted);
    await collectorStartsAnew(plane);
    assert.deepEqual(await owned.graph(), wanted);
  });
});
