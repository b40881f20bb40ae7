import assert from 'node:assert/strict';
import { accessChecks } from '../../../src/features/preflight/access-checks.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { contextOf, found } from '../../fixtures/facts.ts';
import { RECORD, upgradeTo } from '../../fixtures/stored-record.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const denied = (required: boolean) => {
  const request = { verb: 'patch', group: 'apps', resource: 'daemonsets', namespace: 'kube-system' };
  return { access: { value: [{ request, allowed: false, why: 'apply the target', required }] } };
};

checkCases('NS-009', {
  'passes if everything is allowed': { is: 'ok', says: /1 permission needed by the plan/ },
  'fails on a missing permission and names it': { facts: denied(true), is: 'error', about: ['patch daemonsets.apps in kube-system'] },
  'warns on one that may be had in another way': { facts: denied(false), is: 'warning' },
  'leads to the roles of the installed variant': {
    facts: denied(true),
    is: 'error',
    next: /^kubectl netsvc-upgrade permissions --for run --profile calico --path manifest --variant calico-typha$/,
  },
  'leads to the roles of the path where there is an operator': {
    facts: { ...denied(true), detection: found({ path: 'chart', variant: undefined }) },
    is: 'error',
    next: /^kubectl netsvc-upgrade permissions --for run --profile calico --path chart$/,
  },
});

const acquiredAt = new Date(contextOf({}).startedAt.getTime() - 240_000).toISOString();
const heldBy = (identity: string) => ({ lockHolder: { value: { identity, acquiredAt, renewedAt: acquiredAt } } });

checkCases('NS-011', {
  'passes if nobody holds it': { is: 'ok' },
  'fails with its own exit code if somebody does': { facts: heldBy('anna@host'), is: 'error', says: /anna@host/, exit: 'locked' },
});

const record: RunRecord = { ...RECORD, runId: 'r1', clusterUid: 'cluster-1', intent: upgradeTo(CALICO_TARGET), startedBy: 'anna' };
const recorded = (change: Partial<RunRecord>) => ({ record: { value: { ...record, ...change } } });

checkCases('NS-012', {
  'passes without a record': { is: 'ok' },
  'passes if the same run goes on': { facts: recorded({}), is: 'ok', says: /continues/ },
  'passes after a finished run': { facts: recorded({ intent: upgradeTo('v3.31.0'), finishedAt: '2026-01-01T11:00:00Z' }), is: 'ok' },
  'fails on an unfinished rollback, also to this release': {
    facts: recorded({ intent: { kind: 'rollback', to: CALICO_TARGET }, toolVersion: '9' }),
    is: 'error',
    says: pattern`^a rollback to ${CALICO_TARGET} is unfinished`,
    next: /upgrade rollback$/,
  },
  'fails on an unfinished run to another release': {
    facts: recorded({ intent: upgradeTo('v3.31.0') }),
    is: 'error',
    next: /--release v3\.31\.0/,
  },
  'fails on the record of another cluster': { facts: recorded({ clusterUid: 'other' }), is: 'error' },
});

describe('a lock that another run holds', () => {
  it('is told with ages on the screen, and with its times in the document', () => {
    const check = accessChecks.find(({ id }) => id === 'NS-011') ?? assert.fail('NS-011');
    const verdict = check.judge(heldBy('anna@host') as unknown as Parameters<typeof check.judge>[0], contextOf({}));
    assert.deepEqual(verdict.status === 'failed' && verdict.evidence, [
      {
        text: 'anna@host',
        detail: `held since ${acquiredAt}, last renewed ${acquiredAt}`,
        brief: 'taken 4m ago, last renewed 4m ago',
      },
    ]);
  });
});
