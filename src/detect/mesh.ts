import type { KubeObject } from '../core/object.ts';
import type { Profile } from '../core/profile.ts';
import { isImageOf, parseImage } from './images.ts';

/** A revision of the mesh's control plane. */
export interface MeshRevision {
  /** Label `istio.io/rev`; `default` where there is none. */
  readonly revision: string;
  /** Full version x.y.z; undefined if the image does not tell. */
  readonly version?: string;
  readonly deployment: string;
}

interface DeploymentShape {
  readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } } };
}

/** Control planes of the mesh among Deployments, by their image; vendors' suffixes of the tag are no part of the version (domain §9). */
export function meshRevisions(deployments: readonly KubeObject[], { sidecar }: Profile): readonly MeshRevision[] {
  return deployments.flatMap((deployment) => {
    const images = (deployment as DeploymentShape).spec?.template?.spec?.containers?.flatMap(({ image }) => image ?? []) ?? [];
    const image = images.find((one) => isImageOf(one, [sidecar.meshImage]));
    if (image === undefined) return [];
    const { name, labels } = deployment.metadata;
    const version = /^v?(\d+\.\d+\.\d+)/.exec(parseImage(image).tag ?? '')?.[1];
    return [{ revision: labels?.['istio.io/rev'] ?? 'default', deployment: name, ...(version === undefined ? {} : { version }) }];
  });
}

/** The revision that an injector's ConfigMap is of: what follows its usual name. */
export function injectorRevision(name: string, { sidecar }: Profile): string {
  const rest = name.slice(sidecar.injectorConfigMap.length + 1);
  return rest === '' ? 'default' : rest;
}
