import assert from 'node:assert/strict';
import { previewDocument } from '../../../src/features/install-manifest/preview.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { PodsAnswer } from '../../../src/kernel/plan.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const workload = (kind: string, image: string, rest: object = {}): KubeObject =>
  object('apps/v1', `${kind}/kube-system/w`, {
    metadata: { uid: 'u', resourceVersion: '1' },
    spec: {
      template: {
        metadata: { labels: { app: 'w' } },
        spec: { serviceAccountName: 'w', containers: [{ name: 'c', image, resources: { requests: { cpu: '250m' } } }] },
      },
      ...rest,
    },
  });
const forbidden = (why: string) => `pods "w-netsvc-upgrade-twin" is forbidden: ${why}`;

interface World {
  readonly kind?: string;
  readonly rest?: object;
  readonly image?: string;
  readonly together?: readonly KubeObject[];
  /** What the server says to each pod in turn; admitted where it says nothing. */
  readonly says?: readonly (readonly [number, string])[];
}

async function answerTo({ kind = 'DaemonSet', rest = {}, image = 'new', together = [], says = [] }: World) {
  const pods: KubeObject[] = [];
  const { cluster } = clusterOf([workload(kind, 'old', rest)], { kinds: [K.DaemonSet, K.Deployment] });
  const dryRunCreate = async (_kind: unknown, pod: KubeObject) => {
    pods.push(pod);
    const [status, message] = says[pods.length - 1] ?? [];
    if (status !== undefined && message !== undefined) throw new ApiFailure(status, 'Refused', message);
    return pod;
  };
  const { planned } = await previewDocument({ ...cluster, dryRunCreate }, workload(kind, image, rest), together);
  return { pods, answer: planned.pods };
}

describe('a dry run of the pods of a workload', () => {
  it('is of a pod as its controller would create it', async () => {
    const { pods, answer } = await answerTo({});
    assert.equal(answer, undefined);
    assert.deepEqual(pods, [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'w-netsvc-upgrade-twin',
          namespace: 'kube-system',
          labels: { app: 'w' },
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'w', uid: 'u', controller: true }],
        },
        spec: { serviceAccountName: 'w', containers: [{ name: 'c', image: 'new', resources: { requests: { cpu: '250m' } } }] },
      },
    ]);
  });

  const none: Readonly<Record<string, World>> = {
    'its template stays': { image: 'old' },
    'it has no replica': { kind: 'Deployment', rest: { replicas: 0 } },
  };
  for (const [title, world] of Object.entries(none))
    it(`is not made where ${title}`, async () => assert.deepEqual((await answerTo(world)).pods, []));

  const full = (used: string, limited: string) =>
    forbidden(`exceeded quota: q, requested: ${used.replace(/=.*/, '=1')}, used: ${used}, limited: ${limited}`);
  const account = object('v1', 'ServiceAccount/kube-system/w');
  const noAccount = forbidden('error looking up service account kube-system/w: serviceaccount "w" not found');
  const security = forbidden('violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)');
  const privileged = object('v1', 'Namespace/kube-system', {
    metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
  });
  const worlds: Readonly<Record<string, World & { readonly is?: PodsAnswer['verdict'] }>> = {
    'admission refuses the pod': { says: [[403, security]], is: 'refused' },
    'the same apply lets its namespace admit it': { says: [[403, security]], together: [privileged] },
    'the webhook that would have to admit it does not answer': {
      says: [[500, 'Internal error occurred: failed calling webhook "a.b"']],
      is: 'refused',
    },
    'a webhook allows no dry run': { says: [[400, 'admission webhook "a.b" does not support dry run']], is: 'unasked' },
    'this account may create no pods': {
      says: [[403, 'pods is forbidden: User "me" cannot create resource "pods" in API group ""']],
      is: 'unasked',
    },
    'its namespace is still to come': { says: [[404, 'namespaces "kube-system" not found']] },
    'its account is still to come': { says: [[403, noAccount]], together: [account] },
    'its account is still to come, and the pod is refused besides': {
      says: [
        [403, noAccount],
        [403, security],
      ],
      together: [account],
      is: 'refused',
    },
    'its account is missing': { says: [[403, noAccount]], is: 'refused' },
    'a quota is full, and the old pod goes first': { says: [[403, full('pods=6', 'pods=6')]] },
    'a quota is too full for that': { says: [[403, full('pods=8', 'pods=6')]], is: 'refused' },
    'a quota is full, and the old pod goes last': { kind: 'Deployment', says: [[403, full('pods=6', 'pods=6')]], is: 'refused' },
    'a quota is full, and one of several pods may be missing': {
      kind: 'Deployment',
      rest: { replicas: 3, strategy: { rollingUpdate: { maxUnavailable: 1 } } },
      says: [[403, full('pods=6', 'pods=6')]],
    },
    'the new pod asks for more than the old one leaves': {
      says: [[403, forbidden('exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=1, limited: requests.cpu=1')]],
      is: 'refused',
    },
    'the new pod asks for what the old one leaves': {
      says: [[403, forbidden('exceeded quota: q, requested: requests.cpu=250m, used: requests.cpu=1, limited: requests.cpu=1')]],
    },
    'a container says no limits where a quota asks for them': {
      says: [[403, forbidden('failed quota: q: must specify limits.cpu for: c')]],
      is: 'refused',
    },
  };
  for (const [title, { is, ...world }] of Object.entries(worlds))
    it(`${is === undefined ? 'tells nothing' : `is ${is}`} where ${title}`, async () =>
      assert.equal((await answerTo(world)).answer?.verdict, is));

  it('does not take silence for an answer', async () => {
    await assert.rejects(answerTo({ says: [[0, 'no route']] }), /no route/);
    await assert.rejects(answerTo({ says: [[429, 'too many requests']] }), /too many/);
  });
});

const ref = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'calico-node' };
const planned = (verdict: PodsAnswer['verdict'], words: string) => ({
  preview: { value: [{ ref, change: 'update' as const, fields: [], hidden: [], taken: [], pods: { verdict, words } }] },
});

checkCases('NS-610', {
  'passes where the server admits them all': { is: 'ok' },
  'does not apply where nothing was tried': { facts: { preview: { unread: 'forbidden' } }, is: 'not-applicable' },
  'stops at pod security, and says how to label the namespace': {
    facts: planned('refused', 'violates PodSecurity "restricted:latest"'),
    is: 'error',
    about: ['DaemonSet/kube-system/calico-node'],
    details: [/^violates PodSecurity/],
    fix: /^kubectl label namespace kube-system pod-security.kubernetes.io\/enforce=privileged --overwrite$/,
  },
  'stops at a quota': {
    facts: planned('refused', 'failed quota: q'),
    is: 'error',
    next: /^kubectl -n kube-system describe resourcequotas$/,
  },
  'stops at a LimitRange': {
    facts: planned('refused', 'minimum cpu usage per Container is 500m'),
    is: 'error',
    next: /^kubectl -n kube-system describe limitranges$/,
  },
  'stops at a webhook': {
    facts: planned('refused', 'admission webhook "a.b" denied the request'),
    is: 'error',
    hint: /Exempt the namespace/,
  },
  'stops at what nobody has met': { facts: planned('refused', 'no'), is: 'error', next: /plan -o wide$/ },
  'warns where it could not be tried': {
    facts: planned('unasked', 'pods is forbidden'),
    is: 'warning',
    says: /not known/,
    next: /^kubectl auth can-i create pods -n kube-system$/,
  },
  'stops at pods that an operator renders': {
    facts: { operatedPods: { value: [{ ref, pods: { verdict: 'refused', words: 'exceeded quota: q' } }] } },
    is: 'error',
  },
});
