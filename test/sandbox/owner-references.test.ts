import assert from 'node:assert/strict';
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { Action } from '../../src/kernel/action.ts';
import type { Verdict } from '../../src/kernel/check.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { AnyStage, Stage } from '../../src/kernel/stage.ts';
import { testFolder } from '../support/folders.ts';
import { kindOf } from '../support/hep-sandbox.ts';
import { type OwnerSandbox, ownerSandbox } from '../support/owner-sandbox.ts';
import { journalOf, perform } from '../support/owner-sweep.ts';
import { scripted } from '../support/scripted-stage.ts';

const brief = ({ exit, message }: ChainOutcome) => [exit, message];

describe('owner references on the sandbox', () => {
  const folder = testFolder('owners-');

  it('would be lost without the strip: the test can fail', async () => {
    const sandbox = await ownerSandbox();
    sandbox.upgrade();
    assert.ok(sandbox.deleted.includes('ConfigMap/owned-pool'), `${sandbox.deleted}`);
    assert.ok(sandbox.deleted.includes('Secret/owned-web'), `${sandbox.deleted}`);
  });

  it('are removed, and come back with new UIDs, at their old places, with their flags', async () => {
    const sandbox = await ownerSandbox();
    assert.deepEqual(brief(await perform(sandbox, [ownerrefsStripStage], folder)), ['done', undefined]);
    assert.deepEqual(sandbox.graph(), {
      'ClusterRole/owned-role': [],
      'ConfigMap/owned-mixed': ['apps Deployment/keeper'],
      'ConfigMap/owned-pool': [],
      'Secret/owned-stored': ['crd.netsvc.io IPPool/pool', 'apps Deployment/keeper'],
      'Secret/owned-web': [],
    });
    sandbox.upgrade();
    assert.deepEqual(brief(await perform(sandbox, [ownerrefsRestoreStage], folder)), ['done', undefined]);
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });

  it('write nothing the second time, neither off nor back', async () => {
    const sandbox = await ownerSandbox();
    const { faults } = sandbox.scenario.cluster;
    for (const stage of [ownerrefsStripStage, ownerrefsRestoreStage]) {
      if (stage === ownerrefsRestoreStage) sandbox.upgrade();
      await perform(sandbox, [stage], folder);
      const { writes } = faults;
      const again = await perform(sandbox, [stage], folder);
      assert.deepEqual([again.exit, again.writes, faults.writes], ['done', 0, writes], stage.id);
    }
  });

  it('go back as they were if the upgrade is called off', async () => {
    const sandbox = await ownerSandbox();
    await perform(sandbox, [ownerrefsStripStage], folder);
    const undone = await perform(sandbox, [ownerrefsStripStage], folder, { flags: { undo: true } });
    assert.deepEqual(brief(undone), ['done', undefined]);
    assert.match(JSON.stringify(undone.plans), /end it with ownerrefs forget/);
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });

  it('are not put back as they were once UIDs have changed: the owners are named', async () => {
    const sandbox = await ownerSandbox();
    await perform(sandbox, [ownerrefsStripStage], folder);
    const off = sandbox.graph();
    sandbox.upgrade({ held: true });
    const outcome = await perform(sandbox, [ownerrefsStripStage], folder, { flags: { undo: true } });
    const named = outcome.findings.find(({ id }) => id === 'NS-746')?.evidence?.map(({ text }) => text);
    assert.deepEqual([outcome.exit, named?.includes('IPPool/pool')], ['blocked', true]);
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], off]);
  });

  it('are not decided on under a name that nobody recorded: nothing is put back, and the recorded names are said', async () => {
    const sandbox = await ownerSandbox();
    await perform(sandbox, [ownerrefsStripStage], folder);
    const off = sandbox.graph();
    sandbox.upgrade({ held: true });
    const outcome = await perform(sandbox, [ownerrefsRestoreStage], folder, { flags: { resolve: ['IPPool/poool=new'] } });
    assert.equal(outcome.exit, 'usage');
    assert.match(outcome.message ?? '', /^--resolve IPPool\/poool=new: the journal in Secret\S+ records no owner of this name$/);
    assert.match(String(outcome.steps[0]), /IPPool\/pool\b/);
    assert.deepEqual(sandbox.graph(), off);
  });

  describe('once `apply` is in the record', () => {
    /** A stage of that name that brings no digests, as with `--manage-crds` on the chart path: its helm upgrade waits in vain. */
    const failing = (checks: Stage<number>['checks'] = [], more: Partial<Action> = {}): AnyStage => {
      const effect = { type: 'exec', run: { tool: 'kubectl', args: ['frobnicate'] } } as const;
      const actions: readonly Action[] = [{ id: 'chart', title: 'upgrade', ref: '§4.2/2', undo: 'none', effect, ...more }];
      return scripted('apply', [{ actions }, { actions }, { actions }], { checks });
    };
    const blocking = {
      id: 'NS-701',
      title: 'x',
      category: 'resources',
      ref: '§4.8',
      severity: 'error',
      judge: (): Verdict => ({ status: 'failed', because: 'x', hint: 'y' }),
    } as const;
    const undo = (sandbox: OwnerSandbox) => perform(sandbox, [ownerrefsStripStage], folder, { flags: { undo: true } });
    const assertRefused = ({ exit, writes, message }: ChainOutcome) => {
      assert.deepEqual([exit, writes], ['blocked', 0]);
      assert.match(message ?? '', /has begun/);
    };

    it('are not put back as they were where it may have done something, though no UID has changed yet and it noted no digest', async () => {
      const sandbox = await ownerSandbox();
      await perform(sandbox, [ownerrefsStripStage], folder);
      assert.equal((await perform(sandbox, [failing()], folder)).exit, 'failed');
      assert.deepEqual(sandbox.scenario.state.record?.digests, {});
      assertRefused(await undo(sandbox));
      // Looked at once more, and stopped by a finding: what it did before is done.
      assert.equal((await perform(sandbox, [failing([blocking])], folder)).exit, 'blocked');
      assertRefused(await undo(sandbox));
    });

    it('go back where a finding stopped it before it did anything, though CRDs are applied', async () => {
      const sandbox = await ownerSandbox();
      assert.equal((await perform(sandbox, [ownerrefsStripStage, failing([blocking])], folder)).exit, 'blocked');
      const { state } = sandbox.scenario;
      assert.equal(state.record?.stages.at(-1)?.id, 'apply');
      state.record = { ...state.record, digests: { 'crds.yaml': '0' } };
      assert.equal((await undo(sandbox)).exit, 'done');
      assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
    });

    it('go back where the look right before its first write found something', async () => {
      const sandbox = await ownerSandbox();
      const looks: number[] = [];
      const judge = (look: number): Verdict => {
        looks.push(look);
        return look === 0 ? { status: 'ok' } : blocking.judge();
      };
      // The first look is shared with the stage before, so that the first action wants one of its own.
      const stages = [ownerrefsStripStage, scripted('crds', []), failing([{ ...blocking, judge }], { afresh: true })];
      const stopped = await perform(sandbox, stages, folder);
      assert.deepEqual([stopped.exit, new Set(looks)], ['blocked', new Set([0, 1])]);
      assert.equal((await undo(sandbox)).exit, 'done');
      assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
    });
  });

  it('are not put back while a policy waits for its new name: it times out with the policy’s name', async () => {
    const sandbox = await ownerSandbox();
    await perform(sandbox, [ownerrefsStripStage], folder);
    const outcome = await perform(sandbox, [ownerrefsRestoreStage], folder, { flags: { timeout: '1m' } });
    assert.equal(outcome.exit, 'timeout');
    assert.match(outcome.message ?? '', /default\.web/);
    assert.equal(outcome.writes, 0);
  });

  it('end with an archive and no journal, but not before they are back', async () => {
    const sandbox = await ownerSandbox();
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const early = await perform(sandbox, [ownerrefsForgetStage], folder, { flags: { forget: true } });
    assert.deepEqual(
      [early.exit, early.findings.filter(({ outcome }) => outcome === 'error').map(({ id }) => id)],
      ['blocked', ['NS-748']],
    );
    const mine = await mkdtemp(join(folder, 'archive-'));
    assert.deepEqual(brief(await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], mine)), ['done', undefined]);
    assert.equal(await journalOf(sandbox, sandbox.cluster).load(), undefined);
    assert.equal((await readdir(mine)).length, 1);
  });

  it('stay off where the owner is gone, and where the object was changed; both are named', async () => {
    const sandbox = await ownerSandbox();
    const { store } = sandbox.scenario.cluster;
    await perform(sandbox, [ownerrefsStripStage], folder);
    sandbox.upgrade();
    const policies = kindOf(sandbox.scenario.cluster, 'globalnetworkpolicies');
    store.delete(policies, 'web');
    store.delete(K.ConfigMap, 'owned-pool', 'default');
    const outcome = await perform(sandbox, [ownerrefsRestoreStage], folder);
    assert.equal(outcome.exit, 'done');
    const warned = outcome.findings.filter(({ outcome: is }) => is === 'warning');
    assert.deepEqual(
      warned.map(({ id, evidence }) => [id, evidence.map(({ text }) => text).toSorted()]),
      [
        ['NS-744', ['ClusterRole/owned-role', 'Secret/default/owned-stored', 'Secret/default/owned-web']],
        ['NS-745', ['ConfigMap/default/owned-pool']],
      ],
    );
    assert.deepEqual(sandbox.graph()['Secret/owned-web'], []);
    assert.deepEqual(sandbox.deleted, []);
  });

  it('block the run as long as a kind cannot be searched, unless it is accepted by name', async () => {
    const sandbox = await ownerSandbox();
    const { cluster } = sandbox;
    const half = {
      ...cluster,
      list: async (...[kind, options]: Parameters<typeof cluster.list>) => {
        if (kind.plural === 'secrets' && options?.ownedBy) throw new ApiFailure(403, 'Forbidden', 'secrets is forbidden');
        return cluster.list(kind, options);
      },
    };
    const refused = await perform(sandbox, [ownerrefsStripStage], folder, { cluster: half });
    assert.deepEqual([refused.exit, refused.writes], ['blocked', 0]);
    const named = refused.findings.find(({ id }) => id === 'NS-741');
    assert.deepEqual(
      named?.evidence.map(({ text }) => text),
      ['secrets'],
    );
    const accepted = await perform(sandbox, [ownerrefsStripStage], folder, { cluster: half, flags: { accept: ['NS-741=secrets'] } });
    assert.equal(accepted.exit, 'done');
    assert.deepEqual(sandbox.graph()['ConfigMap/owned-pool'], []);
  });
});
