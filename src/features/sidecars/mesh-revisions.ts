import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseImage } from '../../kernel/release.ts';
import { isImageOf } from '../survey/index.ts';

/** A revision of the mesh's control plane. */
export interface MeshRevision {
  /** Label `istio.io/rev`; `default` where there is none. */
  readonly revision: string;
  /** Full version x.y.z; undefined if neither image nor labels nor the injector tell. */
  readonly version?: string;
  /** Versions of its running pods, where they are not all that one: the mesh is being upgraded itself. */
  readonly mixed?: readonly string[];
  readonly deployment: string;
}

/** What is read of the mesh: Deployments and pods of its control plane, and the injectors' ConfigMaps. */
export interface MeshObjects {
  readonly deployments: readonly KubeObject[];
  readonly pods: readonly KubeObject[];
  readonly injectors: readonly KubeObject[];
}

interface ContainersShape {
  readonly containers?: readonly { readonly image?: string }[];
}

interface PodShape {
  readonly spec?: ContainersShape;
}

interface DeploymentShape {
  readonly spec?: { readonly template?: PodShape };
}

/** Control planes of the mesh, by their image; vendors' suffixes of the tag are no part of the version (domain §9). */
export function meshRevisions({ deployments, pods, injectors }: MeshObjects, profile: Profile): readonly MeshRevision[] {
  const { meshImage } = profile.sidecar;
  return deployments.flatMap((deployment): readonly MeshRevision[] => {
    const { template } = (deployment as DeploymentShape).spec ?? {};
    const image = imagesOf(template?.spec).find((one) => isImageOf(one, [meshImage]));
    if (image === undefined) return [];
    const revision = revisionOf(deployment);
    const map = injectors.find(({ metadata }) => injectorRevision(metadata.name, profile) === revision);
    const version = tagVersion(image) ?? labelled(deployment) ?? installedBy(map);
    const running = pods
      .filter((pod) => revisionOf(pod) === revision)
      .flatMap((pod) => imagesOf((pod as PodShape).spec).filter((one) => isImageOf(one, [meshImage])))
      .flatMap((one) => tagVersion(one) ?? []);
    const versions = [...new Set([...(version === undefined ? [] : [version]), ...running])].sort();
    const mixed = versions.length > 1 ? { mixed: versions } : {};
    return [{ revision, deployment: deployment.metadata.name, ...(version === undefined ? {} : { version }), ...mixed }];
  });
}

function imagesOf(spec: ContainersShape | undefined): readonly string[] {
  return (spec?.containers ?? []).flatMap(({ image }) => image ?? []);
}

function revisionOf({ metadata }: KubeObject): string {
  return metadata.labels?.['istio.io/rev'] ?? 'default';
}

const VERSION = /^v?(\d+\.\d+\.\d+)/;

function tagVersion(image: string): string | undefined {
  return VERSION.exec(parseImage(image).tag ?? '')?.[1];
}

/** An image by digest has no tag; meshes also have their version in labels. */
function labelled({ metadata }: KubeObject): string | undefined {
  const said = ['operator.istio.io/version', 'app.kubernetes.io/version'].map((label) => VERSION.exec(metadata.labels?.[label] ?? '')?.[1]);
  return said.find((one) => one !== undefined);
}

/** The values with which the mesh was installed, as its injector keeps them. */
function installedBy(map: KubeObject | undefined): string | undefined {
  const { values = '' } = (map?.data ?? {}) as { readonly values?: string };
  return /"tag":\s*"v?(\d+\.\d+\.\d+)/.exec(values)?.[1];
}

/** The revision that an injector's ConfigMap is of: what follows its usual name. */
export function injectorRevision(name: string, { sidecar }: Profile): string {
  const rest = name.slice(sidecar.injectorConfigMap.length + 1);
  return rest === '' ? 'default' : rest;
}
