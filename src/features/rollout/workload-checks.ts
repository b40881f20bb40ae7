import { type Evidence, read } from '../../kernel/check.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { WorkloadName } from '../../kernel/rollout.ts';
import { evidenceOf, objectsOf, type PreflightFacts, specOf } from '../survey/index.ts';

interface EnvVar {
  readonly name: string;
  readonly value?: string;
}

interface ContainerShape {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly EnvVar[];
}

interface WorkloadShape {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly updateStrategy?: { readonly type?: string };
    readonly strategy?: { readonly type?: string; readonly rollingUpdate?: { readonly maxUnavailable?: number | string } };
    readonly template?: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec?: { readonly containers?: readonly ContainerShape[]; readonly initContainers?: readonly ContainerShape[] };
    };
  };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

export function shapeOf(workload: KubeObject): WorkloadShape {
  return workload as WorkloadShape;
}

/** Init containers and containers of a workload's pods. */
export function allContainersOf(workload: KubeObject): readonly ContainerShape[] {
  const pod = shapeOf(workload).spec?.template?.spec;
  return [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
}

/** Literal value of a variable of one container. */
export function envOf(workload: KubeObject | undefined, container: string, name: string): string | undefined {
  if (!workload) return undefined;
  return allContainersOf(workload)
    .find((one) => one.name === container)
    ?.env?.find((variable) => variable.name === name)?.value;
}

export interface ServiceWorkloads {
  readonly agent: WorkloadName;
  readonly controllers: WorkloadName;
  readonly typha?: WorkloadName;
}

/** Names of the workloads that carry an installation; undefined if its variant is not known. */
export function serviceWorkloads(installation: Installation, profile: Profile): ServiceWorkloads | undefined {
  const operated = installation.path === 'operator' || installation.path === 'chart';
  const names = operated ? profile.operator : profile.variants.find((variant) => variant.id === installation.variant);
  if (!names) return undefined;
  const agent = installation.agent ? { ...names.agent, ...installation.agent } : names.agent;
  return { agent, controllers: names.controllers, ...(names.typha && installation.hasTypha ? { typha: names.typha } : {}) };
}

export function findWorkload(
  objects: readonly KubeObject[],
  name: { readonly namespace: string; readonly name: string },
): KubeObject | undefined {
  return objects.find((object) => object.metadata.name === name.name && object.metadata.namespace === name.namespace);
}

/** Pods that may be missing during a rollout; percentages are rounded down as the Deployment controller does. */
export function mayBeMissing(deployment: KubeObject): number {
  const { replicas = 1, strategy } = shapeOf(deployment).spec ?? {};
  if (strategy?.type === 'Recreate') return replicas;
  const allowed = strategy?.rollingUpdate?.maxUnavailable ?? '25%';
  if (typeof allowed === 'number') return allowed;
  return Math.floor((replicas * Number.parseInt(allowed, 10)) / 100);
}

/** Variables that a container of the workload sets more than once; in a document server-side apply refuses them (domain §6.4). */
export function duplicateEnv(workload: KubeObject): readonly Evidence[] {
  return allContainersOf(workload).flatMap(({ name, env = [] }) => {
    const names = env.map((variable) => variable.name);
    const twice = [...new Set(names.filter((one, index) => names.indexOf(one) !== index))];
    return twice.map((variable) => evidenceOf(workload, `container ${name} sets ${variable} more than once`));
  });
}

const FELIX = 'felixconfigurations';

/** A setting of the agents by its field; their environment, which has the same word in capitals, beats the stored default. */
export function agentSetting(facts: PreflightFacts, installation: Installation, profile: Profile, field: string): unknown {
  const agent = serviceWorkloads(installation, profile)?.agent;
  const live = agent ? findWorkload(read(facts.daemonSets), agent) : undefined;
  const prefix = profile.sidecar.syncEnv.slice(0, profile.sidecar.syncEnv.indexOf('_') + 1);
  const set = agent ? envOf(live, agent.container, `${prefix}${field.toUpperCase()}`) : undefined;
  return set ?? jsonAt(specOf(agentConfigurations(facts, installation).find((one) => one.metadata.name === 'default')), field);
}

/** In key-value mode as the service's CLI lists them; if that fails, only the environment counts. */
function agentConfigurations(facts: PreflightFacts, { datastore }: Installation): readonly KubeObject[] {
  if (datastore === 'api') return objectsOf(facts, FELIX);
  return ('value' in facts.inStore ? facts.inStore.value?.agentConfigurations : undefined) ?? [];
}
