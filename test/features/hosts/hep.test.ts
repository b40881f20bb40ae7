import assert from 'node:assert/strict';
import { hepChecks } from '../../../src/features/hosts/checks.ts';
import type { GoneEndpoint, HepJudged, HostVerdict } from '../../../src/features/hosts/facts.ts';
import type { ComponentVersion } from '../../../src/kernel/installation.ts';
import { imageRelease } from '../../../src/kernel/release.ts';
import type { RolloutProgress } from '../../../src/kernel/rollout.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const rollout = (done: boolean): RolloutProgress => ({
  target: { kind: 'DaemonSet', namespace: 'kube-system', name: 'agent', container: 'a', image: 'i', ready: { type: 'all-containers' } },
  desired: 2,
  pods: [],
  done,
  pending: done ? '' : '1 of 2 pods have been updated',
});

const component = (name: string, workload: string, image: string): ComponentVersion => {
  const release = imageRelease(image);
  return { component: name, workload, container: 'a', image, ...(release === undefined ? {} : { release }) };
};
const AGENTS = 'DaemonSet/kube-system/agent';
const agents = (tag: string) => component('agent', AGENTS, `quay.io/x/node${tag}`);
const controllers = (tag: string) => component('controllers', 'Deployment/kube-system/controllers', `quay.io/x/controllers${tag}`);
const NEW = `:${CALICO_TARGET}`;
const DIGEST = `@sha256:${'a'.repeat(64)}`;

const left = (name: string, remover: GoneEndpoint['remover']): GoneEndpoint => ({ name, node: 'n1', remover, asItWas: '{}' });

/** A fleet that can be migrated without anything to say. */
const READY: HepJudged = {
  enabled: false,
  nodes: 2,
  verdicts: { value: [] },
  ruleChanges: { value: [] },
  judgesEnd: false,
  refusedBack: [],
  labelProblems: [],
  unclear: [],
  elsewhere: [],
  namedPorts: [],
  rollouts: { value: [rollout(true)] },
  components: [agents(NEW), controllers(NEW)],
  obstacles: [],
  cli: { program: '/bin/ctl' },
  needsCli: true,
  gone: [],
  idle: false,
};

interface Row {
  readonly id: string;
  readonly facts: Partial<HepJudged>;
  readonly is: string;
  readonly says: RegExp;
  readonly hint?: RegExp;
  readonly about?: readonly string[];
}

const verdict = { node: 'n1', verdict: 'CHANGED', detail: 'a, b, c, d', brief: 'a and 3 more' } as const;

const obstacle = { text: 'AUTO_HOST_ENDPOINTS', detail: 'overrides the setting', hint: 'Take it out.' };
const rows: Readonly<Record<string, Row>> = {
  'a host that would be opened': {
    id: 'NS-711',
    facts: { verdicts: { value: [{ node: 'n1', verdict: 'OPEN', detail: 'to the host: p → allow' }] } },
    is: 'error',
    says: /^1 host would let all traffic through: .* allow-all profile: n1$/,
    about: ['n1'],
  },
  'a host that would be policed anew': {
    id: 'NS-712',
    facts: { verdicts: { value: [{ node: 'n1', verdict: 'NEWLY POLICED', detail: '' }] } },
    is: 'error',
    says: /where none applies to them now: n1$/,
    hint: /, or accept the node by name: --accept NS-712=n1$/,
    about: ['n1'],
  },
  'a host with other policies than before': {
    id: 'NS-713',
    facts: { verdicts: { value: [{ node: 'n1', verdict: 'CHANGED', detail: '' }] } },
    is: 'error',
    says: /^1 host would get other policies: n1$/,
    hint: /^Compare what applies before and after, fix selectors or labels, or accept the node by name: --accept NS-713=n1$/,
    about: ['n1'],
  },
  'a policy that could not be understood': {
    id: 'NS-711',
    facts: { verdicts: { unread: 'policy p: column 3' } },
    is: 'error',
    says: /could not be checked: policy p: column 3/,
  },
  'an agent that is not new yet': {
    id: 'NS-714',
    facts: { rollouts: { value: [rollout(false)] } },
    is: 'error',
    says: /not yet wholly on the target release: DaemonSet\/kube-system\/agent; automatic endpoints are off, so nothing is dropped now; enabled with older agents, they would drop host traffic$/,
  },
  'an agent that is not new yet, where automatic endpoints are enabled already': {
    id: 'NS-714',
    facts: { rollouts: { value: [rollout(false)] }, enabled: true },
    is: 'error',
    says: /; older agents do not see the labels of automatic endpoints, which are enabled, and drop host traffic$/,
  },
  'agents that are long rolled out, but of an older release': {
    id: 'NS-714',
    facts: { components: [agents(':v3.31.4'), controllers(NEW)] },
    is: 'error',
    says: /^not yet wholly on the target release: DaemonSet\/kube-system\/agent; automatic endpoints are off, so nothing is dropped now; enabled with older agents, they would drop host traffic$/,
    about: [AGENTS],
  },
  'controllers of another release of the same line': {
    id: 'NS-714',
    facts: { components: [agents(NEW), controllers(':v3.32.0')] },
    is: 'error',
    says: /^not yet wholly on the target release: Deployment\/kube-system\/controllers; /,
  },
  'agents of which some run an older release': {
    id: 'NS-714',
    facts: {
      rollouts: { value: [rollout(false)] },
      components: [agents(NEW), component('agent', `2 pods of ${AGENTS}`, 'node:v3.27.5'), controllers(NEW)],
    },
    is: 'error',
    says: /^not yet wholly on the target release: DaemonSet\/kube-system\/agent, 2 pods of DaemonSet\/kube-system\/agent; /,
  },
  'agents of a newer release': {
    id: 'NS-714',
    facts: { components: [agents(':v3.99.0'), controllers(NEW)] },
    is: 'error',
    says: pattern`^newer than ${CALICO_TARGET}: DaemonSet/kube-system/agent$`,
  },
  'agents whose image is a digest alone': {
    id: 'NS-714',
    facts: { components: [agents(DIGEST), controllers(NEW)] },
    is: 'warning',
    says: /^with an image that does not tell its release: DaemonSet\/kube-system\/agent$/,
    about: [AGENTS],
  },
  'controllers whose tag is no release, beside old agents': {
    id: 'NS-714',
    facts: { components: [agents(':v3.27.5'), controllers(':master')] },
    is: 'error',
    says: /drop host traffic; with an image that does not tell its release: Deployment\/kube-system\/controllers$/,
  },
  'controllers that are not there': {
    id: 'NS-714',
    facts: { components: [agents(NEW)] },
    is: 'error',
    says: /^not found in the cluster: controllers$/,
    about: ['controllers'],
  },
  'controllers that would make none': {
    id: 'NS-715',
    facts: { obstacles: [obstacle] },
    is: 'error',
    says: /^automatic endpoints would not follow the setting: AUTO_HOST_ENDPOINTS$/,
  },
  'a label that another value stands in the way of': {
    id: 'NS-716',
    facts: { labelProblems: [{ node: 'n1', text: 'old has a=1, there is a=2 already', severity: 'error' }] },
    is: 'error',
    says: /^1 label of old host endpoints will not be copied: n1$/,
  },
  'a label with a reserved prefix': {
    id: 'NS-716',
    facts: { labelProblems: [{ node: 'n1', text: '', severity: 'warning' }] },
    is: 'warning',
    says: /will not be copied: n1$/,
  },
  'an unclear endpoint in the way of an automatic one': {
    id: 'NS-717',
    facts: { unclear: [{ name: 'n1-auto-hep', detail: 'node n1', fate: 'blocks' }] },
    is: 'error',
    says: /neither clearly old nor clearly automatic: n1-auto-hep; not changed/,
  },
  'an unclear endpoint beside': {
    id: 'NS-717',
    facts: { unclear: [{ name: 'mine', detail: 'node n1', fate: 'stays' }] },
    is: 'warning',
    says: /neither clearly old nor clearly automatic: mine/,
  },
  'endpoints that the controllers take for theirs and delete': {
    id: 'NS-717',
    facts: {
      unclear: [
        { name: 'mine', detail: 'node n1', fate: 'deleted' },
        { name: 'n2-auto-hep', detail: 'node n2', fate: 'blocks' },
        { name: 'beside', detail: 'node n3', fate: 'stays' },
      ],
    },
    is: 'error',
    says: /^created by somebody but labelled as the controllers’ own, .*: mine; neither clearly old .*: n2-auto-hep; not changed$/,
    about: ['mine', 'n2-auto-hep'],
  },
  'an endpoint of a node that is gone': {
    id: 'NS-718',
    facts: { elsewhere: ['b (gone)'] },
    is: 'warning',
    says: /^1 host endpoint of hosts outside the cluster: b \(gone\); they stay, for no automatic one replaces them$/,
  },
  'a host that is open once its old endpoint is gone, when nothing is left to do': {
    id: 'NS-711',
    facts: {
      idle: true,
      judgesEnd: true,
      verdicts: { value: [{ node: 'n1', verdict: 'OPEN', detail: 'ingress: deny → allow', removed: true }] },
    },
    is: 'error',
    says: /^1 host would let all traffic through: .*: n1; the old endpoints are gone, and something else changed meanwhile$/,
    about: ['n1'],
  },
  'a policy in whose rules addresses change for pods': {
    id: 'NS-736',
    facts: { ruleChanges: { value: [{ policy: 'shop/api', detail: 'as soon as enabled: 10.0.0.1 comes' }] } },
    is: 'error',
    says: /^rules of 1 policy would select other addresses of hosts: shop\/api$/,
    hint: /or accept the policy by name: --accept NS-736=shop\/api$/,
    about: ['shop/api'],
  },
  'policies of namespaces that cannot be read': {
    id: 'NS-736',
    facts: { ruleChanges: { unread: 'forbidden (403)' } },
    is: 'error',
    says: /forbidden \(403\)/,
  },
  'named ports': { id: 'NS-719', facts: { namedPorts: ['old'] }, is: 'warning', says: /^1 old endpoint with named ports/ },
  'no CLI for the way back, to which nothing else applies': {
    id: 'NS-720',
    facts: { idle: true, cli: { missing: 'none was found' } },
    is: 'error',
    says: /cannot be used: none was found$/,
  },
  'endpoints that somebody else removed, and those of which nobody knows, on the way back': {
    id: 'NS-724',
    facts: { idle: true, gone: [left('a', 'other'), left('b', 'untold'), left('c', 'migration')] },
    is: 'warning',
    says: /^1 host endpoint removed by somebody else, not created again: a; 1 host endpoint without a record .*, created again: b$/,
    about: ['a', 'b'],
  },
  'a CLI that reaches another cluster’s store': {
    id: 'NS-725',
    facts: { cli: { missing: 'x', doubt: { because: 'another store' } } },
    is: 'error',
    says: /^another store$/,
    about: [],
  },
  'a CLI of which nobody can tell what store it reaches': {
    id: 'NS-725',
    facts: { cli: { missing: 'x', doubt: { because: 'cannot be told', guid: 'abc' } } },
    is: 'error',
    says: /^cannot be told$/,
    about: ['abc'],
  },
  'a CLI in doubt, once': {
    id: 'NS-720',
    facts: { cli: { missing: 'x', doubt: { because: 'another store' } } },
    is: 'not-applicable',
    says: /NS-725/,
  },
  'a record that names what the migration cannot have made': {
    id: 'NS-738',
    facts: { idle: true, gone: [], refusedBack: [{ text: 'Node/n1 pool', detail: 'somebody else has written it since' }] },
    is: 'error',
    says: /^the record names 1 thing that the migration cannot have made, .*; not changed: Node\/n1 pool$/,
    about: ['Node/n1 pool'],
  },
  'no CLI': { id: 'NS-720', facts: { cli: { missing: 'none was found' } }, is: 'error', says: /cannot be used: none was found$/ },
};

const judge = (facts: Partial<HepJudged>) => judgeAll(hepChecks, { ...READY, ...facts }, contextOf());

describe('the checks of hep', () => {
  it('pass a fleet that can be migrated', () => {
    const cli = { program: '/bin/ctl', provedBy: 'the same GUID' };
    assert.deepEqual([...new Set(judge({ cli }).map(({ outcome }) => outcome))], ['ok']);
  });

  for (const [title, { id, facts, is, says, hint, about }] of Object.entries(rows)) {
    it(`${id} tells of ${title}`, () => {
      const found = judge(facts).find((one) => one.id === id);
      assert.ok(found);
      assert.equal(found.outcome, is);
      assert.match(found.message, says);
      if (hint) assert.match(found.hint ?? '', hint);
      if (about)
        assert.deepEqual(
          found.evidence.map(({ text }) => text),
          about,
        );
    });
  }

  const hintOf = (facts: Partial<HepJudged>) => {
    const finding = judge(facts).find(({ id }) => id === 'NS-714');
    return [String(finding?.next), finding?.hint];
  };

  it('send to the upgrade while a release is old, and to the wait while only the rollout is open', () => {
    const upgrade = `Upgrade the service to ${CALICO_TARGET} and let the rolling update end first.`;
    assert.deepEqual(hintOf({ components: [agents(':v3.27.5'), controllers(NEW)] }), ['kubectl netsvc-upgrade run', upgrade]);
    assert.deepEqual(hintOf({ rollouts: { value: [rollout(false)] } }), ['kubectl netsvc-upgrade wait', upgrade]);
    assert.deepEqual(hintOf({ components: [agents(DIGEST), controllers(NEW)] }), [
      'kubectl netsvc-upgrade preflight',
      `Compare the digests with those of ${CALICO_TARGET}.`,
    ]);
    assert.match(`${hintOf({ components: [agents(':v3.99.0'), controllers(NEW)] })}`, /whether --release names too old a release/);
    assert.match(`${hintOf({ components: [agents(NEW)] })}`, /See that the service runs as a whole/);
  });

  it('keep the short text of a host beside the whole one, and make none up', () => {
    const evidence = (one: HostVerdict) => judge({ verdicts: { value: [one] } }).find(({ id }) => id === 'NS-713')?.evidence;
    assert.deepEqual(evidence(verdict), [{ text: 'n1', detail: 'a, b, c, d', brief: 'a and 3 more' }]);
    const { brief: _, ...short } = verdict;
    assert.deepEqual(evidence(short), [{ text: 'n1', detail: 'a, b, c, d' }]);
  });

  it('name an old workload once, with its rollout and with its image', () => {
    const finding = judge({ rollouts: { value: [rollout(false)] }, components: [agents(':v3.27.5'), controllers(NEW)] }).find(
      ({ id }) => id === 'NS-714',
    );
    assert.deepEqual(finding?.evidence, [{ text: AGENTS, detail: '1 of 2 pods have been updated; a: quay.io/x/node:v3.27.5' }]);
  });

  it('do not apply where nothing is left to migrate', () => {
    const findings = judge({ idle: true, gone: undefined, needsCli: false, obstacles: [obstacle], cli: { missing: 'none' } });
    assert.deepEqual([...new Set(findings.map(({ outcome }) => outcome))], ['not-applicable']);
  });
});
