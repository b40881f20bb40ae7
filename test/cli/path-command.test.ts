import assert from 'node:assert/strict';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { chain } from '../../src/features/chain.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { commandBench } from '../support/command-bench.ts';
import { runOclif } from '../support/run-oclif.ts';
import { compositionOf } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';

/** `compose` fails unless a test hands one over: what needs no cluster asks none. */
async function path(flags: string, compose?: (request: ComposeRequest) => Promise<Composition>) {
  const bench = commandBench(chain, {});
  const seams = { ...bench.seams, compose: compose ?? (() => Promise.reject(new Error('a cluster was asked'))) };
  const exit = await runOclif(['path', ...flags.split(' ').filter(Boolean)], seams);
  return { exit, out: bench.out(), err: bench.err() };
}

describe('path', () => {
  it('shows the way without a cluster: its upgrades, what was tested, and the commands', async () => {
    const { exit, out } = await path('--from v3.28.1 --kubernetes 1.30');
    assert.equal(exit, 0);
    assert.match(out, pattern`^v3\.28\.1 on Kubernetes 1\.30 → ${CALICO_TARGET}, manifest path: 7 upgrades`);
    assert.match(out, /^1 +service v3\.28\.1 → v3\.29\.7 +v3\.29: 1\.29 to 1\.32 +kubectl netsvc-upgrade run --release v3\.29\.7$/m);
    assert.match(out, /^2 +Kubernetes 1\.30 → 1\.31 .*https:\/\/kubernetes\.io\//m);
    assert.match(out, /\nNext: kubectl netsvc-upgrade preflight --release v3\.29\.7\n$/);
  });

  it('names upstream’s page for what this program refuses on the operator path', async () => {
    const { out } = await path('--from v3.28.1 --kubernetes 1.30 --path operator -o json');
    const { steps, next } = JSON.parse(out);
    assert.deepEqual(
      [steps[0].command, steps[0].page],
      [null, 'https://docs.tigera.io/calico/3.29/operations/upgrading/kubernetes-upgrade'],
    );
    assert.equal(steps.at(-1).command, `kubectl netsvc-upgrade run --release ${CALICO_TARGET}`);
    assert.deepEqual([steps[0].argv, steps.at(-1).argv.join(' ')], [null, steps.at(-1).command]);
    assert.equal(next, 'kubectl netsvc-upgrade explain NS-002');
  });

  it('ends with 3 where upstream tested no way, and says why', async () => {
    const { exit, out } = await path('--from v3.20 --kubernetes 1.16');
    assert.equal(exit, 3);
    assert.match(out, /^No tested way from v3\.20\.0 on Kubernetes 1\.16 .*with Kubernetes 1\.16 it tested v3\.15, v3\.16/);
  });

  it('ends with 3 where what is installed is newer than the target, within its line too', async () => {
    const { exit, out } = await path('--from v3.32.2 --kubernetes 1.35 --release v3.32.1');
    assert.equal(exit, 3);
    assert.match(out, /^No tested way from v3\.32\.2 .* to v3\.32\.1: v3\.32\.2 is newer than v3\.32\.1: no upgrade leads back\.$/m);
    assert.doesNotMatch(out, /nothing to do/);
  });

  it('says that the state it begins with was not tested', async () => {
    const { out } = await path('--from v3.27.5 --kubernetes 1.31');
    assert.match(
      out,
      /^Upstream did not test v3\.27\.5 on Kubernetes 1\.31 itself: v3\.27 was tested with Kubernetes 1\.27, 1\.28, 1\.29\.$/m,
    );
  });

  const wrong: readonly (readonly [string, RegExp])[] = [
    ['--from v3.40.1 --kubernetes 1.31', /--from v3\.40\.1: which versions of Kubernetes it was tested with is not known/],
    ['--from v3.30.7 --kubernetes 1.34 --release v3.99.0', /--release v3\.99\.0: which versions/],
    ['--from master --kubernetes 1.31', /--from master is no release/],
    ['--from v3.30.7 --kubernetes 1.50', /--kubernetes 1\.50: no release is known here that was tested with it[\s\S]*1\.16 to 1\.\d+/],
    ['--from v3.30.7 --kubernetes new', /--kubernetes new is no minor of Kubernetes/],
    ['--profile netsvc --from v3.30.7 --kubernetes 1.34', /the profile netsvc does not say what its releases were tested with/],
  ];
  for (const [flags, says] of wrong)
    it(`refuses ${flags}`, async () => {
      const { exit, out, err } = await path(flags);
      assert.deepEqual([exit, out], [64, '']);
      assert.match(err, says);
    });

  it('reads of the cluster what is not said, and names it', async () => {
    const scenario = await installedSandbox();
    const flags = '--kubernetes 1.34 --release v3.32.2';
    const { exit, out, err } = await path(flags, async (request) =>
      compositionOf(scenario, request, { ...netsvc, testedLines: calico.testedLines }),
    );
    assert.equal(exit, 0, err);
    assert.match(out, /^context "sandbox" {3}sandbox\nv3\.\d+\.\d+ on Kubernetes 1\.34 → v3\.32\.2, manifest path: /);
  });
});
