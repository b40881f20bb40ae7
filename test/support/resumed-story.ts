import assert from 'node:assert/strict';
import type { OperatorManner, OperatorStep } from '../control-plane/operator.ts';
import { until } from '../control-plane/until.ts';
import { assertWritesNothing, type InstalledCluster } from './installed-cluster.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded, startUpgrade, told, untilSaid } from './upgrade-process.ts';

export interface ResumedStory {
  /** How it is upgraded, for titles. */
  readonly by: string;
  open(manner: OperatorManner, context: Mocha.Context): Promise<InstalledCluster>;
  /** Flags of every command, by the cluster. */
  flags(cluster: InstalledCluster): readonly string[];
  /** What it says before the operator has anything to do: it is killed at each of these. */
  readonly first: readonly RegExp[];
}

const WAITS = /wait until the operator has upgraded every component/;

/** The operator does one step when the test lets it. */
function heldSteps() {
  let goOn: (() => void) | undefined;
  let isOver = false;
  /** The step that it would do next. */
  let next: OperatorStep | undefined;
  const go = () => {
    next = undefined;
    goOn?.();
  };
  return {
    async hold(step: OperatorStep): Promise<void> {
      if (isOver) return;
      next = step;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    },
    isNext: (step: OperatorStep) => until(`the operator would ${step}`, async () => next === step, 120_000),
    go,
    /** Lets it do that step and all that follow. */
    end() {
      isOver = true;
      go();
    },
  };
}

/** What a running upgrade makes red by itself stops no one who goes on with it: one cluster, the run killed at each step of its operator. */
export function describeResumed({ by, open, flags, first }: ResumedStory): void {
  describe(`a run that is killed at each wave of an upgrade by ${by}, the v3 API away among them, on a real control plane`, function () {
    this.timeout(600_000);
    const steps = heldSteps();
    let cluster: InstalledCluster;
    before(async function () {
      this.timeout(0); // the very first run builds what it needs
      cluster = await open({ mode: 'well', pace: 0.1, hold: steps.hold }, this);
    });
    const common = () => [...flags(cluster)];
    const run = () => ['run', '--yes', '--skip', 'cli', ...common()];
    after(async () => {
      steps.end();
      await cluster?.stop();
    });

    const available = () =>
      cluster.read('apiservice v3.projectcalico.org', '{.status.conditions[?(@.type=="Available")].status}/{.spec.service.namespace}');
    const phases = () => cluster.read('pods -n calico-system -l k8s-app=calico-node', '{.items[*].status.phase}');

    /** Runs until it has said that, and is killed. */
    async function killedAt(moment: RegExp): Promise<void> {
      const child = startUpgrade([...run(), '-v=1'], cluster.around);
      await untilSaid(child, moment);
      child.kill('SIGKILL');
      const result = await child;
      assert.equal(result.signal, 'SIGKILL', `it ended before ${moment}: ${told(result)}`);
      assert.doesNotMatch(result.stdout + result.stderr, /nothing was changed/i);
    }

    /** Meanwhile preflight is no reason to stop either. */
    async function preflightPasses(): Promise<string> {
      const result = await cluster.upgrade('preflight', ...common(), '-o', 'wide');
      assertSucceeded(result);
      return result.stdout;
    }

    for (const moment of first)
      it(`is killed once it says ${moment}`, async () => {
        await killedAt(moment);
      });

    it('goes on while the new operator has changed nothing yet', async () => {
      await killedAt(WAITS);
      await steps.isNext('change the Installation');
      await preflightPasses();
      steps.go();
    });

    it('goes on while the operator has answered, and every component is still the old one', async () => {
      await steps.isNext('roll the components');
      await killedAt(WAITS);
      await preflightPasses();
      // The roll lasts until this node is repaired.
      await cluster.plane.fault('node-02', 'image-pull');
      steps.go();
    });

    it('goes on while the agents roll, one after the other', async () => {
      await until('an agent starts', async () => (await phases()).includes('Pending'), 60_000);
      await killedAt(WAITS);
      await preflightPasses();
      assert.match(await phases(), /Pending/);
      await cluster.plane.fault('node-02', 'none');
    });

    it('goes on while the v3 API is away, with the run as the next step', async () => {
      await steps.isNext('bring the API server');
      assert.equal(await available(), 'False/calico-system');
      await killedAt(WAITS);
      const said = await preflightPasses();
      assert.match(said, /NS-008 .*expected|expected.*NS-008/s);
      assert.equal(await available(), 'False/calico-system');
      steps.go();
    });

    it('goes on while the API is there again and the statuses are those of before', async () => {
      await steps.isNext('write the statuses');
      await killedAt(WAITS);
      await preflightPasses();
      steps.end();
    });

    it('ends at the target with one more call, and writes nothing with the next', async () => {
      const result = await cluster.upgrade(...run());
      assertSucceeded(result);
      assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), CALICO_TARGET);
      assert.equal(await available(), 'True/calico-system');
      // What was to be done before the upgrade is not shown after it.
      assert.doesNotMatch(result.stdout, /NS-405|NS-621/);
      await assertWritesNothing(cluster, () => cluster.upgrade(...run()));
    });
  });
}
