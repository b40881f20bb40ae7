import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { attempt } from '../survey/index.ts';
import type { PausableController } from './owner-facts.ts';

/** Workloads that can be scaled to 0. */
const SCALED: readonly Kind[] = [K.Deployment, K.StatefulSet];

/**
 * Workloads that may be the controllers behind these field managers. Unless it is told another, a client's manager is the name of its
 * program; operators mostly use their own name, which their Deployment, container or image has as well.
 */
export async function controllersNamed(
  cluster: Pick<ClusterReader, 'list'>,
  managers: readonly string[],
): Promise<readonly PausableController[]> {
  if (managers.length === 0) return [];
  const lists = await Promise.all(SCALED.map((kind) => attempt(() => cluster.list(kind))));
  return lists.flatMap((list) => ('value' in list ? list.value : [])).flatMap((one) => controllerOf(one, managers));
}

function controllerOf(workload: KubeObject, managers: readonly string[]): readonly PausableController[] {
  const { kind, metadata, spec } = workload;
  const replicas = (spec as WorkloadSpec | undefined)?.replicas ?? 1;
  const names = namesOf(workload);
  const manager = managers.find((one) => names.includes(one));
  if (manager === undefined || replicas === 0) return [];
  return [{ manager, kind, namespace: metadata.namespace ?? '', name: metadata.name, replicas }];
}

interface WorkloadSpec {
  readonly replicas?: number;
  readonly template?: {
    readonly spec?: {
      readonly containers?: readonly { readonly name: string; readonly image?: string; readonly command?: readonly string[] }[];
    };
  };
}

function namesOf({ metadata, spec }: KubeObject): readonly string[] {
  const containers = (spec as WorkloadSpec | undefined)?.template?.spec?.containers ?? [];
  const ofContainers = containers.flatMap(({ name, image = '', command: [program = ''] = [] }) => [
    name,
    imageName(image),
    lastOf(program),
  ]);
  return [metadata.name, ...ofContainers];
}

const lastOf = (path: string): string => path.split('/').at(-1) ?? '';

/** `registry:5000/team/shop-operator:v1@sha256:…` is `shop-operator`. */
const imageName = (image: string): string => lastOf(image.split('@')[0] ?? '').split(':')[0] ?? '';
