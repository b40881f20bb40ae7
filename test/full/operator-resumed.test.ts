import assert from 'node:assert/strict';
import { until } from '../control-plane/until.ts';
import { TYPHA } from '../support/operated-bench.ts';
import { type OperatedCluster, operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { startUpgrade } from '../support/upgrade-process.ts';

const RUN = [
  ...['run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', 'v3.32.1'],
  ...['--manifest-url', releases, '--accept', TYPHA],
] as const;
const WAITS = /wait until the operator has brought every component/;
const text = (result: { exitCode?: number | undefined; stdout: string; stderr: string }) =>
  `exit ${result.exitCode}\n${result.stdout}\n${result.stderr}`;

/** What a running upgrade makes red by itself stops no one who goes on with it: one cluster, the run killed at each of its waves. */
describe('a run that is killed at each wave of an upgrade by the operator, the v3 API away among them, on a real control plane', function () {
  this.timeout(600_000);
  let cluster: OperatedCluster;
  before(async () => {
    cluster = await operatedCluster({ mode: 'well', pace: 0.3 }, { apiServer: true });
  });
  after(() => cluster?.stop());

  const available = () =>
    cluster.read('apiservice v3.projectcalico.org', '{.status.conditions[?(@.type=="Available")].status}/{.spec.service.namespace}');
  const isAway = async () => (await available()) === 'False/calico-system';

  /** Runs until `reached`, and no further; what it said. */
  async function killedOnce(reached: (said: string) => boolean | Promise<boolean>): Promise<string> {
    const child = startUpgrade([...RUN], cluster.around);
    let said = '';
    let ended = false;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    const end = child.then((result) => {
      ended = true;
      return result;
    });
    await until('the wave is reached', async () => ended || (await reached(said)), 180_000);
    child.kill('SIGKILL');
    const result = await end;
    assert.equal(result.signal, 'SIGKILL', `it ended before that wave: ${text(result)}`);
    return said;
  }

  const waves: readonly (readonly [string, (said: string) => boolean | Promise<boolean>])[] = [
    ['once CRDs are applied', (said) => /serverside-applied/.test(said)],
    ['while the operator is waited for', (said) => /wait for Deployment\/tigera-operator/.test(said)],
    ['once the v3 API is away', isAway],
  ];
  for (const [wave, reached] of waves) it(`is killed ${wave}`, async () => void (await killedOnce(reached)));

  it('goes on while the v3 API is away: no check stops it, and it comes to the wait', async () => {
    assert.ok(await isAway(), await available());
    const said = await killedOnce((all) => WAITS.test(all));
    assert.ok(await isAway(), `the v3 API was back before the run had come to its wait: ${said}`);
    assert.doesNotMatch(said, /nothing was changed/i);
  });

  it('is named as expected by preflight meanwhile, with the run as the next step', async () => {
    assert.ok(await isAway(), await available());
    const result = await cluster.upgrade('preflight', ...RUN.slice(4), '-o', 'wide');
    assert.equal(result.exitCode, 0, text(result));
  });

  it('ends at the target with one more call', async () => {
    const result = await cluster.upgrade(...RUN);
    assert.equal(result.exitCode, 0, text(result));
    assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), 'v3.32.1');
    assert.equal(await available(), 'True/calico-system');
  });
});
