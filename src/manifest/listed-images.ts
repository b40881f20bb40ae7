import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { recordsIn } from './prepare.ts';

/** The specification of the pods that an object brings about; undefined for what has none. */
export function podsOf({ kind, spec }: KubeObject): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(spec)) return undefined;
  if (kind === 'Pod') return spec;
  const owner = kind === 'CronJob' && isRecord(spec.jobTemplate) && isRecord(spec.jobTemplate.spec) ? spec.jobTemplate.spec : spec;
  const { template } = owner;
  return isRecord(template) && isRecord(template.spec) ? template.spec : undefined;
}

/** Every image that these objects have pulled, as written. */
export function imagesIn(objects: readonly KubeObject[]): readonly string[] {
  return objects.flatMap((object) => {
    const pods = podsOf(object);
    const containers = [...recordsIn(pods?.initContainers), ...recordsIn(pods?.containers)];
    return containers.flatMap(({ image }) => (typeof image === 'string' && image !== '' ? [image] : []));
  });
}

/** Names of the Secrets that these objects pull with, by namespace; `namespace/name`. */
export function pullSecretsIn(objects: readonly KubeObject[]): readonly string[] {
  return objects.flatMap((object) =>
    recordsIn(podsOf(object)?.imagePullSecrets).flatMap(({ name }) =>
      typeof name === 'string' ? [`${object.metadata.namespace ?? 'default'}/${name}`] : [],
    ),
  );
}

/** The image with the registry that it is pulled from, as tools outside a cluster need it: `calico/node:v1` is `docker.io/calico/node:v1`. */
export function withRegistry(image: string): string {
  const [first = '', ...rest] = image.split('/');
  if (rest.length === 0) return `docker.io/library/${image}`;
  return /[.:]/.test(first) || first === 'localhost' ? image : `docker.io/${image}`;
}

/** Sorted, each once, with their registries. */
export function listed(images: readonly string[]): readonly string[] {
  return [...new Set(images.map(withRegistry))].toSorted((a, b) => (a < b ? -1 : 1));
}
