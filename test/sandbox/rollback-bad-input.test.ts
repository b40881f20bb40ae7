import assert from 'node:assert/strict';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { approve, execute, prepare } from '../../src/engine/prepared.ts';
import { chains, usualChain } from '../../src/features/chain.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { K } from '../../src/kernel/kinds.ts';
import { apiVersionOf, refOf } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { CARRIED_PART } from '../../src/manifest/carried-file.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { assertDone } from '../support/owner-faults.ts';
import { contextIn, type Flags, installedSandbox, performIn, sandboxPorts, writeCniVersion } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';

const COMMON: Flags = { skip: ['cli'], yes: true };
const CONFIG = ['netsvc-config', 'kube-system'] as const;

async function upgraded(profile: Profile = netsvc): Promise<Scenario> {
  const scenario = await installedSandbox({ cli: false });
  assertDone(await performIn(scenario, usualChain, COMMON, { profile }), 'the upgrade');
  await scenario.clock.sleep(60_000);
  return scenario;
}

interface Process {
  readonly profile?: Profile;
  readonly observe?: Observer;
}

type Ended = Pick<ChainOutcome, 'exit' | 'findings'> & { readonly message?: string; readonly written: readonly string[] };

/** A new process plans it all, as the command does, and takes the recorded upgrade back if nothing stands against it; and what it wrote. */
async function back(scenario: Scenario, flags: Flags = {}, { profile = netsvc, observe = () => undefined }: Process = {}): Promise<Ended> {
  const ports = sandboxPorts(scenario);
  const written: string[] = [];
  const stop = scenario.cluster.store.listen(({ kind }) => written.push(kind.plural));
  const here = { clusterUid: scenario.clusterUid, profile, readRecord: (content: unknown) => content as RunRecord };
  const act = async () => {
    const goal = await goalBack(ports.records, here);
    const context = { ...contextIn(scenario, { ...COMMON, ...flags }, profile), goal, intent: { kind: 'rollback' } as const };
    const prepared = await prepare({ stages: chains.rollback, context, ports });
    const { blocked, findings } = prepared.plan;
    if (blocked) return { exit: blocked, findings };
    return execute(approve(prepared, { agreed: true }), { observe });
  };
  const failed = (thrown: unknown) => {
    if (!(thrown instanceof Fault)) throw thrown;
    return { exit: thrown.code, findings: [], message: thrown.message };
  };
  const outcome = await act().catch(failed);
  stop();
  return { ...outcome, written: written.filter((one) => one !== 'leases' && one !== 'pods') };
}

const configOf = ({ cluster: { store } }: Scenario) => JSON.stringify(store.get(K.ConfigMap, ...CONFIG)?.data ?? null);

describe('a rollback of what cannot be taken back as it is', function () {
  this.timeout(60_000);

  it('says that the old release is nowhere to be had, before it writes anything', async () => {
    const scenario = await upgraded();
    const { read } = scenario.releases;
    const without = {
      ...scenario,
      releases: {
        ...scenario.releases,
        read: async (release: string, path: string) => (release === 'v3.26.4' ? undefined : read(release, path)),
      },
    };
    const { exit, message, findings, written } = await back(without);
    assert.notEqual(exit, 'done');
    assert.match([message, ...findings.map((one) => one.message)].join('\n'), /v3\.26\.4/);
    assert.deepEqual(written, []);
  });

  it('names what helps a rollback where the manifest of the release that is left is nowhere to be had', async () => {
    const scenario = await upgraded();
    const { read } = scenario.releases;
    const releases = {
      ...scenario.releases,
      read: async (release: string, path: string) => (release === NETSVC_TARGET ? undefined : read(release, path)),
    };
    const { exit, findings, written } = await back({ ...scenario, releases });
    const { message = '', hint = '' } = findings.find(({ id }) => id === 'NS-205') ?? {};
    assert.deepEqual([exit, written], ['conflicts', []], JSON.stringify(findings.filter(({ outcome }) => outcome === 'error')));
    assert.match(message, pattern`netsvc\.yaml of ${NETSVC_TARGET}`);
    assert.match(hint, /--manifest-url/);
    assert.doesNotMatch(`${message} ${hint}`, /--base|--upgrade-file/, 'a rollback has none of them');
  });

  it('stops where the clocks differ by minutes, before it writes anything, and says that this Kubernetes was not tested', async () => {
    const scenario = await upgraded();
    Object.assign(scenario.cluster, { clockSkewMs: async () => 400_000 });
    const { exit, findings, written } = await back(scenario);
    const told = findings
      .filter(({ outcome }) => outcome === 'error' || outcome === 'warning')
      .map(({ id, outcome }) => `${id} ${outcome}`);
    assert.deepEqual([exit, written, told], ['blocked', [], ['NS-002 warning', 'NS-006 error']]);
  });

  it('creates again what somebody deleted', async () => {
    const scenario = await upgraded();
    const { registry, store } = scenario.cluster;
    const role = store.get(K.ClusterRole, 'netsvc-node') ?? assert.fail();
    registry.remove(K.ClusterRole, refOf(role));
    assert.equal((await back(scenario)).exit, 'done');
    assert.ok(store.get(K.ClusterRole, 'netsvc-node'));
    assert.match(configOf(scenario), /0\.3\.1/);
  });

  it('ends with exit 8 where an edit since no longer merges, writes nothing, and continues once it is decided', async () => {
    const scenario = await upgraded();
    writeCniVersion(scenario, '0.4.0', '1.0.0');
    const { exit, findings, written } = await back(scenario);
    assert.equal(exit, 'conflicts');
    const [conflict] = findings.find(({ id }) => id === 'NS-201')?.evidence ?? [];
    assert.ok(conflict);
    assert.deepEqual(written, []);
    assert.equal((await back(scenario, { resolve: [`${conflict.text}=mine`] })).exit, 'done');
    assert.match(configOf(scenario), /0\.4\.0/);
  });

  it('stops before the agents where somebody has switched eBPF mode on since it began', async () => {
    // In waves, on a way on which no UID changes: nothing but the tables gives a reason to look again.
    const { uidChange: _, ...unchanging } = netsvc;
    const profile: Profile = { ...unchanging, typhaRefusesAgentsBefore: 'v3.28.0', ebpfTablesSince: 'v3.30.0' };
    const scenario = await upgraded(profile);
    const { cluster } = scenario;
    const kind = cluster.kinds().find(({ plural }) => plural === 'felixconfigurations') ?? assert.fail();
    let isOn = false;
    const observe: Observer = (event) => {
      if (isOn || event.type !== 'action-started' || event.stage !== 'apply') return;
      isOn = true;
      const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: 'default' }, spec: { bpfEnabled: true } };
      cluster.registry.create(kind, object, { manager: 'kubectl-create' });
    };
    const { exit, findings } = await back(scenario, {}, { profile, observe });
    assert.ok(isOn);
    assert.deepEqual([exit, findings.filter(({ outcome }) => outcome === 'error').map(({ id }) => id)], ['blocked', ['NS-766']]);
    const [agents] = cluster.store.list(K.DaemonSet);
    assert.match(JSON.stringify(agents?.spec), pattern`:${NETSVC_TARGET}"`);
  });

  it('says that what the upgrade kept is gone, or damaged', async () => {
    const scenario = await upgraded();
    const [id = '', content = ''] = [...scenario.state.kept].find(([one]) => one.includes(CARRIED_PART)) ?? [];
    assert.notEqual(id, '');
    scenario.state.kept.set(id, JSON.stringify({ ...JSON.parse(content), former: 7 }));
    const damaged = await back(scenario);
    assert.equal(damaged.exit, 'failed');
    assert.match(damaged.message ?? '', /is damaged/);
    assert.deepEqual(damaged.written, []);
    scenario.state.kept.delete(id);
    const gone = await back(scenario);
    assert.equal(gone.exit, 'blocked');
    assert.match(gone.message ?? '', /is gone from the cluster/);
  });
});
