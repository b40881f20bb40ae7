import assert from 'node:assert/strict';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { chain } from '../../src/features/chain.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { commandBench } from '../support/command-bench.ts';
import { runOclif } from '../support/run-oclif.ts';
import { compositionOf } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const noCluster = () => Promise.reject(new Fault('failed', 'https://127.0.0.1:1 cannot be reached: connect ECONNREFUSED', []));

async function permissions(flags: string, compose: (request: ComposeRequest) => Promise<Composition> = noCluster) {
  const bench = commandBench(chain, {});
  const exit = await runOclif(['permissions', ...flags.split(' ')], { ...bench.seams, compose });
  return { exit, out: bench.out(), err: bench.err() };
}

describe('permissions', () => {
  it('go by the installation of the cluster that they are asked on', async () => {
    const scenario = await installedSandbox();
    const { exit, out, err } = await permissions('--for run', async (request) => compositionOf(scenario, request, netsvc));
    assert.equal(exit, 0, err);
    assert.match(out, /^# What kubectl netsvc-upgrade run asks of its account: path manifest, profile netsvc, objects of any name\.$/m);
    assert.match(out, /crd\.netsvc\.io/);
  });

  it('ask no cluster where profile and path are said', async () => {
    const { exit, out } = await permissions('--for run --profile calico --path chart');
    assert.equal(exit, 0);
    assert.match(out, /path chart, profile calico/);
    assert.doesNotMatch(out, /crd\.netsvc\.io/);
  });

  it('ask for both without a cluster, with an example, and print nothing', async () => {
    const { exit, out, err } = await permissions('--for preflight --profile calico');
    assert.deepEqual([exit, out], [64, '']);
    assert.match(err, /^error: whose roles are asked for is not known: .*ECONNREFUSED$/m);
    assert.match(err, /kubectl netsvc-upgrade permissions --for preflight --profile calico --path manifest$/m);
    assert.match(
      err,
      /^Next: kubectl netsvc-upgrade permissions (?:--profile=calico )?--help$/m,
      'whose role it is, the example does not know',
    );
  });

  it('refuse a command or a profile that there is not before any cluster is asked', async () => {
    assert.match((await permissions('--for nothing')).err, /^error: --for nothing: there is no role for that\nname one of /);
    assert.match((await permissions('--for run --profile none')).err, /^error: there is no profile none$/m);
  });
});
