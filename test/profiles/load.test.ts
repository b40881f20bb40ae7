import assert from 'node:assert/strict';
import { Fault } from '../../src/kernel/fault.ts';
import { calico } from '../../src/profiles/calico.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { loadProfile } from '../../src/profiles/load.ts';

async function refusal(text: string): Promise<Fault> {
  try {
    await loadProfile(text, 'mine.yaml');
  } catch (thrown) {
    assert.ok(thrown instanceof Fault);
    assert.equal(thrown.code, 'usage');
    return thrown;
  }
  assert.fail('the profile was accepted');
}

/** A defect of releases up to its eighth line, without its range and conditions. */
const defect = `extends: calico
defects:
  - id: ours
    of: target
    severity: error
    symptom: It burns.
    happens: it burns
    advice: Do not.
    sources: [ours#1]`;

describe('loading a profile of a person', () => {
  for (const shipped of shippedProfiles) {
    it(`gives ${shipped.name} back unchanged when it is written out whole`, async () => {
      assert.deepEqual(await loadProfile(JSON.stringify(shipped), 'whole.json'), JSON.parse(JSON.stringify(shipped)));
    });
  }

  const bomb = [
    'a: &a [1,1,1,1,1,1,1,1,1,1]',
    ...'bcdefgh'.split('').map((one, at) => `${one}: &${one} [${`*${'abcdefgh'[at]},`.repeat(9)}]`),
  ];
  for (const [title, text] of [
    ['aliases that grow without bound', bomb.join('\n')],
    ['nesting without bound', '['.repeat(100_000)],
  ] as const)
    it(`refuses ${title}`, async () => {
      const fault = await refusal(text);
      assert.match(fault.message, /^mine\.yaml:1: /);
      assert.ok(fault.suggestions.length);
    });

  it('takes what is not said from the profile it extends', async () => {
    const own = await loadProfile(
      'extends: calico\nname: ours\nregistries: [mirror.example/calico]\nkubernetes:\n  floor: "1.32"\n',
      'mine.yaml',
    );
    assert.deepEqual(own, {
      ...calico,
      name: 'ours',
      registries: ['mirror.example/calico'],
      kubernetes: { ...calico.kubernetes, floor: '1.32' },
    });
  });

  it('merges variants by their id, and adds new ones at the end', async () => {
    const text = `extends: calico
variants:
  - id: canal
    agent: {namespace: net, name: rke2-canal}
  - id: ours
    title: our own
    file: ours.yaml
    datastore: api
    agent: {kind: DaemonSet, namespace: net, name: a, container: b, ready: {type: literal, ready: 3/3}}
    controllers: {kind: Deployment, namespace: net, name: c, container: c, ready: {type: all-containers}}
    configMap: ours
    signs: []
`;
    const { variants } = await loadProfile(text, 'mine.yaml');
    assert.deepEqual(
      variants.map(({ id }) => id),
      [...calico.variants.map(({ id }) => id), 'ours'],
    );
    const canal = calico.variants.find(({ id }) => id === 'canal');
    const own = variants.find(({ id }) => id === 'canal');
    assert.deepEqual(own, { ...canal, agent: { ...canal?.agent, namespace: 'net', name: 'rke2-canal' } });
  });

  it('adds defects of releases to those that are known', async () => {
    const { defects } = await loadProfile(`${defect}\n    when: []\n    releases: {from: v3.32.0}\n`, 'mine.yaml');
    assert.deepEqual(
      defects?.map(({ id }) => id),
      [...(calico.defects ?? []).map(({ id }) => id), 'ours'],
    );
  });

  it('removes with null what the extended profile has', async () => {
    const own = await loadProfile('extends: calico\npolicyRenaming: null\n', 'mine.yaml');
    assert.equal('policyRenaming' in own, false);
  });

  for (const [what, text, expected] of [
    ['text that is no YAML', 'name: [1\n', /^mine\.yaml:2: Flow sequence/],
    ['a list', '- 1\n', /^mine\.yaml:1: a profile is a map/],
    ['an empty file', '', /^mine\.yaml:1: a profile is a map/],
    ['an unknown profile to extend', '# mine\nextends: cilium\n', /^mine\.yaml:2: extends: there is no profile cilium$/],
    ['a field that no profile has', 'extends: calico\ntitle: x\nregistry: y\n', /^mine\.yaml:3: registry: is no field of a profile$/],
    ['a release without all its numbers', 'extends: calico\ndefaultRelease: v3.32\n', /^mine\.yaml:2: defaultRelease: must match pattern/],
    ['a number for a text', 'extends: calico\nkubernetes:\n  floor: 1.31\n', /^mine\.yaml:3: kubernetes\.floor: must be string$/],
    [
      'a field deep in a merged list',
      'extends: calico\nvariants:\n  - id: canal\n    agent:\n      kind: StatefulSet\n',
      /^mine\.yaml:5: variants\[canal\]\.agent\.kind: must be one of DaemonSet, Deployment$/,
    ],
    [
      'a sign of an unknown type',
      'extends: calico\nvariants:\n  - id: canal\n    signs:\n      - type: env\n        name: A\n      - type: smell\n',
      /^mine\.yaml:7: variants\[canal\]\.signs\[1\]: type is missing or unknown$/,
    ],
    [
      'a condition of an unknown type',
      `${defect}\n    releases: {from: v3.32.0}\n    when: [{type: crd, name: a}, {type: weather}]\n`,
      /^mine\.yaml:11: defects\[ours\]\.when\[1\]: type is missing or unknown$/,
    ],
    [
      'a range of releases that ends before it begins',
      `${defect}\n    when: []\n    releases:\n      from: v3.32.1\n      before: v3.32.0\n`,
      /^mine\.yaml:13: defects\[ours\]\.releases\.before: the range ends before v3\.32\.0, and begins at v3\.32\.1$/,
    ],
    [
      'a fix that is of the range with the defect',
      `${defect}\n    when: []\n    releases: {from: v3.32.0, before: v3.32.2}\n    fixedIn: v3.32.1\n`,
      /^mine\.yaml:12: defects\[ours\]\.fixedIn: v3\.32\.1 is of the range that has the defect$/,
    ],
    [
      'a fix of an older line that is not within the range',
      `${defect}\n    when: []\n    releases: {from: v3.30.0, before: v3.32.1, backports: [v3.29.7]}\n`,
      /^mine\.yaml:11: defects\[ours\]\.releases\.backports: v3\.29\.7 is not within the range$/,
    ],
    [
      'versions of nodes that end before they begin',
      `${defect}\n    releases: {from: v3.32.0}\n    when:\n      - type: node\n        field: kernelVersion\n        from: "5.15"\n        before: "5.9"\n`,
      /^mine\.yaml:15: defects\[ours\]\.when\[0\]\.before: the range ends before 5\.9, and begins at 5\.15$/,
    ],
    [
      'a release whose numbers are too large to be compared',
      `${defect}\n    when: []\n    releases: {from: v3.32.0, before: v3.1234567890.1}\n`,
      /^mine\.yaml:11: defects\[ours\]\.releases\.before: must match pattern/,
    ],
    [
      'a version of nodes that is no number',
      `${defect}\n    releases: {from: v3.32.0}\n    when: [{type: node, field: kernelVersion, from: "${'9'.repeat(400)}"}]\n`,
      /^mine\.yaml:11: defects\[ours\]\.when\[0\]\.from: must match pattern/,
    ],
    [
      'a version of an architecture',
      `${defect}\n    releases: {from: v3.32.0}\n    when: [{type: node, field: architecture, startsWith: [arm64], before: "9"}]\n`,
      /^mine\.yaml:11: defects\[ours\]\.when\[0\]\.before: an architecture has no version$/,
    ],
    [
      'an empty text, which every image would have in it',
      `${defect}\n    releases: {from: v3.32.0}\n    when: [{type: hostProgram, images: [""]}]\n`,
      /^mine\.yaml:11: defects\[ours\]\.when\[0\]\.images\[0\]: must NOT have fewer than 1 characters$/,
    ],
    [
      'a condition on resources that nothing reads',
      `${defect}\n    releases: {from: v3.32.0}\n    when:\n      - type: resource\n        fields: [cidr]\n        plurals: [ippools, ipools]\n`,
      /^mine\.yaml:14: defects\[ours\]\.when\[0\]\.plurals\[1\]: is no kind of cli\.kinds or removedKinds, so it is not read$/,
    ],
    [
      'two items of one id',
      'extends: calico\ndefects:\n  - id: nft-crash\n    severity: warning\n  - id: nft-crash\n    severity: error\n',
      /^mine\.yaml:5: defects\[nft-crash\]: the list has an item of this id already$/,
    ],
    [
      'a text where the operator has a release',
      'extends: calico\noperator:\n  exactReleases:\n    v1.42.3: latest\n',
      /^mine\.yaml:4: operator\.exactReleases\.v1\.42\.3: must match pattern/,
    ],
    ['a missing field', 'name: x\n', /^mine\.yaml:1: the profile: field title is missing$/],
  ] as const) {
    it(`refuses ${what} with the line and the field`, async () => {
      assert.match((await refusal(text)).message, expected);
    });
  }

  it('names further mistakes as well', async () => {
    const { message, suggestions } = await refusal('extends: netsvc\nalpha: 1\nbeta: 2\n');
    assert.deepEqual(
      [message, suggestions[0]],
      ['mine.yaml:2: alpha: is no field of a profile', 'mine.yaml:3: beta: is no field of a profile'],
    );
  });
});
