import { jsonAt, textAt } from '../../../src/kernel/json.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type ListOptions } from '../../../src/kernel/ports.ts';

/** What a machine is like; unsaid, everything is there. */
export interface Machine {
  readonly ready?: boolean;
  readonly pulls?: boolean;
  /** Folders and files that it does not have. */
  readonly lacks?: readonly string[];
  /** Paths that are files here, or folders, whatever the agent asks for. */
  readonly files?: readonly string[];
  readonly folders?: readonly string[];
  /** Mounts that are not shared. */
  readonly unshared?: readonly string[];
  readonly hasShell?: boolean;
  /** Exit code of the program. */
  readonly exitCode?: number;
  /** What the shell or the loader says in place of the script. */
  readonly says?: string;
  /** What the script tells. */
  readonly tells?: readonly string[];
  /** The Job controller's words: no pod is created. */
  readonly refuses?: string;
  readonly gone?: boolean;
  readonly unschedulable?: string;
}

/** Of a page, at most. */
const EVENTS = 500;

interface Pod {
  readonly containers: readonly { readonly name: string; readonly image: string; readonly volumeMounts?: readonly Mount[] }[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath: { readonly path: string; readonly type: string } }[];
}
interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly mountPropagation?: string;
}

/** API server, Job controller and kubelets of machines, as far as the probe meets them; every answer is of the kubelet's own words. */
export class StandIn {
  readonly #machines: Map<string, Machine>;
  #jobs: KubeObject[] = [];
  #serial = 0;
  readonly deleted: string[] = [];
  readonly created: KubeObject[] = [];
  mostJobs = 0;
  /** Pods that are not of the Jobs of the probe, with its label. */
  strangers: readonly KubeObject[] = [];
  /** Events about others. */
  strangeEvents = 0;
  admits = true;
  mayWrite = true;

  constructor(machines: Readonly<Record<string, Machine>>) {
    this.#machines = new Map(Object.entries(machines));
  }

  /** From now on the machine is like this. */
  change(name: string, machine: Machine): void {
    this.#machines.set(name, machine);
  }

  get jobs(): readonly KubeObject[] {
    return this.#jobs;
  }

  readonly cluster = {
    get: async (_: Kind, name: string) => {
      const machine = this.#machines.get(name);
      return machine && !machine.gone ? nodeOf(name, machine) : undefined;
    },
    create: async (_: Kind, job: KubeObject) => {
      this.#serial += 1;
      const made = {
        ...job,
        metadata: { ...job.metadata, uid: `job-${this.#serial}`, creationTimestamp: new Date(this.now).toISOString() },
      };
      this.#jobs.push(made);
      this.created.push(made);
      this.mostJobs = Math.max(this.mostJobs, this.#jobs.length);
      return made;
    },
    remove: async (_: Kind, { uid = '' }: { readonly uid?: string }) => {
      this.#jobs = this.#jobs.filter(({ metadata }) => metadata.uid !== uid);
      this.deleted.push(uid);
    },
    list: async (_: Kind, { keep = (one: KubeObject) => one }: ListOptions = {}) => {
      this.#jobs = this.#jobs.filter((job) => !this.#isExpired(job));
      return [...this.strangers, ...this.#jobs.flatMap((job) => this.#podOf(job) ?? [])].map(keep);
    },
    raw: async (path: string) => {
      const isMount = path.includes('FailedMount');
      const own = this.#jobs.flatMap((job) => (isMount ? this.#failedMount(job) : this.#failedCreate(job)) ?? []);
      const items = [...Array.from({ length: this.strangeEvents }, () => ({ involvedObject: { name: 'web-0' } })), ...own];
      const from = Number(/&continue=(\d+)/.exec(path)?.[1] ?? 0);
      const next = from + EVENTS < items.length ? { continue: String(from + EVENTS) } : {};
      return JSON.stringify({ metadata: next, items: items.slice(from, from + EVENTS) });
    },
    reviewAccess: async (requests: readonly unknown[]) => requests.map(() => this.mayWrite),
    dryRunCreate: async (_: Kind, object: KubeObject) => {
      if (!this.admits) throw new ApiFailure(403, 'Forbidden', 'violates PodSecurity "restricted": host namespaces');
      return object;
    },
  };

  now = Date.parse('2026-01-01T00:00:00Z');
  readonly clock = {
    now: () => new Date(this.now),
    sleep: async (ms: number) => {
      this.now += ms;
    },
  };

  /** A finished Job is deleted by the cluster; here a pod that ends has ended at once. */
  #isExpired(job: KubeObject): boolean {
    const isFinished = textAt(this.#podOf(job), 'status', 'phase') === 'Succeeded';
    const after = Number(jsonAt(job.spec, 'ttlSecondsAfterFinished')) * 1000;
    return isFinished && this.now >= Date.parse(job.metadata.creationTimestamp ?? '') + after;
  }

  #machineOf(job: KubeObject): Machine {
    return this.#machines.get(nodeNameOf(job)) ?? {};
  }

  #failedCreate(job: KubeObject) {
    const { refuses } = this.#machineOf(job);
    return refuses === undefined
      ? undefined
      : { type: 'Warning', reason: 'FailedCreate', message: refuses, involvedObject: { name: job.metadata.name } };
  }

  #failedMount(job: KubeObject) {
    const lacking = this.#lacking(job);
    if (!lacking) return undefined;
    const { path, type } = lacking.hostPath;
    const message = `MountVolume.SetUp failed for volume "${lacking.name}" : hostPath type check failed: ${path} is not a ${type.toLowerCase()}`;
    return { type: 'Warning', reason: 'FailedMount', message, involvedObject: { name: `${job.metadata.name}-x` } };
  }

  #lacking(job: KubeObject) {
    const { lacks = [], files = [], folders = [] } = this.#machineOf(job);
    return (specOf(job).volumes ?? []).find(
      ({ hostPath: { path, type } }) =>
        lacks.some((one) => path === one || path.startsWith(`${one}/`)) || (type === 'File' ? folders : files).includes(path),
    );
  }

  #podOf(job: KubeObject): KubeObject | undefined {
    const machine = this.#machineOf(job);
    if (machine.refuses !== undefined || machine.gone) return undefined;
    const node = nodeNameOf(job);
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name, uid: job.metadata.uid ?? '', controller: true };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${job.metadata.name}-x`, namespace: 'kube-system', uid: `pod-${job.metadata.uid}`, ownerReferences: [owner] },
      spec: { ...specOf(job), nodeName: node },
      status: this.#statusOf(job, machine),
    };
  }

  #statusOf(job: KubeObject, machine: Machine) {
    const { unschedulable } = machine;
    if (unschedulable !== undefined)
      return { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: unschedulable }] };
    const { containers } = specOf(job);
    const waits = (reason: string, message = '') =>
      containers.map(({ name }) => ({ name, imageID: '', state: { waiting: { reason, message } } }));
    if (machine.ready === false) return { phase: 'Pending' };
    if (this.#lacking(job)) return { phase: 'Pending', containerStatuses: waits('ContainerCreating') };
    if (machine.pulls === false) return { phase: 'Pending', containerStatuses: waits('ImagePullBackOff', 'Back-off pulling image') };
    return {
      phase: 'Succeeded',
      containerStatuses: containers.map((one) => ({ name: one.name, imageID: 'i', state: this.#stateOf(one, machine) })),
    };
  }

  #stateOf(
    { name, volumeMounts = [] }: Pod['containers'][number],
    { unshared = [], hasShell = true, exitCode = 0, tells = [], says }: Machine,
  ) {
    if (name !== 'agent') return { terminated: { exitCode: 0, reason: 'Completed' } };
    const shared = volumeMounts.find(
      ({ mountPropagation, mountPath }) => mountPropagation === 'Bidirectional' && unshared.includes(mountPath),
    );
    if (shared) {
      const message = `failed to generate container spec: path "${shared.mountPath}" is mounted on "/sys" but it is not a shared mount`;
      return { waiting: { reason: 'CreateContainerError', message } };
    }
    if (!hasShell) {
      const message = 'failed to create containerd task: exec: "sh": executable file not found in $PATH: unknown';
      return { terminated: { exitCode: 128, reason: 'StartError', message } };
    }
    return { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: says ?? [...tells, 'done', ''].join('\n') } };
  }
}

function nodeNameOf(job: KubeObject): string {
  return /"metadata\.name"[^\]]*"values":\["([^"]+)"\]/.exec(JSON.stringify(job.spec))?.[1] ?? '';
}

const specOf = (job: KubeObject) => jsonAt(job.spec, 'template', 'spec') as Pod;

function nodeOf(name: string, { ready = true }: Machine): KubeObject {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'Unknown', reason: ready ? 'KubeletReady' : 'NodeStatusUnknown' }];
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } };
}

/** The pod spec of a Job, as text. */
export const specText = (job: KubeObject | undefined): string => JSON.stringify(specOf(job ?? ({} as KubeObject)));
