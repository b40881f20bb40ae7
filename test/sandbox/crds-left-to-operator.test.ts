import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { emptyFolder } from '../support/folders.ts';
import { type Ground, groundOf } from '../support/incident-grounds.ts';
import { playedHelm } from '../support/played-helm.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { CALICO_TARGET } from '../support/target.ts';

/** Operators from v1.36 on install their CRDs themselves where they are told so. */
function keepsCrds({ scenario: { cluster } }: Ground): void {
  const operator = cluster.store.get(K.Deployment, 'tigera-operator', 'tigera-operator') ?? assert.fail('no operator');
  const text = JSON.stringify(operator).replace('"containers":[{', '"containers":[{"args":["-manage-crds=true"],');
  cluster.store.update(K.Deployment, JSON.parse(text) as KubeObject);
}

async function said({ scenario, profile }: Ground, line: string): Promise<string> {
  const bench = sandboxCommand(scenario, profile, (own) => playedHelm(scenario, own));
  await bench.run(...line.split(' '));
  return bench.out() + bench.err();
}

const CRDS = 'customresourcedefinitions';

for (const path of ['operator', 'chart'] as const)
  describe(`CRDs that the operator keeps itself, path ${path}`, function () {
    this.timeout(120_000);
    const around = emptyFolder('crds-left-');
    let ground: Ground;
    before(async () => {
      ground = await groundOf(path);
    });

    const inGit = async (folder: string) => {
      const text = await said(ground, `plan --for-git ${folder} --release ${CALICO_TARGET}`);
      return { text, files: existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [] };
    };

    it('are applied, stand in Git and need rights where it does not', async () => {
      const { text, files } = await inGit(join(around, 'before'));
      assert.ok(
        files.some((file) => file.includes('customresourcedefinition')),
        text,
      );
      assert.match(await said(ground, 'permissions --for run'), new RegExp(`resources: .*"${CRDS}".*\\n(?:.*\\n)?.*"patch"`));
    });

    it('are in no file for Git, which is said, and need no right to write', async () => {
      keepsCrds(ground);
      const folder = join(around, 'after');
      const { text, files } = await inGit(folder);
      assert.deepEqual(
        files.filter((file) => file.includes('customresourcedefinition')),
        [],
        text,
      );
      assert.match(text, /The operator installs its CRDs itself: Git needs none/);
      const roles = await said(ground, 'permissions --for run');
      const rules = roles.split('  - apiGroups').filter((rule) => rule.includes(`"${CRDS}"`));
      assert.ok(rules.length > 0, 'they are read');
      for (const rule of rules) assert.doesNotMatch(rule, /"(?:create|patch|update|delete)"/);
    });
  });
