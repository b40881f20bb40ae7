import assert from 'node:assert/strict';
import { globalPolicyOf } from '../../../src/features/policy-rules/global-policy.ts';
import { workloadsWithout } from '../../../src/features/policy-rules/workloads-without-policy.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { object as resource } from '../../fixtures/facts.ts';
import { GROUP, policy } from './fleet.ts';

const pod = (text: string, labels = {}) => resource('v1', `Pod/${text}`, { metadata: { labels } });
const namespace = (name: string, labels = {}) => resource('v1', `Namespace/${name}`, { metadata: { labels } });
const networkPolicy = (text: string, spec: object) => resource('networking.k8s.io/v1', `NetworkPolicy/${text}`, { spec });
const own = (text: string, selector: string) => resource('crd.projectcalico.org/v1', `NetworkPolicy/${text}`, { spec: { selector } });

interface Case {
  readonly temporary?: KubeObject;
  readonly globals?: readonly KubeObject[];
  readonly policies?: readonly KubeObject[];
  readonly networkPolicies?: readonly KubeObject[];
}

function without({ temporary = policy('allow-all-upgrade', 'all()'), globals = [], policies = [], networkPolicies = [] }: Case) {
  const read = (one: KubeObject) => globalPolicyOf(one, { apiGroup: GROUP });
  const found = workloadsWithout([read(temporary)], {
    pods: [pod('shop/a', { app: 'web' }), pod('shop/b', { app: 'db' }), pod('blog/c', { app: 'web' })],
    namespaces: [namespace('shop', { team: 'x' }), namespace('blog')],
    globalPolicies: [temporary, ...globals].map(read),
    policies,
    networkPolicies,
    profile: { apiGroup: GROUP },
  });
  return found.map((one) => `${one.namespace} ${one.pods}: ${one.policies.join(', ')}`);
}

describe('pods without the temporary policy', () => {
  const rows: readonly (readonly [title: string, given: Case, wanted: readonly string[]])[] = [
    ['stay open where no other policy selects them', {}, []],
    ['are left to a global policy', { globals: [policy('g', 'app == "web"')] }, ['shop 1: g', 'blog 1: g']],
    ['are left to a policy of their namespace', { policies: [own('shop/n', 'app == "db"')] }, ['shop 1: shop/n']],
    ['are left to a policy of Kubernetes', { networkPolicies: [networkPolicy('blog/k', { podSelector: {} })] }, ['blog 1: blog/k']],
    ['are not left to a policy of another namespace', { policies: [own('other/n', 'all()')] }, []],
    ['are reached by selectors of namespaces', { globals: [policy('g', '', { namespaceSelector: 'team == "x"' })] }, ['shop 2: g']],
    ['are reached by a label of their namespace', { globals: [policy('g', 'namespaceSelector.team == "x"')] }, ['shop 2: g']],
    ['of a namespace are reached by a label of it', { policies: [own('shop/n', '!has(namespaceSelector.other)')] }, ['shop 2: shop/n']],
    [
      'may be reached by their service account, which is not read',
      {
        globals: [policy('g', '', { serviceAccountSelector: 'team == "x"' })],
        policies: [
          own('shop/n', 'app == "db" && !has(projectcalico.org/serviceaccount)'),
          own('shop/m', '!(app == "db" || has(projectcalico.org/serviceaccount))'),
        ],
      },
      ['shop 2: g, shop/m, shop/n', 'blog 1: g'],
    ],
    [
      'are reached by global(), which is true of everything',
      { globals: [policy('g', '', { namespaceSelector: 'global()' })] },
      ['shop 2: g', 'blog 1: g'],
    ],
    [
      'are reached by what is for every namespace',
      { globals: [policy('g', 'app == "db"', { namespaceSelector: 'all()' })] },
      ['shop 1: g'],
    ],
    ['know their namespace as a label', { globals: [policy('g', 'projectcalico.org/namespace == "blog"')] }, ['blog 1: g']],
    [
      'do not matter where the temporary policy is not in force',
      { temporary: policy('allow-all-upgrade', 'has(upgrade)'), globals: [policy('g', 'all()')] },
      [],
    ],
  ];
  for (const [title, given, wanted] of rows) it(title, () => assert.deepEqual(without(given), wanted));
});
