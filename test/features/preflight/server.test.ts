import assert from 'node:assert/strict';
import { serverChecksBack } from '../../../src/features/preflight/server-checks.ts';
import type { Context } from '../../../src/kernel/context.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, found, NOW, object } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { checkCases, judgeAll } from '../../support/judged-worlds.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const version = (minor: string) => ({ server: { value: { gitVersion: `v1.${minor}.0`, major: '1', minor } } });
const service = (name: string, status: string) =>
  object('apiregistration.k8s.io/v1', `APIService/${name}`, { status: { conditions: [{ type: 'Available', status }] } });

/** An unfinished run to the target, before and after it has applied it. */
const recordOf = (...wrote: readonly string[]) => {
  const { clusterUid, goal } = contextOf();
  return { record: { value: runRecord({ clusterUid, intent: upgradeTo(goal.release), path: 'operator', wrote }) } };
};
const [begun, applied] = [recordOf('backup'), recordOf('backup', 'crds', 'apply')];

checkCases('NS-001', {
  'passes if the server answers': { is: 'ok', says: /v1\.35\.1/ },
  'fails with the reason if it does not': { facts: { server: { unread: 'connection refused' } }, is: 'error', says: /connection refused/ },
});

checkCases('NS-002', {
  'passes on a tested version': { is: 'ok' },
  'warns on an untested version': { facts: version('32'), is: 'warning' },
  'fails below the floor': { facts: version('30'), is: 'error', says: /1\.31/ },
  'reads minors with a plus sign': { facts: version('34+'), is: 'ok' },
  'fails on a version that is no number': { facts: version('x'), is: 'error' },
  'names the tested way where the cluster cannot jump': {
    facts: { ...version('30'), detection: found({ release: 'v3.28.1' }) },
    is: 'error',
    hint: pattern`The tested way: service v3\.28\.1 → v3\.29\.\d+, Kubernetes 1\.30 → 1\.31, .*service v\S+ → ${CALICO_TARGET}\.`,
    next: /netsvc-upgrade path$/,
  },
  'says why there is no tested way': {
    facts: { ...version('16'), detection: found({ release: 'v3.20.6' }) },
    is: 'error',
    hint: /There is no tested way from here: .*with Kubernetes 1\.16 it tested v3\.15, v3\.16;/,
  },
});

checkCases('NS-006', {
  'passes within half a minute': { facts: { clockSkewMs: { value: -29_000 } }, is: 'ok' },
  'warns beyond half a minute': { facts: { clockSkewMs: { value: 31_000 } }, is: 'warning' },
  'fails beyond five minutes': { facts: { clockSkewMs: { value: -301_000 } }, is: 'error' },
});

checkCases('NS-007', {
  'passes if every group was discovered': { is: 'ok' },
  'warns about a foreign group': {
    facts: { discovery: { value: { kinds: [], failed: ['metrics.k8s.io'] } } },
    is: 'warning',
    about: ['APIGroup/metrics.k8s.io'],
  },
  'fails for the group of the service': { facts: { discovery: { value: { kinds: [], failed: ['projectcalico.org'] } } }, is: 'error' },
  'expects it of a run that has applied the target': {
    facts: { discovery: { value: { kinds: [], failed: ['projectcalico.org'] } }, ...applied },
    is: 'expected',
    next: /netsvc-upgrade run$/,
  },
  'does not expect another group of it': {
    facts: { discovery: { value: { kinds: [], failed: ['projectcalico.org', 'metrics.k8s.io'] } }, ...applied },
    is: 'error',
  },
  'takes a group with a longer name for a foreign one': {
    facts: { discovery: { value: { kinds: [], failed: ['other.projectcalico.org'] } } },
    is: 'warning',
  },
});

checkCases('NS-008', {
  'passes if all are available': { is: 'ok' },
  'warns about a foreign API': {
    facts: { apiServices: { value: [service('v1beta1.metrics.k8s.io', 'False')] } },
    is: 'warning',
    about: ['APIService/v1beta1.metrics.k8s.io'],
  },
  'fails for the API of the service': {
    facts: { apiServices: { value: [service('v3.projectcalico.org', 'False')] } },
    is: 'error',
    hint: /the command below says it.*look at the pods of that server\. Never remove the APIService/,
  },
  'expects it of a run that has applied the target': {
    facts: { apiServices: { value: [service('v3.projectcalico.org', 'False')] }, ...applied },
    is: 'expected',
  },
  'does not expect it of a run that has not': {
    facts: { apiServices: { value: [service('v3.projectcalico.org', 'False')] }, ...begun },
    is: 'error',
  },
  'warns about one whose state is unknown': { facts: { apiServices: { value: [service('v1.x', 'Unknown')] } }, is: 'warning' },
  'fails for the API of the service where it reports nothing': {
    facts: {
      apiServices: {
        value: [object('apiregistration.k8s.io/v1', 'APIService/v3.projectcalico.org', { spec: { service: { name: 'api' } }, status: {} })],
      },
    },
    is: 'error',
    about: ['APIService/v3.projectcalico.org'],
  },
  'does not mind one that reports nothing yet': {
    facts: { apiServices: { value: [object('apiregistration.k8s.io/v1', 'APIService/v1.x')] } },
    is: 'ok',
  },
});

const oldApi = (agoMs: number) => ({
  namespaces: {
    value: [object('v1', 'Namespace/calico-apiserver', { metadata: { deletionTimestamp: new Date(NOW - agoMs).toISOString() } })],
  },
});

const terminating = (agoMs: number) => ({
  namespaces: { value: [object('v1', 'Namespace/old', { metadata: { deletionTimestamp: new Date(NOW - agoMs).toISOString() } })] },
});

checkCases('NS-013', {
  'passes if none is being deleted': { is: 'ok' },
  'gives a deletion five minutes': { facts: terminating(200_000), is: 'ok' },
  'warns after that': { facts: terminating(400_000), is: 'warning', about: ['Namespace/old'], context: contextOf() },
  'expects the old namespace of the API server of a run that has applied the target': {
    facts: { ...oldApi(400_000), ...applied },
    is: 'expected',
  },
});

describe('what a rollback asks of this machine and the server', () => {
  const back = (release: string): Context => ({ ...contextOf({ release }, calico), intent: { kind: 'rollback' } });
  const foundBack = (release: string, minor: string, clockSkewMs = 0) => {
    const facts = { server: version(minor).server, clockSkewMs: { value: clockSkewMs } };
    return Object.fromEntries(judgeAll(serverChecksBack, facts, back(release)).map((one) => [one.id, one]));
  };

  it('is both, and nothing else', () => {
    assert.deepEqual(
      serverChecksBack.map(({ id }) => id),
      ['NS-002', 'NS-006'],
    );
  });

  it('is whether the old release was tested with this Kubernetes: a warning where it was not, whatever the floor of its CRDs', () => {
    const outcomes = [foundBack('v3.31.7', '34'), foundBack('v3.26.4', '34'), foundBack('v3.32.0', '30'), foundBack('v9.9.9', '34')];
    assert.deepEqual(
      outcomes.map((one) => one['NS-002']?.outcome),
      ['ok', 'warning', 'warning', 'warning'],
    );
    const { message = '', hint = '' } = outcomes[1]?.['NS-002'] ?? {};
    assert.match(message, /^Kubernetes v1\.34\S* is not among the versions that v3\.26\.4 was tested with \(1\.24, .*1\.28\)$/);
    assert.match(hint, /ran on this cluster before the upgrade/);
    assert.doesNotMatch(hint, /tested way/);
  });

  it('is whether the clocks agree, by the same limits as before an upgrade', () => {
    assert.deepEqual(
      [0, 31_000, 301_000].map((skew) => foundBack('v3.31.7', '34', skew)['NS-006']?.outcome),
      ['ok', 'warning', 'error'],
    );
  });
});
