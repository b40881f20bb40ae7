import { command } from '../../kernel/argv.ts';
import { type Evidence, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { notAfterLine, parseImage } from '../../kernel/release.ts';
import { podShape } from '../../kube/pod-facts.ts';
import { agentSetting } from '../rollout/index.ts';
import {
  containersOf,
  evidenceOf,
  failed,
  failIfAny,
  isImageOf,
  type PodView,
  type PreflightCheck,
  type PreflightFacts,
  sourceRelease,
  table,
  withInstallation,
} from '../survey/index.ts';

function sidecarPods(facts: Pick<PreflightFacts, 'pods'>, { profile }: Context): readonly PodView[] {
  const { container } = profile.sidecar;
  return read(facts.pods).filter((pod) =>
    pod.containers.some(({ name, image }) => name === container || profile.images.sidecar.includes(parseImage(image).name)),
  );
}

function podEvidence({ namespace, name }: PodView): Evidence {
  return { text: `Pod/${namespace}/${name}` };
}

function sidecarTemplates(facts: Pick<PreflightFacts, 'injectors'>, { profile }: Context): readonly KubeObject[] {
  return read(facts.injectors).filter((config) => JSON.stringify(config.data ?? {}).includes(profile.sidecar.container));
}

/** False only if it is known that neither an injector nor a pod has the policy sidecar: the rights for it are not needed then. */
export function mayBeMeshed(facts: Pick<PreflightFacts, 'pods' | 'injectors'>, context: Context): boolean {
  if ('unread' in facts.pods || 'unread' in facts.injectors) return true;
  return sidecarTemplates(facts, context).length > 0 || sidecarPods(facts, context).length > 0;
}

/** Every sign that application layer policy is in use (domain §9). */
function meshSigns(installation: Installation, facts: PreflightFacts, context: Context): readonly Evidence[] {
  const templates = sidecarTemplates(facts, context);
  const sync = agentSetting(facts, installation, context.profile, 'policySyncPathPrefix');
  return [
    ...(sync === undefined || sync === '' ? [] : [{ text: 'policySyncPathPrefix', detail: String(sync) }]),
    ...templates.map((config) => evidenceOf(config, `injects ${context.profile.sidecar.container}`)),
    ...sidecarPods(facts, context).map(podEvidence),
  ];
}

export const meshChecks: readonly PreflightCheck[] = table({ category: 'follow-up' }, [
  {
    id: 'NS-702',
    title: 'application layer policy',
    severity: 'warning',
    ref: '§4.4/6',
    judge: withInstallation((installation, facts, context): Verdict => {
      return failIfAny(meshSigns(installation, facts, context), 'application layer policy is not in use', (names) => ({
        because: `application layer policy is in use: ${names}`,
        hint: 'Update the sidecar template after the upgrade, then restart the meshed workloads. Older sidecars keep working meanwhile.',
        next: command`kubectl netsvc-upgrade alp --dry-run=server`,
      }));
    }),
  },
  {
    id: 'NS-703',
    title: 'sidecars can mount after the upgrade',
    severity: 'error',
    ref: 'domain §9',
    judge: withInstallation((installation, facts, context): Verdict => {
      const { flexvolUntil, sidecar } = context.profile;
      const source = sourceRelease(installation, facts, context);
      const inUse = meshSigns(installation, facts, context).length > 0;
      const { flexDriver } = sidecar;
      const flex =
        flexDriver === undefined
          ? sidecarPods(facts, context).filter(({ flexDrivers }) => flexDrivers.length > 0)
          : read(facts.pods).filter(({ flexDrivers }) => flexDrivers.includes(flexDriver));
      const crossing = flexvolUntil !== undefined && notAfterLine(source, flexvolUntil);
      if (flex.length === 0 && !(inUse && crossing)) return ok('no sidecar depends on the flexible volume driver');
      if (installation.hasCsiDriver && flex.length === 0) return ok('sidecars mount by the CSI driver');
      return failed(
        `the target has no flexible volume driver${installation.hasCsiDriver ? '' : ' and the CSI driver is not installed'}: pods with a sidecar could not start again`,
        'Install the CSI driver of the target and change the injector’s template to it before any meshed pod is restarted.',
        { next: command`kubectl netsvc-upgrade alp --dry-run=client`, evidence: flex.map(podEvidence) },
      );
    }),
  },
]);

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
type MeshObjects = Readonly<Record<'deployments' | 'pods' | 'injectors', readonly KubeObject[]>>;

/** Control planes of the mesh, by their image; vendors' suffixes of the tag are no part of the version (domain §9). */
export function meshRevisions({ deployments, pods, injectors }: MeshObjects, profile: Profile): readonly MeshRevision[] {
  const { meshImage } = profile.sidecar;
  return deployments.flatMap((deployment): readonly MeshRevision[] => {
    const isMesh = (image: string) => isImageOf(image, [meshImage]);
    const image = containersOf(deployment)
      .flatMap(({ image: one }) => one ?? [])
      .find(isMesh);
    if (image === undefined) return [];
    const revision = revisionOf(deployment);
    const map = injectors.find(({ metadata }) => injectorRevision(metadata.name, profile) === revision);
    const version = tagVersion(image) ?? labelled(deployment) ?? installedBy(map);
    const running = pods
      .filter((pod) => revisionOf(pod) === revision)
      .flatMap((pod) => podShape(pod).spec?.containers ?? [])
      .flatMap(({ image: one = '' }) => (isMesh(one) ? (tagVersion(one) ?? []) : []));
    const versions = [...new Set([...(version === undefined ? [] : [version]), ...running])].sort();
    const mixed = versions.length > 1 ? { mixed: versions } : {};
    return [{ revision, deployment: deployment.metadata.name, ...(version === undefined ? {} : { version }), ...mixed }];
  });
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
