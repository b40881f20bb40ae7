import assert from 'node:assert/strict';
import { operatorVerdict } from '../../../src/features/install-operator/operator-verdict.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { after, before, type Look, type Moment, NEW, OLD, play, type Script, viewOf } from '../../support/operator-script.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../../support/target.ts';

const applied: Moment = { ...before, operator: NEW.operator, operatorReady: 0 };
const leasing: Moment = { ...applied, operatorReady: 1 };
const edited: Moment = { ...leasing, generation: 4 };
const rolling: Moment = {
  ...edited,
  node: { image: NEW.release, updated: 1, ready: 2 },
  api: { namespace: 'calico-system', available: false, old: true },
  statuses: { calico: ['rolling', 4], ippools: ['rolling'], apiserver: ['rolling', 1] },
};
const unavailable = { reason: 'ResourceUpdateError', message: 'the server is currently unable to handle the request' };
const refused: Moment = { ...rolling, statuses: { ...rolling.statuses, ippools: [unavailable, 4], tiers: [unavailable] } };
const forbidden = { reason: 'ResourceUpdateError', message: 'secrets "node-certs" is forbidden' };
const healthy: Script = [
  [0, applied],
  [6, leasing],
  [24, edited],
  [26, rolling],
  [28, refused],
  [38, { ...after, version: OLD.release, statuses: { ...after.statuses, calico: ['rolling', 4] } }],
  [49, after],
];

interface Case {
  readonly title: string;
  readonly script: Script;
  /** First second at which the wait may end; undefined: never within the play. */
  readonly done?: number;
  readonly seconds?: number;
  /** Types of troubles with the second of their first naming. */
  readonly named?: Readonly<Record<string, number>>;
}

const cases: readonly Case[] = [
  { title: 'ends a healthy upgrade 15 s after the last point came true', script: healthy, done: 64 },
  { title: 'ends at once where nothing is to be done but the hold', script: [[0, after]], done: 15 },
  {
    title: 'names a deaf operator whose old statuses stay green while the Installation moves on',
    script: [...healthy.slice(0, 2), [24, edited]],
    named: { deaf: 84 },
  },
  {
    title: 'names an operator that runs and begins nothing, and forgets it once it has begun',
    script: [...healthy.slice(0, 2), [80, edited], [90, after]],
    named: { idle: 66 },
    done: 105,
  },
  {
    title: 'names a pinned operator after a minute',
    script: [[0, { ...before, statuses: { ...before.statuses, calico: [forbidden, 2] } }]],
    named: { pinned: 60, degraded: 300 },
    seconds: 320,
  },
  {
    title: 'does not end, and names the reason, where the CRDs are missing',
    script: [
      [
        24,
        {
          ...edited,
          statuses: { calico: [{ reason: 'ResourceReadError', message: 'no matches for kind "Goldmane"', available: true }, 4] },
        },
      ],
    ],
    named: { degraded: 324 },
    seconds: 330,
  },
  {
    title: 'names a pod failure after a minute and ends when it is healed',
    script: [
      [26, { ...rolling, statuses: { calico: [{ reason: 'PodFailure', message: 'Pod x has crash looping container' }, 4] } }],
      [100, after],
    ],
    named: { 'pod-failure': 86 },
    done: 115,
  },
  {
    title: 'waits for a slow API server although the release is already reported',
    script: [...healthy.slice(0, 5), [49, { ...after, api: { ...after.api, available: false, old: true } }], [114, after]],
    done: 129,
  },
  {
    title: 'starts the hold anew when a status turns red after green',
    script: [
      [24, after],
      [29, { ...after, statuses: { ...after.statuses, tiers: [unavailable] } }],
      [60, after],
    ],
    done: 75,
  },
  {
    title: 'waits through the second roll that flow logs bring',
    script: [
      [0, { ...after, kinds: ['APIServer', 'Goldmane'] }],
      [2, { ...after, kinds: ['APIServer', 'Goldmane'], node: { image: NEW.release, updated: 3, ready: 3, unseen: true } }],
      [
        7,
        {
          ...after,
          kinds: ['APIServer', 'Goldmane'],
          statuses: { ...after.statuses, goldmane: ['good', 1] },
          node: { ...after.node, updated: 2 },
        },
      ],
      [21, { ...after, kinds: ['APIServer', 'Goldmane'], statuses: { ...after.statuses, goldmane: ['good', 1] } }],
    ],
    done: 36,
  },
  {
    title: 'takes what the old operator says before it ends for usual',
    script: [[1, { ...applied, statuses: { ...before.statuses, calico: [forbidden, 2] } }], ...healthy.slice(1)],
    done: 64,
  },
  {
    title: 'ends where pods start at once and no status ever leaves green',
    script: [
      [0, applied],
      [2, leasing],
      [31, after],
    ],
    done: 46,
  },
];

const doneAt = (looks: readonly Look[]) => looks.find((one) => one.done)?.second;

function namedAt(looks: readonly Look[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { second, troubles } of looks) for (const { type } of troubles) found[type] ??= second;
  return found;
}

/** Each is the finished cluster but for one thing, and the verdict must name that thing alone. */
const lags: readonly { readonly moment: Partial<Moment>; readonly subject: string; readonly why: RegExp }[] = [
  {
    moment: { operator: OLD.operator },
    subject: 'Deployment/tigera-operator/tigera-operator',
    why: pattern`v1\.32\.12, not .*${CALICO_OPERATOR}`,
  },
  { moment: { operatorReady: 0 }, subject: 'Deployment/tigera-operator/tigera-operator', why: /0 of 1 pods are updated/ },
  { moment: { version: OLD.release }, subject: 'Installation/default', why: /reports v3\.27\.5/ },
  {
    moment: { statuses: { ...after.statuses, calico: ['good', 3] } },
    subject: 'TigeraStatus/calico',
    why: /generation 3, the spec is at 4/,
  },
  {
    moment: { statuses: { ...after.statuses, calico: ['rolling', 4] } },
    subject: 'TigeraStatus/calico',
    why: /(Available is False|Progressing is True)/,
  },
  { moment: { kinds: ['APIServer', 'Goldmane'] }, subject: 'TigeraStatus/goldmane', why: /does not exist yet/ },
  { moment: { node: { ...after.node, image: OLD.release } }, subject: 'DaemonSet//calico-node', why: pattern`not ${CALICO_TARGET}` },
  { moment: { node: { ...after.node, image: 'sha256:old' } }, subject: 'DaemonSet//calico-node', why: pattern`not ${CALICO_TARGET}` },
  { moment: { node: { ...after.node, updated: 2 } }, subject: 'DaemonSet//calico-node', why: /2 of 3 pods are updated/ },
  { moment: { node: { ...after.node, unseen: true } }, subject: 'DaemonSet//calico-node', why: /has not seen the change/ },
  {
    moment: { api: { ...after.api, namespace: 'calico-apiserver' } },
    subject: 'APIService/v3.projectcalico.org',
    why: /not from calico-system/,
  },
  { moment: { api: { ...after.api, available: false } }, subject: 'APIService/v3.projectcalico.org', why: /MissingEndpoints/ },
  { moment: { api: { ...after.api, old: true } }, subject: 'Namespace/calico-apiserver', why: /still there/ },
];

describe('the end of an upgrade by the operator', () => {
  for (const { title, script, done, seconds = 150, named = {} } of cases) {
    it(title, () => {
      const looks = play(script, seconds);
      assert.equal(doneAt(looks), done);
      assert.deepEqual(namedAt(looks), named);
    });
  }

  for (const { moment, subject, why } of lags) {
    it(`names ${subject} that lags: ${why.source}`, () => {
      const { lags: found } = operatorVerdict(viewOf({ ...after, ...moment }, 60_000));
      assert.deepEqual([...new Set(found.map((one) => one.subject))], [subject]);
      assert.match(found[0]?.why ?? '', why);
    });
  }

  it('looks at the operator’s own container, not at those that a person added to its Deployment', () => {
    const beside = (moment: Moment) => {
      const view = viewOf(moment, 60_000);
      const containers = [{ image: 'reg.example.org:5000/proxy:1.2' }, { image: moment.operator }];
      const initContainers = [{ image: 'reg.example.org:5000/ca-bundle:3' }];
      const template = { spec: { initContainers, containers } };
      return { ...view, deployment: view.deployment && { ...view.deployment, spec: { replicas: 1, template } } };
    };
    const own = operatorVerdict(beside(after), { pinned: 0 });
    assert.deepEqual([own.lags, own.troubles], [[], []]);
    const pinned = operatorVerdict(beside({ ...after, operator: `${NEW.operator}@sha256:added` }), { pinned: 0 });
    assert.deepEqual([pinned.lags, pinned.troubles], [[], []], 'admission adds digests');
    const old = operatorVerdict(beside({ ...after, operator: OLD.operator }), { pinned: 0 });
    assert.deepEqual(
      old.lags.map(({ why }) => why),
      [`runs ${OLD.operator}, not ${NEW.operator}`],
    );
    assert.match(old.troubles.map(({ why }) => why).join(), /stays at quay\.io\/tigera\/operator:v1\.32\.12/);
  });

  it('takes agents that run on no node for no end, and agents for Windows alone for one', () => {
    const view = viewOf(after, 60_000);
    const parked = (one: KubeObject) => ({ ...one, status: { observedGeneration: one.metadata.generation } });
    const others = view.workloads.filter(({ kind }) => kind !== 'DaemonSet');
    const [agents] = view.workloads.filter(({ kind }) => kind === 'DaemonSet').map(parked);
    assert.ok(agents && view.deployment);
    const lagsOf = (changed: object) => operatorVerdict({ ...view, ...changed }).lags.map(({ why }) => why);
    assert.deepEqual(lagsOf({ workloads: [agents, ...others] }), ['wants no pod: no node fits it']);
    const windows = { ...agents, metadata: { ...agents.metadata, name: 'calico-node-windows' } };
    assert.deepEqual(lagsOf({ workloads: [...view.workloads, windows] }), []);
    const stopped = { ...parked(view.deployment), spec: { ...(view.deployment.spec as object), replicas: 0 } };
    assert.deepEqual(lagsOf({ deployment: stopped }), ['wants no pod: it is scaled to 0']);
  });

  it('waits, while Typha is held, for agents of Windows nodes as well, and for no Deployment', () => {
    const view = viewOf(after, 60_000);
    const [agents] = view.workloads.filter(({ kind }) => kind === 'DaemonSet');
    const old = (one: KubeObject): KubeObject => JSON.parse(JSON.stringify(one).replaceAll(`:${NEW.release}`, `:${OLD.release}`));
    const others = view.workloads.filter(({ kind }) => kind !== 'DaemonSet').map(old);
    assert.ok(agents && others.length > 0);
    const windows = old({ ...agents, metadata: { ...agents.metadata, name: 'calico-node-windows' } });
    const lagsOf = (workloads: readonly KubeObject[]) =>
      operatorVerdict({ ...view, workloads }, {}, 'agents').lags.map(({ subject }) => subject);
    assert.deepEqual(lagsOf([agents, ...others]), []);
    assert.deepEqual(lagsOf([agents, windows, ...others]), ['DaemonSet//calico-node-windows']);
  });

  it('accepts images that are pinned by a digest of the target', () => {
    const view = viewOf({ ...after, node: { ...after.node, image: 'sha256:new' } }, 60_000);
    assert.deepEqual(operatorVerdict(view).lags, []);
  });

  it('accepts the build of the target that a FIPS installation runs: its tag has a suffix', () => {
    const view = viewOf({ ...after, node: { ...after.node, image: `${NEW.release}-fips` } }, 60_000);
    assert.deepEqual(operatorVerdict(view).lags, []);
    const old = viewOf({ ...after, node: { ...after.node, image: `${OLD.release}-fips` } }, 60_000);
    assert.match(operatorVerdict(old).lags[0]?.why ?? '', pattern`v3\.27\.5-fips, not ${CALICO_TARGET}`);
  });

  it('goes by the tag where a digest stands beside it and no digest of the target is known', () => {
    const view = viewOf({ ...after, node: { ...after.node, image: `${NEW.release}@sha256:any` } }, 60_000);
    const unpinned = { ...view, target: { ...view.target, digests: [] } };
    assert.deepEqual(operatorVerdict(unpinned).lags, []);
    assert.match(operatorVerdict(view).lags[0]?.why ?? '', pattern`not ${CALICO_TARGET}`, 'a pinned image is told by its digest');
    const untold = viewOf({ ...after, node: { ...after.node, image: 'sha256:any' } }, 60_000);
    const [lag] = operatorVerdict({ ...untold, target: { ...untold.target, digests: [] } }).lags;
    assert.match(lag?.why ?? '', pattern`sha256:any, which tells no release: an ImageSet of ${CALICO_TARGET} with its digest would`);
  });

  describe('and a workload of somebody else beside the components', () => {
    const owner = { apiVersion: 'operator.tigera.io/v1', kind: 'Installation', name: 'default', uid: '1', controller: true };
    const template = { spec: { containers: [{ image: 'reg.example.org/exporter:1.2' }] } };
    const foreign: KubeObject = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'exporter', namespace: 'calico-system', generation: 1 } },
      ...{ spec: { replicas: 1, template }, status: {} },
    };
    const owned = (one: KubeObject): KubeObject => ({ ...one, metadata: { ...one.metadata, ownerReferences: [owner] } });
    const view = viewOf(after, 60_000);
    const lagsBeside = (workloads: readonly KubeObject[]) => operatorVerdict({ ...view, workloads }).lags;

    it('does not wait for it where the operator owns its own', () => {
      assert.deepEqual(lagsBeside([...view.workloads.map(owned), foreign]), []);
      const [lag] = lagsBeside([...view.workloads.map(owned), owned(foreign)]);
      assert.match(
        `${lag?.subject} ${lag?.why}`,
        /Deployment\/calico-system\/exporter runs .*exporter:1\.2, which is not from quay\.io\/$/,
      );
    });

    it('names the way out where its owner cannot be told', () => {
      const [lag] = lagsBeside([...view.workloads, foreign]);
      assert.match(
        lag?.why ?? '',
        /not from quay\.io\/; if it is not the operator’s, move it out of calico-system: it is waited for there$/,
      );
    });
  });

  it('asks for nothing of the v3 API where no API server is wanted', () => {
    const view = viewOf({ ...after, kinds: [], api: { ...after.api, available: false, old: true } }, 60_000);
    assert.deepEqual(operatorVerdict(view).lags, []);
  });

  it('judges the end without a status whose resource is switched off, and with it where it is wanted', () => {
    const moment = { ...after, kinds: [], statuses: { ...after.statuses, tiers: [unavailable] } } as Moment;
    const off = operatorVerdict(viewOf(moment, 60_000));
    assert.deepEqual([off.lags, off.troubles], [[], []]);
    const wanted = operatorVerdict(viewOf({ ...moment, kinds: after.kinds }, 60_000));
    assert.deepEqual(
      wanted.lags.map(({ subject }) => subject),
      ['TigeraStatus/tiers', 'TigeraStatus/tiers'],
    );
  });

  it('does not take an empty namespace for a finished one', () => {
    const { lags: found } = operatorVerdict({ ...viewOf(after, 60_000), workloads: [] });
    assert.deepEqual(
      found.map(({ point, subject, why }) => `${point} ${subject} ${why}`),
      ['4 DaemonSet/calico-node does not exist', '4 Deployment/calico-kube-controllers does not exist'],
    );
  });
});
