import { jsonAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { plainText } from '../../kernel/step.ts';
import { podShape } from '../../kube/pod-facts.ts';
import { meaningOf, shortText } from '../rollout/index.ts';
import type { AgentNeeds, HostMount } from './agent-needs.ts';
import { AGENT } from './job.ts';

/** What one node says of the agent of the target. */
export interface NodeSaid {
  readonly node: string;
  /** What keeps the agent from starting or from its work there. */
  readonly faults: readonly string[];
  /** What could not be tried, and why. */
  readonly untried: readonly string[];
}

/** A mount for which the node has no such folder or file. */
export interface Missing {
  readonly mount: HostMount;
  readonly says: string;
}

/** From the kubelet's events: a volume whose type check failed. */
export function missingMount(events: readonly object[], pod: string, mounts: readonly HostMount[]): Missing | undefined {
  for (const event of events) {
    const message = textAt(event, 'message') ?? '';
    const [, volume] = /for volume "([^"]+)"/.exec(message) ?? [];
    const mount = mounts.find((one) => one.volume === volume);
    if (mount && textAt(event, 'involvedObject', 'name') === pod) return { mount, says: message };
  }
  return undefined;
}

/** What is tried in place of a mount that is missing: a file instead of a folder, the folder above it, or nothing; and what is wrong, if that is. */
export function without({ mount, says }: Missing): { readonly instead?: HostMount; readonly fault?: string } {
  const isCreated = mount.type === '' || mount.type.endsWith('OrCreate');
  if (!isCreated) return { fault: `${mount.path} is needed as ${mount.type}, and is none: ${shortText(says)}` };
  if (mount.tried === undefined) return { instead: { ...mount, tried: 'other type' } };
  if (/^\/(?:sys|proc)\//.test(mount.path))
    return { fault: `${mount.path} does not exist and cannot be created: the kernel of the node is without that file system` };
  const above = mount.path.slice(0, Math.max(mount.path.lastIndexOf('/'), 0));
  return above === '' ? {} : { instead: { ...mount, path: above, tried: 'above' } };
}

/** What exists, but as what the agent does not take; where it asks for no type, anything will do. */
function ofOtherType({ path, type, tried }: HostMount): readonly string[] {
  if (tried !== 'other type' || type === '') return [];
  const [is, needed] = type === 'FileOrCreate' ? ['folder', 'file'] : ['file', 'folder'];
  return [`${path} is a ${is} on the node, and the agent needs a ${needed}`];
}

/** Reasons of a container that the runtime could not start. */
const NOT_STARTED = new Set([
  'CreateContainerError',
  'RunContainerError',
  'StartError',
  'ContainerCannotRun',
  'CreateContainerConfigError',
]);
const NO_SHELL = /"?sh"?: executable file not found|exec:? "sh"|stat sh: no such file/i;

type AgentSaid = Pick<NodeSaid, 'faults' | 'untried'> & { readonly isOver: boolean };
const NOTHING_YET: AgentSaid = { faults: [], untried: [], isOver: false };

/** What the container of the agent says; `isOver`: nothing more is to be expected of it. */
export function agentSaid(pod: KubeObject, needs: AgentNeeds): AgentSaid {
  const { containerStatuses = [] } = podShape(pod).status ?? {};
  const { waiting, terminated } = containerStatuses.find(({ name }) => name === AGENT)?.state ?? {};
  const { reason = '', message = '' } = waiting ?? terminated ?? {};
  if (NOT_STARTED.has(reason)) {
    const rest = [
      ...(needs.ports.length > 0 ? ['ports'] : []),
      'read-only folders',
      ...(needs.resolves === undefined ? [] : ['the name of the API server']),
    ];
    if (NO_SHELL.test(message)) return { faults: [], untried: [`${rest.join(', ')}: image ${needs.image} has no shell`], isOver: true };
    const means = meaningOf([message]);
    return {
      faults: [`the agent cannot be started: ${shortText(message) || reason}${means === undefined ? '' : ` (${plainText(means)})`}`],
      untried: rest,
      isOver: true,
    };
  }
  if (!terminated) return NOTHING_YET;
  return { ...scriptSaid(message, needs), isOver: true };
}

function scriptSaid(message: string, { mounts, ports, resolves = '' }: AgentNeeds): Pick<NodeSaid, 'faults' | 'untried'> {
  const lines = message.split('\n').map((line) => line.trim());
  const after = (word: string) => lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const taken = new Set(after('port').map((hex) => Number.parseInt(hex, 16)));
  const readOnly = new Set(after('ro'));
  const written = mounts.filter(({ mountPath }) => /cni|\/var\/(?:lib|run|log)\/calico/.test(mountPath) && readOnly.has(mountPath));
  const [name] = after('name');
  return {
    faults: [
      ...mounts.flatMap(ofOtherType),
      ...ports.filter((port) => taken.has(port)).map((port) => `port ${port} is taken by another program`),
      ...written.map(({ path }) => `${path} is on a read-only file system, and the agent writes there`),
      ...(name === 'no' ? [`the resolver of the node does not know ${resolves}, by which the agent reaches the API server`] : []),
    ],
    untried: [
      ...(lines.includes('done')
        ? []
        : [`ports, read-only folders: the probe in the image ended early${message === '' ? '' : `: ${shortText(message)}`}`]),
      ...after('program').map((program) => `program ${program}: the image does not have it`),
      ...(name === 'untried' ? [`name ${resolves}: the image has no getent`] : []),
    ],
  };
}

/** What the Job controller says of a Job that gets no pod. */
export function refusal(events: readonly object[], job: string): string | undefined {
  const event = events.find((one) => textAt(one, 'involvedObject', 'name') === job);
  return event && shortText(textAt(event, 'message') ?? '');
}

/** What is read of a pod of the probe. For `ListOptions.keep`. */
export function leanProbe(pod: KubeObject): KubeObject {
  const { name, namespace, uid, ownerReferences, deletionTimestamp } = pod.metadata;
  const containers = (podShape(pod).spec?.containers ?? []).map((one) => ({
    name: one.name,
    image: one.image,
    command: jsonAt(one, 'command'),
  }));
  return {
    ...{ apiVersion: pod.apiVersion, kind: pod.kind },
    metadata: {
      name,
      uid,
      ...(namespace && { namespace }),
      ...(ownerReferences && { ownerReferences }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: { nodeName: podShape(pod).spec?.nodeName, containers },
    status: pod.status,
  };
}
