import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { agents, briefly, config, container, env, image, json, knowledge, merged } from '../support/merge-cases.ts';

interface Case {
  readonly title: string;
  readonly base: KubeObject;
  readonly mine: KubeObject;
  readonly theirs: KubeObject;
  readonly result: KubeObject;
  readonly told: readonly string[];
  /** Pieces of the notes that a person gets besides. */
  readonly notes?: readonly RegExp[];
}

const field = { valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } };
const other = { valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };

const variables: readonly Case[] = [
  {
    title: 'a changed value is kept',
    base: env({ A: '1' }),
    mine: env({ A: '2' }),
    theirs: env({ A: '1' }),
    result: env({ A: '2' }),
    told: ['kept env[A].value'],
  },
  {
    title: 'a value that both changed is a conflict',
    base: env({ A: '1' }),
    mine: env({ A: '2' }),
    theirs: env({ A: '3' }),
    result: env({ A: '3' }),
    told: ['conflict env[A].value'],
  },
  {
    title: 'the same change on both sides is there already',
    base: env({ A: '1' }),
    mine: env({ A: '2' }),
    theirs: env({ A: '2' }),
    result: env({ A: '2' }),
    told: ['already env[A].value'],
  },
  {
    title: 'a number for its text is no edit',
    base: env({ A: '1' }),
    mine: env({ A: 1 }),
    theirs: env({ A: '9' }),
    result: env({ A: '9' }),
    told: [],
  },
  {
    title: 'no value for an empty one is no edit',
    base: env({ A: '' }),
    mine: env({ A: {} }),
    theirs: env({ A: '' }),
    result: env({ A: '' }),
    told: [],
  },
  {
    title: 'a source for a value replaces it',
    base: env({ A: '1' }),
    mine: env({ A: field }),
    theirs: env({ A: '1' }),
    result: env({ A: field }),
    told: ['kept env[A]'],
  },
  {
    title: 'a source for a value that the release changed is one conflict',
    base: env({ A: '1' }),
    mine: env({ A: field }),
    theirs: env({ A: '2' }),
    result: env({ A: '2' }),
    told: ['conflict env[A]'],
  },
  {
    title: 'a value for a source replaces it',
    base: env({ A: field }),
    mine: env({ A: '1' }),
    theirs: env({ A: field }),
    result: env({ A: '1' }),
    told: ['kept env[A]'],
  },
  {
    title: 'another source while the release set a value is one conflict',
    base: env({ A: field }),
    mine: env({ A: other }),
    theirs: env({ A: '1' }),
    result: env({ A: '1' }),
    told: ['conflict env[A]'],
  },
  {
    title: 'of a repeated variable the last one counts',
    base: env({ A: '1' }),
    mine: env({ A: '1' }, { name: 'A', value: '2' }),
    theirs: env({ A: '1' }),
    result: env({ A: '2' }),
    told: ['kept env[A].value'],
    notes: [/A is there twice/],
  },
  {
    title: 'another order is no edit',
    base: env({ A: '1', B: '2' }),
    mine: env({ B: '2', A: '1' }),
    theirs: env({ A: '1', B: '2' }),
    result: env({ A: '1', B: '2' }),
    told: [],
  },
  {
    title: 'an order in which a variable reads another is kept with the edit that needs it',
    base: env({ A: '1', B: '2' }),
    mine: env({ B: '2', A: 'x-$(B)' }),
    theirs: env({ N: '0', A: '1', C: '3', B: '2' }),
    result: env({ N: '0', B: '2', A: 'x-$(B)', C: '3' }),
    told: ['kept env[A].value'],
    notes: [/env: B is put before A, which reads it/],
  },
  {
    title: 'an order in which a variable reads another is kept where nothing but the order was changed',
    base: env({ A: '$(B)', B: '2' }),
    mine: env({ B: '2', A: '$(B)' }),
    theirs: env({ A: '$(B)', B: '3' }),
    result: env({ B: '3', A: '$(B)' }),
    told: [],
    notes: [/env: B is put before A/],
  },
  {
    title: 'a chain of variables keeps its order, and one of the person’s own finds what it reads',
    base: env({ A: '1', B: '2' }),
    mine: env({ B: '2', OWN: '$(B)', A: '$(OWN)' }),
    theirs: env({ A: '1', B: '2' }),
    result: env({ B: '2', OWN: '$(B)', A: '$(OWN)' }),
    told: ['kept env[A].value', 'kept env[OWN]'],
  },
  {
    title: 'an order that the person could not read by either has no meaning, nor has an escaped name',
    base: env({ A: '1', B: '2' }),
    mine: env({ B: '2', A: '$$(B)' }),
    theirs: env({ A: '1', B: '2' }),
    result: env({ A: '$$(B)', B: '2' }),
    told: ['kept env[A].value'],
  },
  {
    title: 'an order of the person’s has no meaning for a value that is the target’s',
    base: env({ A: '1', B: '2' }),
    mine: env({ B: '2', A: '1' }),
    theirs: env({ A: '$(B)', B: '2' }),
    result: env({ A: '$(B)', B: '2' }),
    told: [],
  },
  {
    title: 'of variables that read each other only those are a conflict, and who reads them still can',
    base: env({ A: '1', B: '1', C: '1' }),
    mine: env({ C: '1', B: '$(C)', A: '$(B)' }),
    theirs: env({ A: '1', B: '1', C: '$(B)' }),
    result: env({ B: '1', A: '$(B)', C: '$(B)' }),
    told: ['kept env[A].value', 'conflict env[B].value'],
  },
  {
    title: 'two variables that read each other, one with you and one in the target, are a conflict',
    base: env({ A: '1', B: '2' }),
    mine: env({ B: '2', A: '$(B)' }),
    theirs: env({ A: '1', B: '$(A)' }),
    result: env({ A: '1', B: '$(A)' }),
    told: ['conflict env[A].value'],
  },
  {
    title: 'a removal is kept',
    base: env({ A: '1', B: '2' }),
    mine: env({ A: '1' }),
    theirs: env({ A: '1', B: '2' }),
    result: env({ A: '1' }),
    told: ['kept env[B]'],
  },
  {
    title: 'a removal of what the release changed is a conflict',
    base: env({ A: '1', B: '2' }),
    mine: env({ A: '1' }),
    theirs: env({ A: '1', B: '3' }),
    result: env({ A: '1', B: '3' }),
    told: ['conflict env[B]'],
  },
  {
    title: 'a change of what the release dropped is obsolete',
    base: env({ A: '1', B: '2' }),
    mine: env({ A: '1', B: '5' }),
    theirs: env({ A: '1' }),
    result: env({ A: '1' }),
    told: ['obsolete env[B].value'],
  },
  {
    title: 'different additions of one name are a conflict',
    base: env({ A: '1' }),
    mine: env({ A: '1', B: '2' }),
    theirs: env({ A: '1', B: '3' }),
    result: env({ A: '1', B: '3' }),
    told: ['conflict env[B].value'],
  },
  {
    title: 'a word added to a list with commas stays',
    base: env({ ENABLED_CONTROLLERS: 'node' }),
    mine: env({ ENABLED_CONTROLLERS: 'node,rr' }),
    theirs: env({ ENABLED_CONTROLLERS: 'node,loadbalancer' }),
    result: env({ ENABLED_CONTROLLERS: 'node,loadbalancer,rr' }),
    told: ['kept env[ENABLED_CONTROLLERS].value'],
  },
  {
    title: 'a word taken from a list with commas stays away',
    base: env({ ENABLED_CONTROLLERS: 'policy,node' }),
    mine: env({ ENABLED_CONTROLLERS: 'node' }),
    theirs: env({ ENABLED_CONTROLLERS: 'policy,node,loadbalancer' }),
    result: env({ ENABLED_CONTROLLERS: 'node,loadbalancer' }),
    told: ['kept env[ENABLED_CONTROLLERS].value'],
  },
  {
    title: 'blanks in a list with commas are no edit',
    base: env({ ENABLED_CONTROLLERS: 'policy,node' }),
    mine: env({ ENABLED_CONTROLLERS: 'policy, node' }),
    theirs: env({ ENABLED_CONTROLLERS: 'node' }),
    result: env({ ENABLED_CONTROLLERS: 'node' }),
    told: [],
  },
  {
    title: 'an addition goes behind what stood before it',
    base: env({ A: '1', B: '2' }),
    mine: env({ A: '1', X: '0', B: '2' }),
    theirs: env({ A: '1', B: '2', C: '3' }),
    result: env({ A: '1', X: '0', B: '2', C: '3' }),
    told: ['kept env[X]'],
  },
];

const OLD = 'docker.io/calico/node:v3.27.2';
const NEW = 'quay.io/calico/node:v3.32.1';
const OWN = 'm.example:5000/p/node';
const kindOfImage = (title: string, mine: string, result: string, told: readonly string[], theirs = NEW): Case => ({
  title,
  base: image(OLD),
  mine: image(mine),
  theirs: image(theirs),
  result: image(result),
  told,
});

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const images: readonly Case[] = [
  kindOfImage('another registry is kept with the target’s tag; its port is no tag', `${OWN}:v3.27.2`, `${OWN}:v3.32.1`, ['kept image']),
  kindOfImage('an image without a tag is a conflict; the registry is kept until and after it', OWN, `${OWN}:v3.32.1`, ['conflict image']),
  kindOfImage('an own build from another registry too', `${OWN}:v3.27.2-fix`, `${OWN}:v3.32.1`, ['conflict image']),
  kindOfImage('a digest from another registry too', `${OWN}@sha256:${'ab'.repeat(32)}`, `${OWN}:v3.32.1`, ['conflict image']),
  kindOfImage('an own build under another name stands for nothing of the target', 'm.example/p/agent:v3.27.2-fix', NEW, ['conflict image']),
  kindOfImage('an own build in the registry that the target has', 'quay.io/calico/node:v3.27.2-fix', NEW, ['conflict image']),
  kindOfImage('another release’s tag is no edit', 'docker.io/calico/node:v3.27.4', NEW, []),
  kindOfImage('a tag of an own build is a conflict', 'docker.io/calico/node:v3.27.2-fix', NEW, ['conflict image']),
  kindOfImage('a digest is a conflict', `docker.io/calico/node@sha256:${'ab'.repeat(32)}`, NEW, ['conflict image']),
  {
    title: 'a digest of the target stays with its tag, from another registry too',
    base: image(OLD),
    mine: image(`${OWN}:v3.27.2`),
    theirs: image(`${NEW}@${DIGEST}`),
    result: image(`${OWN}:v3.32.1@${DIGEST}`),
    told: ['kept image'],
  },
  kindOfImage('the default registry left out is no edit', 'calico/node:v3.27.2', NEW, []),
  kindOfImage('the registry that the target has is there already', 'quay.io/calico/node:v3.27.2', NEW, ['already image']),
];

const probe = (handler: object, periodSeconds: number): KubeObject => container({ livenessProbe: { ...handler, periodSeconds } });
const source = (fields: object): KubeObject => agents({ volumes: [{ name: 'v', ...fields }] });
const mounts = (...list: readonly object[]): KubeObject =>
  container({ volumeMounts: list }, { volumes: [{ name: 'v', hostPath: { path: '/v' } }] });
const args = (text: string): KubeObject => container({ args: text.split(' ') });
const tolerations = (...list: readonly object[]): KubeObject => agents({ tolerations: [{ operator: 'Exists' }, ...list] });
const cpu = (resources: unknown): KubeObject => container({ resources });
const requests = (amount: string): KubeObject => cpu({ requests: { cpu: amount } });

const workloads: readonly Case[] = [
  {
    title: 'arguments of both sides keep their order',
    base: args('a b'),
    mine: args('a b x'),
    theirs: args('z a b'),
    result: args('z a b x'),
    told: ['kept args'],
  },
  {
    title: 'arguments changed at the same place are a conflict',
    base: args('a b'),
    mine: args('a x'),
    theirs: args('a y'),
    result: args('a y'),
    told: ['conflict args'],
  },
  {
    title: 'a toleration with its default left out is there already',
    base: tolerations(),
    mine: tolerations({ key: 'k', effect: 'NoSchedule' }),
    theirs: tolerations({ key: 'k', operator: 'Equal', effect: 'NoSchedule' }),
    result: tolerations({ key: 'k', operator: 'Equal', effect: 'NoSchedule' }),
    told: ['already tolerations[k:NoSchedule]'],
  },
  {
    title: 'quantities written differently are no edit',
    base: requests('250m'),
    mine: requests('0.25'),
    theirs: requests('300m'),
    result: requests('300m'),
    told: [],
  },
  {
    title: 'null removes',
    base: requests('250m'),
    mine: cpu(null),
    theirs: requests('250m'),
    result: container({}),
    told: ['kept resources'],
  },
  {
    title: 'how often to ask is apart from how to ask',
    base: probe({ httpGet: { port: 1 } }, 10),
    mine: probe({ httpGet: { port: 1 } }, 30),
    theirs: probe({ exec: { command: ['x'] } }, 10),
    result: probe({ exec: { command: ['x'] } }, 30),
    told: ['kept livenessProbe.periodSeconds'],
  },
  {
    title: 'a change of a handler that the release replaced is obsolete',
    base: probe({ httpGet: { port: 1 } }, 10),
    mine: probe({ httpGet: { port: 2 } }, 10),
    theirs: probe({ exec: { command: ['x'] } }, 10),
    result: probe({ exec: { command: ['x'] } }, 10),
    told: ['obsolete livenessProbe.httpGet.port'],
  },
  {
    title: 'another handler than the one the release changed is one conflict',
    base: probe({ httpGet: { port: 1 } }, 10),
    mine: probe({ tcpSocket: { port: 1 } }, 10),
    theirs: probe({ httpGet: { port: 2 } }, 10),
    result: probe({ httpGet: { port: 2 } }, 10),
    told: ['conflict livenessProbe'],
  },
  {
    title: 'another volume source than the one the release changed is one conflict',
    base: source({ hostPath: { path: '/a' } }),
    mine: source({ emptyDir: {} }),
    theirs: source({ hostPath: { path: '/a', type: 'Directory' } }),
    result: source({ hostPath: { path: '/a', type: 'Directory' } }),
    told: ['conflict volumes[v]'],
  },
  {
    title: 'a path changed within the same source goes with the release’s type',
    base: source({ hostPath: { path: '/a' } }),
    mine: source({ hostPath: { path: '/b' } }),
    theirs: source({ hostPath: { path: '/a', type: 'Directory' } }),
    result: source({ hostPath: { path: '/b', type: 'Directory' } }),
    told: ['kept volumes[v].hostPath.path'],
  },
  {
    title: 'a mount moved away from what the release changed is one conflict',
    base: mounts({ name: 'v', mountPath: '/a' }),
    mine: mounts({ name: 'v', mountPath: '/b' }),
    theirs: mounts({ name: 'v', mountPath: '/a', readOnly: true }),
    result: mounts({ name: 'v', mountPath: '/a', readOnly: true }),
    told: ['conflict volumeMounts[/a]'],
  },
  {
    title: 'a moved mount is one edit',
    base: mounts({ name: 'v', mountPath: '/a' }),
    mine: mounts({ name: 'v', mountPath: '/b' }),
    theirs: mounts({ name: 'v', mountPath: '/a' }),
    result: mounts({ name: 'v', mountPath: '/b' }),
    told: ['kept volumeMounts[/a]'],
  },
];

const cni = (text: string): KubeObject => json(`{"mtu": ${text}}`);

const texts: readonly Case[] = [
  {
    title: 'a value for a placeholder is kept beside what the release added',
    base: cni('__CNI_MTU__'),
    mine: cni('1400'),
    theirs: json('{"mtu": __CNI_MTU__, "n": 1}'),
    result: json('{"mtu": 1400, "n": 1}'),
    told: ['kept json.mtu'],
  },
  {
    title: 'JSON with other white space is no edit',
    base: json('{"a":1}'),
    mine: json('{\n  "a": 1\n}'),
    theirs: json('{"a":2}'),
    result: json('{"a":2}'),
    told: [],
  },
  {
    title: 'a placeholder in quotes is another value',
    base: cni('__X__'),
    mine: cni('"__X__"'),
    theirs: cni('__X__'),
    result: cni('"__X__"'),
    told: ['kept json.mtu'],
  },
  {
    title: 'a removed plugin that the release removed as well is gone already',
    base: json('{"plugins": [{"type": "calico"}, {"type": "bandwidth"}]}'),
    mine: json('{"plugins": [{"type": "calico"}]}'),
    theirs: json('{"plugins": [{"type": "calico"}]}'),
    result: json('{"plugins": [{"type": "calico"}]}'),
    told: ['already json.plugins[bandwidth]'],
  },
  {
    title: 'an added plugin comes behind the release’s',
    base: json('{"plugins": [{"type": "calico"}, {"type": "bandwidth"}]}'),
    mine: json('{"plugins": [{"type": "calico"}, {"type": "bandwidth"}, {"type": "tuning"}]}'),
    theirs: json('{"plugins": [{"type": "calico"}, {"type": "portmap"}]}'),
    result: json('{"plugins": [{"type": "calico"}, {"type": "portmap"}, {\n  "type": "tuning"\n}]}'),
    told: ['kept json.plugins[tuning]'],
  },
  {
    title: 'a change within a plugin that is gone is obsolete',
    base: json('{"plugins": [{"type": "bandwidth", "cap": true}]}'),
    mine: json('{"plugins": [{"type": "bandwidth", "cap": false}]}'),
    theirs: json('{"plugins": []}'),
    result: json('{"plugins": []}'),
    told: ['obsolete json.plugins[bandwidth].cap'],
  },
  {
    title: 'broken JSON is a conflict',
    base: json('{"a":1}'),
    mine: json('{"a":'),
    theirs: json('{"a":1}'),
    result: json('{"a":1}'),
    told: ['conflict json'],
  },
  {
    title: 'a number in a ConfigMap is written as text',
    base: config({ mtu: '0' }),
    mine: config({ mtu: 1400 }),
    theirs: config({ mtu: '0' }),
    result: config({ mtu: '1400' }),
    told: ['kept mtu'],
  },
];

const init = (name: string, text: string): object => ({ name, image: text });
const inits = (first: string, ...more: readonly object[]): KubeObject => agents({ initContainers: more, containers: [init('c', first)] });
const volume = (name: string): object => ({ name, hostPath: { path: `/${name}` } });

const across: readonly Case[] = [
  {
    title: 'a container that the person put first still runs first',
    base: inits(OLD, init('a', OLD)),
    mine: inits(OLD, init('mine', 'x:1'), init('a', OLD)),
    theirs: inits(NEW, init('new', NEW), init('a', NEW)),
    result: inits(NEW, init('mine', 'x:1'), init('new', NEW), init('a', NEW)),
    told: ['kept initContainers[mine]'],
  },
  {
    title: 'a container whose predecessor is gone comes before the one that stood behind it',
    base: inits(OLD, init('a', OLD), init('b', OLD), init('c', OLD)),
    mine: inits(OLD, init('a', OLD), init('b', OLD), init('mine', 'x:1'), init('c', OLD)),
    theirs: inits(NEW, init('a', NEW), init('c', NEW)),
    result: inits(NEW, init('a', NEW), init('mine', 'x:1'), init('c', NEW)),
    told: ['kept initContainers[mine]'],
  },
  {
    title: 'a variable that others are made of stays before them',
    base: env({ A: '1' }),
    mine: env({ HOST: field, A: '$(HOST)' }),
    theirs: env({ A: '1' }),
    result: env({ HOST: field, A: '$(HOST)' }),
    told: ['kept env[A].value', 'kept env[HOST]'],
  },
  {
    title: 'a container new in the target comes from the person’s registry',
    base: inits(OLD),
    mine: inits(`${OWN}:v3.27.2`),
    theirs: inits(NEW, init('i', NEW)),
    result: inits(`${OWN}:v3.32.1`, init('i', `${OWN}:v3.32.1`)),
    told: ['kept image', 'kept initContainers[i].image'],
  },
  {
    title: 'a container new in the target comes from there too, where the others are pinned to a digest',
    base: inits(OLD),
    mine: inits(`${OWN}@sha256:${'ab'.repeat(32)}`),
    theirs: inits(NEW, init('i', NEW)),
    result: inits(`${OWN}:v3.32.1`, init('i', `${OWN}:v3.32.1`)),
    told: ['conflict image', 'kept initContainers[i].image'],
  },
  {
    title: 'a container that the person had removed and the release changed comes from there too, until and after the decision',
    base: inits(OLD, init('i', OLD), init('j', OLD)),
    mine: inits(`${OWN}:v3.27.2`, init('j', `${OWN}:v3.27.2`)),
    theirs: inits(NEW, { ...init('i', NEW), command: ['x'] }, init('j', NEW)),
    result: inits(`${OWN}:v3.32.1`, { ...init('i', `${OWN}:v3.32.1`), command: ['x'] }, init('j', `${OWN}:v3.32.1`)),
    told: ['kept image', 'conflict initContainers[i]', 'kept initContainers[j].image', 'kept initContainers[i].image'],
  },
  {
    title: 'edits of a container that is gone are obsolete, and tell the registry nevertheless',
    base: inits(OLD, init('old', OLD)),
    mine: inits(OLD, init('old', `${OWN}:v3.27.2`)),
    theirs: inits(NEW, init('new', NEW)),
    result: inits(NEW, init('new', `${OWN}:v3.32.1`)),
    told: ['obsolete initContainers[old].image', 'kept initContainers[new].image'],
  },
  {
    title: 'an edit goes over to the new name of a container',
    base: inits(OLD, init('mount-bpffs', OLD)),
    mine: inits(OLD, init('mount-bpffs', `${OWN}:v3.27.2`)),
    theirs: inits(NEW, init('ebpf-bootstrap', NEW)),
    result: inits(NEW, init('ebpf-bootstrap', `${OWN}:v3.32.1`)),
    told: ['kept initContainers[ebpf-bootstrap].image'],
  },
  {
    title: 'a removal across a rename is a conflict',
    base: inits(OLD, init('mount-bpffs', OLD)),
    mine: inits(OLD),
    theirs: inits(NEW, init('ebpf-bootstrap', NEW)),
    result: inits(NEW, init('ebpf-bootstrap', NEW)),
    told: ['conflict initContainers[ebpf-bootstrap]'],
  },
  {
    title: 'a removed volume that the target mounts anew is a conflict',
    base: agents({ volumes: [volume('v')] }),
    mine: agents({}),
    theirs: container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }, { volumes: [volume('v')] }),
    result: container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }, { volumes: [volume('v')] }),
    told: ['conflict volumes[v]'],
  },
];

describe('mergeManifest', () => {
  for (const { title, base, mine, theirs, result, told, notes = [] } of [...variables, ...images, ...workloads, ...texts, ...across]) {
    it(title, () => {
      const outcome = merged(base, mine, theirs);
      assert.deepEqual(outcome.documents, [result]);
      assert.deepEqual(briefly(outcome), told);
      for (const note of notes) assert.match(outcome.notes.join('\n'), note);
    });
  }
});

describe('a registry of one’s own and a build of one’s own', () => {
  const mine = `${OWN}:v3.27.2-fix`;
  const field = 'images:m.example:5000/p';
  const cases: readonly (readonly [side: 'mine' | 'theirs', first: string, second: string])[] = [
    ['mine', mine, `${OWN}:v3.32.1`],
    ['theirs', `${OWN}:v3.32.1`, `${OWN}:v3.32.1`],
  ];
  for (const [side, first, second] of cases) {
    it(`are two edits: ${side} for the build leaves every image with the registry`, () => {
      const input = { base: [inits(OLD)], mine: [inits(mine)], theirs: [inits(NEW, init('i', NEW))], knowledge };
      const { documents, edits } = mergeManifest({ ...input, resolutions: { [field]: side } });
      assert.deepEqual(documents, [inits(first, init('i', second))]);
      assert.deepEqual(
        edits.filter(({ outcome }) => outcome === 'conflict'),
        [],
      );
    });
  }

  it('are told together: what stands for the target is shown with the registry', () => {
    const [conflict] = merged(image(OLD), image(mine), image(NEW)).conflicts;
    assert.equal(conflict?.field, field);
    assert.equal(conflict?.theirs, `${OWN}:v3.32.1`);
    assert.match(conflict?.because ?? '', /from your registry/);
  });
});
