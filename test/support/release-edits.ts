import type { KubeObject } from '../../src/kernel/object.ts';
import { podSpecOf, recordsIn, withPodSpec } from '../../src/manifest/prepare.ts';
import { numbersFrom } from './seed.ts';

type Objects = readonly KubeObject[];
type Fields = Readonly<Record<string, unknown>>;
/** Numbers below `below`, the same for the same seed. */
type Dice = (below: number) => number;
type Edit = (objects: Objects, dice: Dice) => Objects;

/** What people do to a release's manifest before they install it. */
const EDITS: readonly Edit[] = [
  otherRegistry,
  inContainer((one) => ({ ...one, image: String(one.image).replace(/\/([\w-]+):/, '/own-$1:') })),
  inContainer((one, dice) => ({ ...one, env: changedOne(variablesOf(one), dice, setToOwn) })),
  inContainer((one, dice) => ({ ...one, env: [...variablesOf(one), { name: `OWN_${dice(3)}`, value: String(dice(9)) }] })),
  inContainer((one, dice) => ({ ...one, env: without(variablesOf(one), dice) })),
  inContainer((one) => ({ ...one, env: variablesOf(one).toReversed() })),
  inContainer((one) => ({ ...one, env: variablesOf(one).map(longerList) })),
  inContainer((one, dice) => ({ ...one, resources: { limits: { memory: `${1 + dice(9)}Gi` } } })),
  inContainer((one, dice) => ({ ...one, readinessProbe: { ...(one.readinessProbe as object), periodSeconds: 40 + dice(9) } })),
  inContainer(({ livenessProbe: _, ...rest }) => rest),
  inContainer((one, dice) => ({ ...one, volumeMounts: without(recordsIn(one.volumeMounts), dice) })),
  inPod((pod, dice) => ({ ...pod, tolerations: [...recordsIn(pod.tolerations), { key: `own-${dice(3)}`, operator: 'Exists' }] })),
  inPod((pod, dice) => ({ ...pod, tolerations: without(recordsIn(pod.tolerations), dice) })),
  inPod((pod) => ({ ...pod, volumes: recordsIn(pod.volumes).toReversed() })),
  inPod((pod, dice) => ({ ...pod, volumes: changedOne(recordsIn(pod.volumes), dice, inOwnFolder) })),
  inPod((pod, dice) => ({ ...pod, nodeSelector: { ...(pod.nodeSelector as object), [`own/${dice(3)}`]: 'yes' } })),
  inPod((pod, dice) => ({ ...pod, imagePullSecrets: [{ name: `own-${dice(3)}` }] })),
  inPod((pod, dice) => ({ ...pod, priorityClassName: `own-${dice(3)}` })),
  inPod((pod, dice) => ({ ...pod, terminationGracePeriodSeconds: 40 + dice(9) })),
  inPod((pod) => ({ ...pod, containers: [...recordsIn(pod.containers), { name: 'own', image: 'own.example.org/side:1' }] })),
  inPod((pod, dice) => ({ ...pod, initContainers: without(recordsIn(pod.initContainers), dice) })),
  inNetworkConfig((text, dice) => text.replace(/"log_level": "\w+"/, `"log_level": "own${dice(3)}"`)),
  inNetworkConfig((text, dice) => text.replace(/"mtu": *[^,\n]+/, `"mtu": ${1300 + dice(100)}`)),
  inNetworkConfig((text) => text.replace('"plugins": [', '"plugins": [ {"type": "own"},')),
  inConfig((data, dice) => ({ ...data, [`own_${dice(3)}`]: String(dice(9)) })),
  inConfig((data) => ({ ...data, veth_mtu: '1350' })),
  inOne(/./, ({ metadata, ...rest }, dice) => ({
    ...rest,
    metadata: { ...metadata, labels: { ...metadata.labels, own: String(dice(9)) } },
  })),
  inOne(/^DaemonSet$/, (one) => ({ ...one, spec: { ...(one.spec as object), updateStrategy: { type: 'OnDelete' } } })),
  inOne(/^ServiceAccount$/, (one) => ({ ...one, imagePullSecrets: [{ name: 'own' }] })),
  (objects) => objects.toReversed(),
  (objects) => objects.filter(({ kind }) => kind !== 'PodDisruptionBudget'),
  (objects, dice) => [
    ...objects,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `own-${dice(3)}`, namespace: 'kube-system' }, data: { a: '1' } },
  ],
];

/** The manifest with so many random edits in it. */
export function withRandomEdits(objects: Objects, count: number, dice: Dice): Objects {
  const edited = Array.from({ length: count }, () => oneOf(EDITS, dice)).reduce((all, edit) => edit?.(all, dice) ?? all, objects);
  return JSON.parse(JSON.stringify(edited)) as Objects;
}

/** Both public ones are among them: a manifest's own is one of the two. */
const REGISTRIES = ['docker.io/calico', 'quay.io/calico', 'registry.example.org:5000/mirror'];

function otherRegistry(objects: Objects, dice: Dice): Objects {
  const registry = oneOf(REGISTRIES, dice);
  return JSON.parse(JSON.stringify(objects).replace(/"image":"[^"]*\/calico\//g, `"image":"${registry}/`)) as Objects;
}

const variablesOf = (container: Fields) => recordsIn(container.env);
const setToOwn = (variable: Fields) => (typeof variable.value === 'string' ? { ...variable, value: 'own' } : variable);

/** Lists in one variable, as of the controllers to run: one more. */
const longerList = (variable: Fields) =>
  variable.name === 'ENABLED_CONTROLLERS' || variable.name === 'CLUSTER_TYPE' ? { ...variable, value: `${variable.value},own` } : variable;

const inOwnFolder = (volume: Fields) => {
  const { path } = (volume.hostPath ?? {}) as { readonly path?: string };
  return path === undefined ? volume : { ...volume, hostPath: { ...(volume.hostPath as object), path: `/own${path}` } };
};

function inConfig(change: (data: Fields, dice: Dice) => Fields): Edit {
  const isConfig = ({ kind, metadata }: KubeObject) => kind === 'ConfigMap' && /^(calico|canal)-config$/.test(metadata.name);
  return (objects, dice) => objects.map((one) => (isConfig(one) ? { ...one, data: change(one.data as Fields, dice) } : one));
}

function inNetworkConfig(change: (text: string, dice: Dice) => string): Edit {
  return inConfig(({ cni_network_config: text, ...data }, dice) =>
    text === undefined ? data : { ...data, cni_network_config: change(String(text), dice) },
  );
}

export function diceOf(seed: number): Dice {
  const next = numbersFrom(seed);
  return (below) => Math.floor(next() * below);
}

const oneOf = <T>(items: readonly T[], dice: Dice): T | undefined => items[dice(items.length)];

function changedOne<T>(items: readonly T[], dice: Dice, change: (item: T) => T): readonly T[] {
  const chosen = oneOf(items, dice);
  return items.map((item) => (item === chosen ? change(item) : item));
}

function without<T>(items: readonly T[], dice: Dice): readonly T[] {
  const gone = oneOf(items, dice);
  return items.filter((item) => item !== gone);
}

/** One object of such a kind. */
function inOne(kinds: RegExp, change: (one: KubeObject, dice: Dice) => KubeObject, fits = (_: KubeObject) => true): Edit {
  return (objects, dice) => {
    const chosen = oneOf(
      objects.filter((one) => one.kind !== 'CustomResourceDefinition' && kinds.test(one.kind) && fits(one)),
      dice,
    );
    return objects.map((one) => (one === chosen ? change(one, dice) : one));
  };
}

function inPod(change: (pod: Fields, dice: Dice) => Fields): Edit {
  return inOne(
    /./,
    (one, dice) => withPodSpec(one, change(podSpecOf(one) ?? {}, dice)),
    (one) => podSpecOf(one) !== undefined,
  );
}

function inContainer(change: (container: Fields, dice: Dice) => Fields): Edit {
  return inPod((pod, dice) => {
    const list = dice(4) === 0 && recordsIn(pod.initContainers).length > 0 ? 'initContainers' : 'containers';
    return { ...pod, [list]: changedOne(recordsIn(pod[list]), dice, (one) => change(one, dice)) };
  });
}
