import { type Evidence, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { parseImage } from '../../kernel/release.ts';
import { agentSetting } from '../rollout/index.ts';
import type { PodView, PreflightFacts } from '../survey/index.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  notAfterLine,
  PROGRAM,
  type PreflightCheck,
  sourceRelease,
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

export const meshChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-702',
    title: 'application layer policy',
    category: 'follow-up',
    severity: 'warning',
    ref: '§4.4/6',
    judge: withInstallation((installation, facts, context): Verdict => {
      return failIfAny(meshSigns(installation, facts, context), 'application layer policy is not in use', (names) => ({
        because: `application layer policy is in use: ${names}`,
        hint: 'Update the sidecar template after the upgrade, then restart the meshed workloads. Older sidecars keep working meanwhile.',
        next: `${PROGRAM} alp --dry-run=server`,
      }));
    }),
  },
  {
    id: 'NS-703',
    title: 'sidecars can mount after the upgrade',
    category: 'follow-up',
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
        { next: `${PROGRAM} alp --dry-run=client`, evidence: flex.map(podEvidence) },
      );
    }),
  },
];
