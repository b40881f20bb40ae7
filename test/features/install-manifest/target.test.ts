import assert from 'node:assert/strict';
import { preflightChecks } from '../../../src/features/preflight/catalogue.ts';
import type { PlannedObject } from '../../../src/kernel/plan.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, crd, daemonSet, found, healthy, object, resource, targetOf } from '../../fixtures/facts.ts';
import { checkCases, judgeAll } from '../../support/judged-worlds.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const operated = {
  detection: found({ path: 'operator', variant: undefined }),
  target: { unread: 'no full manifest' },
  preview: { unread: 'no full manifest' },
};

checkCases('NS-601', {
  'passes if it was read': { is: 'ok', says: pattern`${CALICO_TARGET} from .*; no sums of a later release come with this program$` },
  'fails with the reason if not': { facts: { target: { unread: 'HTTP 404' } }, is: 'error', says: /HTTP 404/ },
  'does not apply without an installation': { facts: { detection: { value: { type: 'none', because: '' } } }, is: 'not-applicable' },
  'says it once for a path without a full manifest': { facts: operated, is: 'error', says: /^no full manifest$/ },
});

describe('a target that could not be read', () => {
  const hintOf = (unread: { readonly unread: string; readonly hint?: string }, id: string, release: string) => {
    const findings = judgeAll(preflightChecks, { ...healthy, target: unread }, contextOf({ release }));
    const { hint, next } = findings.find((one) => one.id === id) ?? assert.fail(id);
    return { hint, next };
  };
  const unread = { unread: 'no network', hint: 'give a folder with --manifest-url DIR' };

  it('says why, and what helps, in NS-601 alone; the other checks that need it are folded under it', () => {
    const why = `https://files.example/${CALICO_TARGET}/manifests/calico.yaml: no answer`;
    const target = { unread: why, hint: unread.hint };
    const findings = judgeAll(preflightChecks, { ...healthy, target, preview: target }, contextOf({ release: calico.defaultRelease }));
    const told = findings.filter(({ message }) => message.includes(why));
    assert.deepEqual(
      told.map(({ id, hint }) => ({ id, hint })),
      [{ id: 'NS-601', hint: unread.hint }],
    );
    const folded = findings.filter(({ message }) => message === 'not evaluated: needs NS-601');
    assert.ok(folded.length >= 8, folded.map(({ id }) => id).join());
    assert.deepEqual(
      findings.find(({ id }) => id === 'NS-601')?.neededBy,
      folded.map(({ id }) => id),
    );
    assert.deepEqual(
      findings.filter(({ outcome }) => outcome === 'error').map(({ id }) => id),
      ['NS-601'],
    );
  });

  it('is not accepted for the checks that need it by accepting NS-601', () => {
    const accept = [{ check: 'NS-601' }];
    const findings = judgeAll(preflightChecks, { ...healthy, target: unread }, contextOf({ release: calico.defaultRelease, accept }));
    assert.equal(findings.find(({ id }) => id === 'NS-601')?.outcome, 'accepted');
    const referring = findings.filter(({ message }) => /see NS-601/.test(message));
    assert.ok(referring.length >= 8, referring.map(({ id }) => id).join());
    for (const { id, outcome, hint = '' } of referring) {
      assert.match(outcome, /^(error|warning)$/, id);
      assert.match(hint, /NS-601/, id);
    }
  });

  it('leads to the default release only from another one', () => {
    assert.equal(String(hintOf(unread, 'NS-601', calico.defaultRelease).next), 'kubectl netsvc-upgrade explain NS-601');
    assert.match(String(hintOf(unread, 'NS-601', 'v3.31.2').next ?? ''), / --release /);
  });
});

for (const id of ['NS-501', 'NS-504', 'NS-602', 'NS-603', 'NS-604', 'NS-605'] as const) {
  checkCases(id, {
    'leaves a path without a full manifest to NS-601': { facts: operated, is: 'not-applicable' },
    'fails on an unread target elsewhere': {
      facts: { target: { unread: 'HTTP 404' }, preview: { unread: 'HTTP 404' } },
      is: 'error',
      says: /not read: see NS-601$/,
    },
  });
}

checkCases('NS-602', {
  'passes if every kind is served': { is: 'ok' },
  'fails if one is not': {
    facts: { target: targetOf(object('policy/v1beta1', 'PodSecurityPolicy/a')) },
    is: 'error',
    about: ['PodSecurityPolicy/a'],
  },
  'counts kinds that the target brings itself': {
    facts: { target: targetOf(crd('ippools', 'IPPool'), resource('IPPool/a')) },
    is: 'ok',
  },
});

const planned = (change: PlannedObject['change'], note?: string, isImmutable?: true) => ({
  preview: {
    value: [
      {
        ref: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'kube-system', name: 'j' },
        change,
        fields: [],
        hidden: [],
        taken: [],
        note,
        ...(isImmutable ? { isImmutable } : {}),
      },
    ],
  },
});

checkCases('NS-603', {
  'passes if nothing is refused': { facts: planned('update'), is: 'ok', says: /1 object/ },
  'fails with what is, as one that cannot be changed where the server says so': {
    facts: planned('refused', 'spec.template: field is immutable', true),
    is: 'error',
    about: ['Job/kube-system/j'],
    hint: /^A field that cannot be changed differs/,
  },
  'fails with the reason of the server where a sentence of this program has that word': {
    facts: planned('refused', 'the server has no kind ImmutableThing in example.org/v1'),
    is: 'error',
    hint: /^Fix the reason that the server gives/,
  },
  'fails if there was no dry run': { facts: { preview: { unread: 'forbidden' } }, is: 'error', says: /forbidden/ },
});

const selector = (matchLabels: object) => ({ daemonSets: { value: [daemonSet({ selector: { matchLabels } })] } });

checkCases('NS-604', {
  'passes if they are equal': { is: 'ok' },
  'fails if a live one differs': { facts: selector({ app: 'x' }), is: 'error', about: ['DaemonSet/kube-system/calico-node'] },
  'does not mind what is new': { facts: { daemonSets: { value: [] } }, is: 'ok' },
});

const twice = daemonSet({ template: { spec: { initContainers: [{ name: 'i', env: [{ name: 'A' }, { name: 'A' }] }] } } });

checkCases('NS-605', {
  'passes if each is set once': { is: 'ok' },
  'fails if one is set twice': { facts: { target: targetOf(twice) }, is: 'error', about: ['DaemonSet/kube-system/calico-node'] },
  'does not apply without workloads': { facts: { target: targetOf(), detection: found() }, is: 'not-applicable' },
});
