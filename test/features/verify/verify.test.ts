import assert from 'node:assert/strict';
import type { IpamFault } from '../../../src/features/ipam/index.ts';
import { verifyChecks } from '../../../src/features/verify/checks.ts';
import type { ServiceImage, VerifyFacts } from '../../../src/features/verify/survey.ts';
import type { Finding } from '../../../src/kernel/check.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { RolloutProgress } from '../../../src/kernel/rollout.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';
import { CALICO_LINE, CALICO_TARGET, pattern } from '../../support/target.ts';

const image = (name: string, tag: string, more: Partial<ServiceImage> = {}): ServiceImage => ({
  pod: `Pod/kube-system/${name}`,
  container: name,
  image: `quay.io/calico/${name}:${tag}`,
  ...(tag.startsWith('v') ? { release: tag } : {}),
  isCli: false,
  ...more,
});

const rollout = (pending: string): RolloutProgress => ({
  target: {
    kind: 'DaemonSet',
    namespace: 'kube-system',
    name: 'calico-node',
    container: 'c',
    image: 'i',
    ready: { type: 'all-containers' },
  },
  desired: 2,
  pods: [],
  done: pending === '',
  pending,
});

const lost = (owner: string, more: { readonly isMute?: true } = {}) => ({
  ...{
    object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'x' },
    text: 'ConfigMap/a/x',
    detail: `owner ${owner} is lost`,
  },
  ...{ isStripped: false, ...more },
});

const HELD_TYPHA = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
  metadata: {
    ...{ name: 'calico-typha', namespace: 'calico-system' },
    annotations: { 'netsvc-upgrade/held-by': '20260101T000100Z-2c9e0000' },
  },
};
const CLI = '/usr/local/bin/calicoctl';
const good: VerifyFacts = {
  datastore: { value: 'api' },
  clusterVersion: {
    cli: { by: `${CLI} version`, value: CALICO_TARGET },
    record: { value: { by: 'ClusterInformation/default', value: CALICO_TARGET } },
  },
  otherPods: { value: [] },
  images: { value: [image('node', CALICO_TARGET), image('apiserver', CALICO_TARGET)] },
  rollouts: { value: [rollout('')] },
  reasons: [],
  operator: { value: [] },
  held: { value: [] },
  leftovers: { value: [] },
  leftBehind: { value: [] },
  temporaryPolicies: { value: [] },
  owners: { value: { references: 1, dangling: [], unread: [] } },
  stillOff: { value: { objects: 0 } },
  missed: { value: [] },
  ipam: { value: { blocks: 3, added: [], uncompared: [] } },
  clis: { value: [{ file: CLI, release: CALICO_TARGET }] },
};

const judge = (id: string, change: Partial<VerifyFacts>, release = CALICO_TARGET): Finding => {
  const finding = judgeAll(verifyChecks, { ...good, ...change }, contextOf({ release })).find((one) => one.id === id);
  assert.ok(finding, id);
  return finding;
};

const versions = (cli: VerifyFacts['clusterVersion']['cli'], own?: string): Pick<VerifyFacts, 'clusterVersion'> => ({
  clusterVersion: { cli, record: { value: own === undefined ? { by: 'record', because: 'there is none' } : { by: 'record', value: own } } },
});
const said = (value: string) => ({ by: 'calicoctl version', value });

const compared = (added: readonly IpamFault[], ...uncompared: readonly IpamFault['kind'][]): Partial<VerifyFacts> => ({
  ipam: { value: { blocks: 3, added, uncompared } },
});

type Case = readonly [title: string, id: string, change: Partial<VerifyFacts>, outcome: Finding['outcome'], says: RegExp];

const cases: readonly Case[] = [
  ['the cluster version is the very release', 'NS-301', {}, 'ok', pattern`^Cluster Version ${CALICO_TARGET} \(`],
  ['it is another patch of the line', 'NS-301', versions(said(`${CALICO_LINE}.0`), `${CALICO_LINE}.0`), 'ok', pattern`${CALICO_LINE}\.0`],
  ['it is printed as the bare line', 'NS-301', versions(said(CALICO_LINE)), 'ok', pattern`${CALICO_LINE}`],
  ['it is a build of the line', 'NS-301', versions(said(`${CALICO_TARGET}-0.dev-5-gabc`)), 'ok', /dev/],
  ['it is old', 'NS-301', versions(said('v3.27.5'), 'v3.27.5'), 'error', pattern`is v3\.27\.5, not of ${CALICO_LINE}`],
  ['it only looks alike', 'NS-301', versions(said(`${CALICO_LINE}0.1`), `${CALICO_LINE}0.1`), 'error', pattern`not of ${CALICO_LINE}`],
  ['the CLI talks to another cluster', 'NS-301', versions(said(CALICO_TARGET), 'v3.27.5'), 'error', /another cluster/],
  ['only the record says it', 'NS-301', versions({ notAsked: 'none found' }, CALICO_TARGET), 'warning', /; calicoctl was not asked: none/],
  ['the CLI gave up', 'NS-301', versions({ by: 'c', because: 'no answer in time' }, CALICO_TARGET), 'warning', /no answer in time/],
  ['the record is old and there is no CLI', 'NS-301', versions({ notAsked: 'none' }, 'v3.31.0'), 'error', /v3\.31\.0/],
  ['nobody knows', 'NS-301', versions({ notAsked: 'none' }), 'error', /no cluster version/],
  [
    'nobody may know',
    'NS-301',
    { clusterVersion: { cli: { notAsked: 'none' }, record: { unread: 'forbidden (403)' } } },
    'error',
    /forbidden/,
  ],
  ['every container is new', 'NS-302', {}, 'ok', /all 2 containers/],
  [
    'an API server was left behind',
    'NS-302',
    { images: { value: [image('node', CALICO_TARGET), image('apiserver', 'v3.27.5')] } },
    'error',
    /1 container .*apiserver/,
  ],
  [
    'only a pod of the CLI is old',
    'NS-302',
    { images: { value: [image('node', CALICO_TARGET), image('ctl', 'v3.18.1', { isCli: true })] } },
    'warning',
    /ctl/,
  ],
  ['an image does not tell its release', 'NS-302', { images: { value: [image('node', 'latest')] } }, 'warning', /does not tell/],
  [
    'an API server is of a later release',
    'NS-302',
    { images: { value: [image('node', CALICO_TARGET), image('apiserver', 'v3.99.0')] } },
    'error',
    pattern`1 container newer than ${CALICO_TARGET}: .*apiserver`,
  ],
  [
    'only a pod of the CLI is newer',
    'NS-302',
    { images: { value: [image('node', CALICO_TARGET), image('ctl', 'v3.99.0', { isCli: true })] } },
    'warning',
    /newer.*ctl/,
  ],
  [
    'old, newer and untold ones are mixed',
    'NS-302',
    { images: { value: [image('node', 'v3.27.5'), image('typha', 'v3.99.0'), image('csi', 'latest')] } },
    'error',
    pattern`older than ${CALICO_TARGET}: .*node; 1 container newer than ${CALICO_TARGET}: .*typha; 1 container whose image does not tell its release: .*csi`,
  ],
  ['a build of the release runs', 'NS-302', { images: { value: [image('node', `${CALICO_TARGET}-fips`)] } }, 'ok', /all 1 container/],
  ['there is no pod of the service', 'NS-302', { images: { value: [image('ctl', CALICO_TARGET, { isCli: true })] } }, 'error', /no pod/],
  ['the rollout goes on', 'NS-303', { rollouts: { value: [rollout('1 of 2 pods')] } }, 'error', /DaemonSet\/kube-system\/calico-node/],
  [
    'the cluster says why it goes on',
    'NS-303',
    { rollouts: { value: [rollout('1 of 2 pods')] }, reasons: ['a says: Unhealthy: 503'] },
    'error',
    /calico-node; a says: Unhealthy: 503$/,
  ],
  ['no workload was found', 'NS-303', { rollouts: { value: [] } }, 'error', /no workload/],
  [
    'a leftover is there',
    'NS-304',
    { leftovers: { value: [{ object: 'DaemonSet/a/b', names: ['v'] }] } },
    'error',
    /DaemonSet\/a\/b still has/,
  ],
  [
    'the operator is not done',
    'NS-310',
    { operator: { value: [{ point: 2, subject: 'Installation/default', why: `reports v3.27.5, not ${CALICO_TARGET}` }] } },
    'error',
    /not done \(1 sign\): Installation\/default/,
  ],
  ['there is no operator', 'NS-310', { operator: { value: undefined } }, 'not-applicable', /no operator on this install path/],
  ['Typha is still held', 'NS-313', { held: { value: [HELD_TYPHA] } }, 'error', /still holds Deployment\/calico-system\/calico-typha/],
  ['nothing can be held', 'NS-313', { held: { value: undefined } }, 'not-applicable', /nothing is held/],
  [
    'an address went wrong since the run began',
    'NS-314',
    compared([{ kind: 'tunnel', text: 'n1 10.0.1.1', detail: 'VXLAN tunnel address without an allocation', nodes: ['n1'] }]),
    'error',
    /^since the upgrade began: 1 tunnel address without an allocation: n1 10\.0\.1\.1$/,
  ],
  ['no address went wrong', 'NS-314', compared([]), 'ok', /^3 blocks, nothing wrong that was right before the upgrade$/],
  ['too much was wrong before', 'NS-314', compared([], 'left-over'), 'ok', /too much was wrong before to compare: left-over$/],
  ['no run kept how they were', 'NS-314', { ipam: { value: undefined } }, 'not-applicable', /no run kept here/],
  ['there is nothing to compare with', 'NS-304', { leftovers: { value: undefined } }, 'not-applicable', /no full manifest/],
  [
    'an empty CRD is left behind',
    'NS-305',
    { leftBehind: { value: [{ name: 'a.b', objects: 0 }] } },
    'ok',
    /check again before you do that there are none$/,
  ],
  [
    'a CRD with objects is left behind',
    'NS-305',
    { leftBehind: { value: [{ name: 'a.b', objects: 2 }] } },
    'warning',
    /no longer enforces/,
  ],
  [
    'the temporary policy is there',
    'NS-306',
    { temporaryPolicies: { value: [object('crd.projectcalico.org/v1', 'GlobalNetworkPolicy/default.allow-all-upgrade')] } },
    'warning',
    /default\.allow-all-upgrade still allows/,
  ],
  [
    'policies are not in the API, and the CLI cannot be asked',
    'NS-306',
    { datastore: { value: 'kvstore' }, temporaryPolicies: { unread: 'no calicoctl of v3.32 was found' } },
    'warning',
    /no calicoctl of v3\.32 was found/,
  ],
  ['every owner exists', 'NS-307', {}, 'ok', /1 owner reference/],
  [
    'an owner has another UID',
    'NS-307',
    { owners: { value: { references: 1, dangling: [lost('a')], unread: [] } } },
    'error',
    /1 owner reference to objects that no longer exist: ConfigMap\/a\/x/,
  ],
  [
    'owners cannot be listed',
    'NS-307',
    { owners: { value: { references: 1, dangling: [], unread: [{ kind: 'networksets.projectcalico.org', because: '503' }] } } },
    'error',
    /could not all be followed: networksets\.projectcalico\.org$/,
  ],
  ['references are back', 'NS-311', {}, 'ok', /no owner reference waits/],
  [
    'references were removed and forgotten',
    'NS-311',
    { stillOff: { value: { objects: 2 } } },
    'error',
    /of 2 objects were removed, and have not/,
  ],
  [
    'something was written meanwhile for the newer release',
    'NS-767',
    {
      missed: {
        value: [{ object: { apiVersion: 'v1', kind: 'NetworkSet', namespace: 'web', name: 'blocked' }, detail: 'not seen: team' }],
      },
    },
    'error',
    /1 object was written meanwhile .*NetworkSet\/web\/blocked/,
  ],
  ['the journal cannot be read', 'NS-311', { stillOff: { unread: 'the journal is of another cluster' } }, 'error', /another cluster/],
  [
    'an older CLI is there',
    'NS-308',
    { clis: { value: [{ file: '/a/calicoctl', release: 'v3.27.5' }] } },
    'warning',
    /1 older CLI on PATH: \/a/,
  ],
  ['a newer CLI is there', 'NS-308', { clis: { value: [{ file: '/a/calicoctl', release: 'v3.99.0' }] } }, 'ok', /no older/],
  [
    'a CLI does not tell',
    'NS-308',
    { clis: { value: [{ file: '/a/calicoctl' }] } },
    'warning',
    /^1 CLI of unknown release on PATH: \/a\/calicoctl$/,
  ],
  [
    'one CLI is older and another does not tell',
    'NS-308',
    { clis: { value: [{ file: '/a/calicoctl', release: 'v3.18.0' }, { file: '/b/calicoctl' }] } },
    'warning',
    /^1 older CLI on PATH: \/a\/calicoctl; 1 CLI of unknown release on PATH: \/b\/calicoctl$/,
  ],
];

describe('the checks of verify', () => {
  for (const [title, id, change, outcome, says] of cases) {
    it(`${id}: ${title}`, () => {
      const finding = judge(id, change);
      assert.equal(finding.outcome, outcome, finding.message);
      assert.match(finding.message, says);
      assert.ok(finding.outcome === 'ok' || finding.outcome === 'not-applicable' || finding.hint, 'a hint');
    });
  }

  it('tells owners that are gone from those that are not found by their names, and what helps against each', () => {
    const told = (...dangling: readonly ReturnType<typeof lost>[]) => {
      const found = judge('NS-307', { owners: { value: { references: 2, dangling, unread: [] } } });
      const { message, hint = '', next = '', evidence } = found;
      const why = / to objects that (.*): ConfigMap/.exec(message)?.[1];
      return [why, /Put the owner/.test(hint), /Remove/.test(hint), String(next).split(' ').at(-1), evidence.map(({ detail }) => detail)];
    };
    const [mute, gone] = [lost('a', { isMute: true }), lost('b')];
    assert.deepEqual(told(mute), ['are not found by their names', false, true, 'strip', [mute.detail]]);
    assert.deepEqual(told(gone), ['no longer exist', true, false, 'list', [gone.detail]]);
    const both = 'no longer exist, or are not found by their names';
    assert.deepEqual(told(mute, gone), [both, true, true, 'strip', [mute.detail, gone.detail]]);
  });

  it('names the command that shows the temporary policy', () => {
    const policy = object('crd.projectcalico.org/v1', 'GlobalNetworkPolicy/default.allow-all-upgrade');
    assert.equal(
      String(judge('NS-306', { temporaryPolicies: { value: [policy] } }).next),
      'kubectl get globalnetworkpolicy.crd.projectcalico.org default.allow-all-upgrade -o yaml',
    );
    const listed = object('projectcalico.org/v3', 'GlobalNetworkPolicy/allow-all-upgrade');
    assert.equal(
      String(judge('NS-306', { datastore: { value: 'kvstore' }, temporaryPolicies: { value: [listed] } }).next),
      'calicoctl get globalnetworkpolicies -o yaml',
    );
  });

  it('asks no second time for a kind that was accepted when it was searched before the upgrade', () => {
    const unread = [{ kind: 'metrics.k8s.io', because: 'its discovery fails' }];
    const facts = { ...good, owners: { value: { references: 0, dangling: [], unread } } };
    const outcome = (accept: Context['options']['accept']) =>
      judgeAll(verifyChecks, facts, contextOf({ accept })).find(({ id }) => id === 'NS-307')?.outcome;
    assert.equal(outcome([]), 'error');
    assert.equal(outcome([{ check: 'NS-741', subject: 'pods' }]), 'error');
    assert.equal(outcome([{ check: 'NS-741', subject: 'metrics.k8s.io' }]), 'ok');
    assert.equal(outcome([{ check: 'NS-741' }]), 'ok');
  });

  it('do not let an accepted object hide kinds that could not be searched', () => {
    const owners = { value: { references: 1, dangling: [lost('a')] } };
    const unread = [{ kind: 'secrets', because: 'forbidden (403)' }];
    const accept = [{ check: 'NS-307', subject: 'ConfigMap/a/x' }];
    const outcome = (kinds: typeof unread) => {
      const facts = { ...good, owners: { value: { ...owners.value, unread: kinds } } };
      return judgeAll(verifyChecks, facts, contextOf({ accept })).find(({ id }) => id === 'NS-307');
    };
    assert.equal(outcome([])?.outcome, 'accepted');
    assert.equal(outcome(unread)?.outcome, 'error');
    assert.match(outcome(unread)?.message ?? '', /no longer exist: ConfigMap\/a\/x; .*could not all be followed: secrets/);
  });

  it('find nothing wrong with a finished upgrade', () => {
    const wrong = judgeAll(verifyChecks, good, contextOf()).filter(({ outcome }) => outcome !== 'ok');
    assert.deepEqual(wrong, []);
  });

  it('pass nothing that could not be read', () => {
    const unread = Object.fromEntries(Object.keys(good).map((key) => [key, { unread: 'forbidden' }]));
    const facts = { ...unread, clusterVersion: { cli: { notAsked: 'x' }, record: { unread: 'forbidden' } } } as unknown as VerifyFacts;
    const passed = judgeAll(verifyChecks, facts, contextOf()).filter(({ outcome }) => outcome !== 'error' && outcome !== 'warning');
    assert.deepEqual(passed, []);
  });
});
