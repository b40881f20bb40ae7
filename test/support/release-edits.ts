import type { KubeObject } from '../../src/kernel/object.ts';
import { podSpecOf, recordsIn, withPodSpec } from '../../src/manifest/prepare.ts';
import { numbersFrom } from './seed.ts';

type Objects = readonly KubeObject[];

/** What people do to a release's manifest before they install it. */
const EDITS: readonly ((objects: Objects, dice: Dice) => Objects)[] = [
  otherRegistry,
  otherImageName,
  (objects, dice) =>
    inContainer(objects, dice, (one) => ({ ...one, env: variablesOf(one).map(changedAt(dice, variablesOf(one), setTo('own'))) })),
  (objects, dice) =>
    inContainer(objects, dice, (one) => ({ ...one, env: [...variablesOf(one), { name: `OWN_${dice(3)}`, value: String(dice(9)) }] })),
  (objects, dice) => inContainer(objects, dice, (one) => ({ ...one, env: without(dice, variablesOf(one)) })),
  (objects, dice) => inContainer(objects, dice, (one) => ({ ...one, env: variablesOf(one).toReversed() })),
  (objects, dice) => inContainer(objects, dice, (one) => ({ ...one, resources: { limits: { memory: `${1 + dice(9)}Gi` } } })),
  (objects, dice) =>
    inPod(objects, dice, (pod) => ({
      ...pod,
      tolerations: [...recordsIn(pod.tolerations), { key: `own-${dice(3)}`, operator: 'Exists' }],
    })),
  (objects, dice) => inPod(objects, dice, (pod) => ({ ...pod, tolerations: without(dice, recordsIn(pod.tolerations)) })),
  (objects, dice) => inPod(objects, dice, (pod) => ({ ...pod, volumes: recordsIn(pod.volumes).toReversed() })),
  (objects, dice) =>
    inPod(objects, dice, (pod) => ({ ...pod, nodeSelector: { ...(pod.nodeSelector as object), [`own/${dice(3)}`]: 'yes' } })),
  (objects, dice) => inPod(objects, dice, (pod) => ({ ...pod, imagePullSecrets: [{ name: `own-${dice(3)}` }] })),
  (objects, dice) => inConfig(objects, (text) => text.replace(/"log_level": "\w+"/, `"log_level": "own${dice(3)}"`)),
  (objects, dice) => inConfig(objects, (text) => text.replace(/"mtu": *[^,\n]+/, `"mtu": ${1300 + dice(100)}`)),
  (objects) => inConfig(objects, (text) => text.replace('"plugins": [', '"plugins": [ {"type": "own"},')),
  (objects, dice) => withData(objects, `own_${dice(3)}`, String(dice(9))),
  (objects) => withData(objects, 'veth_mtu', '1350'),
  (objects) => objects.toReversed(),
  (objects, dice) =>
    changeOne(
      objects,
      dice,
      () => true,
      (one) => ({ ...one, metadata: { ...one.metadata, labels: { ...one.metadata.labels, own: String(dice(9)) } } }),
    ),
  (objects, dice) => [
    ...objects,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `own-${dice(3)}`, namespace: 'kube-system' }, data: { a: '1' } },
  ],
  (objects) => objects.filter(({ kind }) => kind !== 'PodDisruptionBudget'),
  (objects, dice) =>
    inContainer(objects, dice, (one) => ({ ...one, readinessProbe: { ...(one.readinessProbe as object), periodSeconds: 40 + dice(9) } })),
  (objects, dice) => inContainer(objects, dice, ({ livenessProbe: _, ...rest }) => rest),
  (objects, dice) => inContainer(objects, dice, (one) => ({ ...one, volumeMounts: without(dice, recordsIn(one.volumeMounts)) })),
  (objects, dice) => inContainer(objects, dice, (one) => ({ ...one, env: variablesOf(one).map(longerList) })),
  (objects, dice) => inPod(objects, dice, (pod) => ({ ...pod, priorityClassName: `own-${dice(3)}` })),
  (objects, dice) => inPod(objects, dice, (pod) => ({ ...pod, terminationGracePeriodSeconds: 40 + dice(9) })),
  (objects, dice) =>
    inPod(objects, dice, (pod) => ({
      ...pod,
      containers: [...recordsIn(pod.containers), { name: 'own', image: 'own.example.org/side:1' }],
    })),
  (objects, dice) => inPod(objects, dice, (pod) => ({ ...pod, initContainers: without(dice, recordsIn(pod.initContainers)) })),
  (objects, dice) =>
    inPod(objects, dice, (pod) => ({ ...pod, volumes: recordsIn(pod.volumes).map(changedAt(dice, recordsIn(pod.volumes), inOwnFolder)) })),
  (objects, dice) =>
    changeOne(
      objects,
      dice,
      ({ kind }) => kind === 'DaemonSet',
      (one) => ({ ...one, spec: { ...(one.spec as object), updateStrategy: { type: 'OnDelete' } } }),
    ),
  (objects, dice) =>
    changeOne(
      objects,
      dice,
      ({ kind }) => kind === 'ServiceAccount',
      (one) => ({ ...one, imagePullSecrets: [{ name: 'own' }] }),
    ),
];

/** The manifest with so many random edits in it. */
export function withRandomEdits(objects: Objects, count: number, dice: Dice): Objects {
  const edited = Array.from({ length: count }, () => oneOf(dice, EDITS)).reduce<Objects>((all, edit) => edit?.(all, dice) ?? all, objects);
  return JSON.parse(JSON.stringify(edited)) as Objects;
}

/** Both public ones are among them: a manifest's own is one of the two. */
const REGISTRIES = ['docker.io/calico', 'quay.io/calico', 'registry.example.org:5000/mirror'];

function otherRegistry(objects: Objects, dice: Dice): Objects {
  const registry = oneOf(dice, REGISTRIES);
  return JSON.parse(JSON.stringify(objects).replace(/"image":"[^"]*\/calico\//g, `"image":"${registry}/`)) as Objects;
}

function otherImageName(objects: Objects, dice: Dice): Objects {
  return inContainer(objects, dice, (one) => ({ ...one, image: String(one.image).replace(/\/([\w-]+):/, '/own-$1:') }));
}

const variablesOf = (container: Fields) => recordsIn(container.env);
const setTo = (value: string) => (variable: Fields) => (typeof variable.value === 'string' ? { ...variable, value } : variable);

/** Lists in one variable, as of the controllers to run: one more. */
const longerList = (variable: Fields) =>
  variable.name === 'ENABLED_CONTROLLERS' || variable.name === 'CLUSTER_TYPE' ? { ...variable, value: `${variable.value},own` } : variable;

const inOwnFolder = (volume: Fields) => {
  const { path } = (volume.hostPath ?? {}) as { readonly path?: string };
  return path === undefined ? volume : { ...volume, hostPath: { ...(volume.hostPath as object), path: `/own${path}` } };
};

const isConfig = ({ kind, metadata }: KubeObject) => kind === 'ConfigMap' && /^(calico|canal)-config$/.test(metadata.name);

function withData(objects: Objects, key: string, value: string): Objects {
  return objects.map((one) => (isConfig(one) ? { ...one, data: { ...(one.data as object), [key]: value } } : one));
}

function inConfig(objects: Objects, change: (text: string) => string): Objects {
  return objects.map((one) => {
    const data = one.data as Readonly<Record<string, string>> | undefined;
    const text = data?.cni_network_config;
    return isConfig(one) && text !== undefined ? { ...one, data: { ...data, cni_network_config: change(text) } } : one;
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Numbers below `below`, the same for the same seed. */
type Dice = (below: number) => number;

export function diceOf(seed: number): Dice {
  const next = numbersFrom(seed);
  return (below) => Math.floor(next() * below);
}

const oneOf = <T>(dice: Dice, items: readonly T[]): T | undefined => items[dice(items.length)];

function changeOne(objects: Objects, dice: Dice, fits: (one: KubeObject) => boolean, change: (one: KubeObject) => KubeObject): Objects {
  const chosen = oneOf(
    dice,
    objects.filter((one) => fits(one) && one.kind !== 'CustomResourceDefinition'),
  );
  return objects.map((one) => (one === chosen ? change(one) : one));
}

function inPod(objects: Objects, dice: Dice, change: (pod: Fields) => Fields): Objects {
  return changeOne(
    objects,
    dice,
    (one) => podSpecOf(one) !== undefined,
    (one) => withPodSpec(one, change(podSpecOf(one) ?? {})),
  );
}

function inContainer(objects: Objects, dice: Dice, change: (container: Fields) => Fields): Objects {
  return inPod(objects, dice, (pod) => {
    const list = dice(4) === 0 && recordsIn(pod.initContainers).length > 0 ? 'initContainers' : 'containers';
    const chosen = oneOf(dice, recordsIn(pod[list]));
    return { ...pod, [list]: recordsIn(pod[list]).map((one) => (one === chosen ? change(one) : one)) };
  });
}

function changedAt(dice: Dice, items: readonly Fields[], change: (item: Fields) => Fields): (item: Fields) => Fields {
  const chosen = oneOf(dice, items);
  return (item) => (item === chosen ? change(item) : item);
}

function without(dice: Dice, items: readonly Fields[]): readonly Fields[] {
  const gone = oneOf(dice, items);
  return items.filter((item) => item !== gone);
}
