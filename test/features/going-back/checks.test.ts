import assert from 'node:assert/strict';
import { type BackFacts, backChecks, labelChecks } from '../../../src/features/going-back/checks.ts';
import { hiddenIn } from '../../../src/features/going-back/own-metadata.ts';
import type { NameProblem, NamesJudged } from '../../../src/features/going-back/policy-names.ts';
import type { Reading } from '../../../src/kernel/check.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';

const back = (release: string, accept: Context['options']['accept'] = []): Context => ({
  ...contextOf({ release, accept }, calico),
  intent: { kind: 'rollback' },
});

const problem = (kind: string, name: string, detail: string): NameProblem => ({
  object: { apiVersion: 'crd.projectcalico.org/v1', kind, name },
  detail,
});
const NAMES: NamesJudged = { moves: [], unnameable: [], conflicts: [], handWritten: [] };
const NOTHING: BackFacts = {
  installation,
  names: { value: NAMES },
  tiered: { value: [] },
  newBlocks: { value: [] },
  unread: { value: [] },
  tables: { value: [] },
};

const outcomes = (facts: Partial<BackFacts>, context: Context) =>
  Object.fromEntries(judgeAll(backChecks, { ...NOTHING, ...facts }, context).map(({ id, outcome }) => [id, outcome]));

const PASSED = {
  'NS-109': 'ok',
  'NS-110': 'ok',
  'NS-760': 'ok',
  'NS-761': 'ok',
  'NS-762': 'ok',
  'NS-763': 'ok',
  'NS-765': 'ok',
  'NS-766': 'ok',
};
const UNREAD: Reading<never> = { unread: 'forbidden (403)' };

describe('the checks of a rollback', () => {
  it('pass where nothing stands against it', () => {
    assert.deepEqual(outcomes({}, back('v3.26.4')), PASSED);
  });

  it('refuse what somebody else manages', () => {
    const by = (kind: 'platform' | 'gitops') => ({
      installation: { ...installation, managedBy: [{ name: 'AKS', kind, evidence: 'label', hint: 'Use it.' } as const] },
    });
    assert.deepEqual(outcomes(by('platform'), back('v3.29.7'))['NS-109'], 'error');
    assert.deepEqual(
      outcomes(by('gitops'), back('v3.29.7'))['NS-110'],
      'warning',
      'none of the objects that are written is known to be its own',
    );
  });

  it('send whoever goes back to the platform for that, not for an upgrade', () => {
    const managedBy = [{ name: 'AKS', kind: 'platform', evidence: 'label', hint: 'Upgrade the cluster through Azure.' } as const];
    const found = judgeAll(backChecks, { ...NOTHING, installation: { ...installation, managedBy } }, back('v3.29.7'));
    const { message = '', hint = '' } = found.find(({ id }) => id === 'NS-109') ?? {};
    assert.match(message, /would take the rollback back/);
    assert.equal(hint, 'Go back by the means of AKS: what this program puts back it would replace again.');
  });

  it('cannot tell what the old release does not act upon without its definitions', () => {
    const unread: Reading<never> = { unread: 'neither this program nor /srv/releases has calico.yaml of v3.26.4' };
    assert.equal(outcomes({ unread }, back('v3.26.4'))['NS-765'], 'error');
    assert.equal(outcomes({ unread }, back('v3.26.4', [{ check: 'NS-765' }]))['NS-765'], 'accepted');
  });

  it('ask only what the old release cannot read', () => {
    const not = 'not-applicable';
    assert.deepEqual(outcomes({}, back('v3.29.7')), { ...PASSED, 'NS-760': not });
    assert.deepEqual(outcomes({}, back('v3.31.7')), { ...PASSED, 'NS-760': not, 'NS-761': not });
    assert.deepEqual(outcomes({}, back('v3.32.0')), {
      ...PASSED,
      'NS-760': not,
      'NS-761': not,
      'NS-762': not,
      'NS-763': not,
      'NS-765': 'ok',
      'NS-766': 'ok',
    });
  });

  const facts: readonly [string, Partial<BackFacts>][] = [
    ['NS-760', { tiered: { value: [problem('GlobalNetworkPolicy', 'sec.web', 'tier sec')] } }],
    ['NS-761', { newBlocks: { value: [problem('IPAMBlock', '10-9-0-0-26', '10.9.0.0/26: 3 held by virtual:load-balancer')] } }],
    [
      'NS-762',
      {
        names: {
          value: { ...NAMES, unnameable: [problem('GlobalNetworkPolicy', 'a.b', 'it refuses to change policies with a dot in the name')] },
        },
      },
    ],
    [
      'NS-763',
      {
        names: {
          value: {
            ...NAMES,
            conflicts: [
              problem(
                'GlobalNetworkPolicy',
                'web',
                'GlobalNetworkPolicy/default.web differs from it: the old release knows both as default.web',
              ),
            ],
          },
        },
      },
    ],
    ['NS-766', { tables: { value: [problem('FelixConfiguration', 'node.node-01', 'bpfEnabled true')] } }],
  ];
  for (const [id, found] of facts)
    it(`${id} names what it finds, and nobody can accept it`, () => {
      assert.deepEqual(outcomes(found, back('v3.26.4')), { ...PASSED, [id]: 'error' });
      assert.equal(outcomes(found, back('v3.26.4', [{ check: id }]))[id], 'error');
    });

  it('fail where nothing could be read', () => {
    const {
      'NS-109': _,
      'NS-110': __,
      ...found
    } = outcomes({ names: UNREAD, tiered: UNREAD, newBlocks: UNREAD, unread: UNREAD, tables: UNREAD }, back('v3.26.4'));
    assert.deepEqual([...new Set(Object.values(found))], ['error']);
  });

  it('NS-765 names what the old release does not act upon, until each is accepted by its name', () => {
    const object = { apiVersion: 'policy.networking.k8s.io/v1alpha2', kind: 'ClusterNetworkPolicy', name: 'deny-tenants' };
    const found = { unread: { value: [{ object, detail: 'v3.31.7 has no such kind' }] } };
    const outcome = (context: Context) => outcomes(found, context)['NS-765'];
    assert.equal(outcome(back('v3.31.7')), 'error');
    assert.equal(outcome(back('v3.31.7', [{ check: 'NS-765' }])), 'error');
    assert.equal(outcome(back('v3.31.7', [{ check: 'NS-765', subject: 'ClusterNetworkPolicy/deny-tenants' }])), 'accepted');
    assert.equal(outcomes({ unread: { value: undefined } }, back('v3.31.7'))['NS-765'], 'not-applicable');
  });

  it('NS-764 names objects with labels that Kubernetes refuses, until that is accepted by name', () => {
    const object: KubeObject = {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'HostEndpoint',
      metadata: { name: 'node-01-all', annotations: { 'projectcalico.org/metadata': '{"labels":{"team":"a b"}}' } },
    };
    const hidden = hiddenIn(object, calico.apiGroup);
    assert.ok(hidden);
    const found = { found: { value: [{ object, hidden, resource: 'hostendpoints.crd.projectcalico.org' }] } };
    const outcome = (context: Context) => judgeAll(labelChecks, found, context)[0]?.outcome;
    assert.equal(outcome(back('v3.26.4')), 'error');
    assert.equal(outcome(back('v3.26.4', [{ check: 'NS-764', subject: 'HostEndpoint/node-01-all' }])), 'accepted');
    assert.equal(outcome(back('v3.28.0')), 'not-applicable');
  });
});
