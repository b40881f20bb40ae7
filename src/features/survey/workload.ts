import type { KubeObject } from '../../kernel/object.ts';

export interface EnvEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly configMapKeyRef?: { readonly name?: string; readonly key: string } };
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly EnvEntry[];
}

interface Template {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly Container[];
        readonly initContainers?: readonly Container[];
        readonly volumes?: readonly { readonly name: string; readonly hostPath?: { readonly path?: string } }[];
      };
    };
  };
}

function podSpec(workload: KubeObject) {
  return (workload as Template).spec?.template?.spec ?? {};
}

export function containersOf(workload: KubeObject): readonly Container[] {
  return podSpec(workload).containers ?? [];
}

export function initContainersOf(workload: KubeObject): readonly Container[] {
  return podSpec(workload).initContainers ?? [];
}

export function hasContainer(workload: KubeObject, name: string): boolean {
  return [...containersOf(workload), ...initContainersOf(workload)].some((container) => container.name === name);
}

export function hostPathsOf(workload: KubeObject): readonly string[] {
  return (podSpec(workload).volumes ?? []).flatMap((volume) => volume.hostPath?.path ?? []);
}

export function isNamed(object: KubeObject, name: { readonly namespace: string; readonly name: string }): boolean {
  return object.metadata.name === name.name && object.metadata.namespace === name.namespace;
}
