import assert from 'node:assert/strict';
import { readPodWebhooks } from '../../../src/features/preflight/pod-webhooks.ts';
import type { PodWebhook } from '../../../src/features/survey/facts.ts';
import { healthyPods, object, pod } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const RULE = { operations: ['CREATE'], apiGroups: [''], resources: ['pods'], scope: '*' };
const service = { namespace: 'kyverno', name: 'svc' };
const configuration = (name: string, ...webhooks: readonly object[]) =>
  object('admissionregistration.k8s.io/v1', `ValidatingWebhookConfiguration/${name}`, {
    webhooks: webhooks.map((one) => ({ name: 'a.b', rules: [RULE], clientConfig: { service }, ...one })),
  });
const selecting = object('v1', 'Service/kyverno/svc', { spec: { selector: { app: 'kyverno' } } });

describe('webhooks that are asked about new pods', () => {
  const cases: Readonly<Record<string, readonly [object, number]>> = {
    'that must answer': [{}, 1],
    'that need not answer': [{ failurePolicy: 'Ignore' }, 0],
    'of every resource': [{ rules: [{ operations: ['*'], apiGroups: ['*'], resources: ['*/*'] }] }, 1],
    'about deletions': [{ rules: [{ ...RULE, operations: ['DELETE'] }] }, 0],
    'about another group': [{ rules: [{ ...RULE, apiGroups: ['cert-manager.io'] }] }, 0],
    'about another resource': [{ rules: [{ ...RULE, resources: ['pods/exec', 'secrets'] }] }, 0],
    'about what is in no namespace': [{ rules: [{ ...RULE, scope: 'Cluster' }] }, 0],
    'outside of the cluster': [{ clientConfig: { url: 'https://example.org' } }, 0],
  };
  for (const [title, [webhook, count]] of Object.entries(cases))
    it(`${count === 1 ? 'are' : 'are not'} those ${title}`, async () => {
      const { cluster, requests } = clusterOf([configuration('c', webhook), selecting]);
      const found = await readPodWebhooks(cluster);
      assert.equal(found.length, count);
      assert.equal(requests.length, 2 + count, `a Service is asked for only where it matters: ${requests.join()}`);
      if (count === 1) assert.deepEqual(found[0]?.backends, { matchLabels: { app: 'kyverno' } });
    });
});

const webhook: PodWebhook = {
  object: { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', name: 'kyverno' },
  name: 'validate.kyverno.svc',
  namespaces: {},
  objects: {},
  service,
  backends: { matchLabels: { app: 'kyverno' } },
};
const NAMED = 'kubernetes.io/metadata.name';
const answering = (change: object = {}) => pod('kyverno-1', { namespace: 'kyverno', labels: { app: 'kyverno' }, ...change });
const world = (change: Partial<PodWebhook>, ...pods: readonly ReturnType<typeof pod>[]) => ({
  podWebhooks: { value: [{ ...webhook, ...change }] },
  pods: { value: [...healthyPods, ...pods] },
});

checkCases('NS-611', {
  'passes without such webhooks': { is: 'ok' },
  'warns where its pods use the pod network, and says what to add': {
    facts: world({}, answering()),
    is: 'warning',
    about: ['ValidatingWebhookConfiguration/kyverno/validate.kyverno.svc'],
    details: [
      /^1 pod of kyverno answers it; add .* namespaceSelector: \{key: kubernetes\.io\/metadata\.name, operator: NotIn, values: \[kube-system\]\}$/,
    ],
    next: /^kubectl get validatingwebhookconfiguration kyverno -o yaml$/,
  },
  'warns where no pod answers': { facts: world({}), is: 'warning', details: [/^no pod answers it/] },
  'passes where its pods use the network of their nodes': { facts: world({}, answering({ hostNetwork: true })), is: 'ok' },
  'passes where its Service leads to what is no pod': { facts: world({ backends: undefined }), is: 'ok' },
  'passes where the namespace is exempt': {
    facts: world({ namespaces: { matchExpressions: [{ key: NAMED, operator: 'NotIn', values: ['kube-system'] }] } }, answering()),
    is: 'ok',
  },
  'passes where it asks about labelled namespaces alone': {
    facts: world({ namespaces: { matchLabels: { inject: 'yes' } } }, answering()),
    is: 'ok',
  },
  'passes where it asks about other pods': { facts: world({ objects: { matchLabels: { inject: 'yes' } } }, answering()), is: 'ok' },
});
