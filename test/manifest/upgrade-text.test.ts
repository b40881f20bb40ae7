import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { upgradeText } from '../../src/manifest/upgrade-text.ts';

const TARGET = `# The release's own remark.
---
# Settings of the agents.
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: kube-system
data:
  # MTU of the interfaces; 0 finds it.
  veth_mtu: "0"
  cni_network_config: |-
    {
      "name": "net",
      "mtu": __CNI_MTU__,
      "plugins": [
        {
          "type": "agents",
          "log_level": "info"
        }
      ]
    }
---
apiVersion: v1
kind: ServiceAccount
metadata: {name:   node, namespace: kube-system}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: node
  namespace: kube-system
spec:
  template:
    spec:
      tolerations:
        # Everywhere.
        - effect: NoSchedule
          operator: Exists
      containers:
        - name: node
          image: quay.io/x/node:v3.32.1   # the release's
          env:
            # How the data is stored.
            - name: DATASTORE_TYPE
              value: "kubernetes"
            # Which address.
            - name: IP
              value: "autodetect"
          volumeMounts: []
`;

const objects = (text: string): readonly KubeObject[] => parseManifest(text, 'file').documents.map(({ object }) => object);

function upgraded(mine: string, base = TARGET): string {
  const result = mergeManifest({ base: objects(base), mine: objects(mine), theirs: objects(TARGET) });
  const text = upgradeText(TARGET, result);
  const own = (list: readonly KubeObject[]) => new Map(list.map((object) => [object.metadata.name + object.kind, object]));
  assert.deepEqual(own(objects(text)), own(result.documents));
  return text;
}

/** Lines that are only in one of the two texts, told by `-` and `+`. */
function difference(before: string, after: string): readonly string[] {
  const [left, right] = [before.split('\n'), after.split('\n')];
  const only = (a: readonly string[], b: readonly string[], sign: string) =>
    a.filter((line) => !b.includes(line)).map((line) => sign + line);
  return [...only(left, right, '-'), ...only(right, left, '+')];
}

describe('upgradeText', () => {
  it('is the target byte for byte where nothing was edited', () => {
    assert.equal(upgraded(TARGET), TARGET);
  });

  const cases: readonly { title: string; from: string; to: string; lines: readonly string[] }[] = [
    {
      title: 'changes one value and keeps its quotes',
      from: '"autodetect"',
      to: '10.0.0.1',
      lines: ['-              value: "autodetect"', '+              value: "10.0.0.1"'],
    },
    {
      title: 'keeps a comment behind an image',
      from: 'quay.io/x/node:v3.32.1',
      to: 'reg.example/x/node:v3.32.1',
      lines: ["-          image: quay.io/x/node:v3.32.1   # the release's", "+          image: reg.example/x/node:v3.32.1 # the release's"],
    },
    {
      title: 'takes the comment above along with a removed variable',
      from: '            # Which address.\n            - name: IP\n              value: "autodetect"\n',
      to: '',
      lines: ['-            # Which address.', '-            - name: IP', '-              value: "autodetect"'],
    },
    {
      title: 'adds a variable behind the one it stood behind',
      from: '            # Which address.\n',
      to: '            - name: MTU\n              value: "1400"\n',
      lines: ['+            - name: MTU', '+              value: "1400"'],
    },
    {
      title: 'changes one member of a JSON text',
      from: '"mtu": __CNI_MTU__',
      to: '"mtu": 1400',
      lines: ['-      "mtu": __CNI_MTU__,', '+      "mtu": 1400,'],
    },
    {
      title: 'adds a member to a JSON text',
      from: '"log_level": "info"',
      to: '"log_level": "info", "ipam": {"type": "host-local"}',
      lines: [
        '-          "log_level": "info"',
        '+          "log_level": "info",',
        '+          "ipam": {',
        '+            "type": "host-local"',
        '+          }',
      ],
    },
    {
      title: 'adds a toleration',
      from: '      containers:\n',
      to: '        - {key: a, effect: NoExecute}\n      containers:\n',
      lines: ['+        - key: a', '+          effect: NoExecute'],
    },
  ];
  for (const { title, from, to, lines } of cases) {
    it(title, () => assert.deepEqual(difference(TARGET, upgraded(TARGET.replace(from, to))), lines));
  }

  it('leaves out what the person removed and puts what they added at the end', () => {
    const [head = '', config = '', account = '', agents = ''] = TARGET.split('---\n');
    const mine = [head, account, agents, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n  namespace: kube-system\n'].join(
      '---\n',
    );
    assert.equal(
      upgraded(mine),
      [head, account, agents, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n  namespace: kube-system\n'].join('---\n'),
    );
    assert.match(config, /veth_mtu/);
  });

  it('leaves the comment of a list’s first item with that item where another comes before it', () => {
    const documents = parseManifest(TARGET, 'target').documents.map(({ object }) => object);
    const first = { key: 'mine', operator: 'Exists' };
    const edited = documents.map((object) => {
      if (object.kind !== 'DaemonSet') return object;
      const spec = object.spec as { template: { spec: { tolerations: readonly object[] } } };
      const pod = { ...spec.template.spec, tolerations: [first, ...spec.template.spec.tolerations] };
      return { ...object, spec: { ...spec, template: { ...spec.template, spec: pod } } };
    });
    const text = upgradeText(TARGET, { documents: edited });
    assert.match(text, /tolerations:\n +- key: mine\n +operator: Exists\n +# Everywhere\.\n +- effect: NoSchedule/);
  });
});
