import { ok, read } from '../core/check.ts';
import type { ManagedBy } from '../core/installation.ts';
import { failed, failIfAny, PROGRAM, preflightCheck } from './define.ts';
import type { PreflightFacts } from './facts.ts';
import { judgedTwice } from './judged-twice.ts';

export const nativeCrds = judgedTwice('NS-108', {
  category: 'installation',
  severity: 'error',
  ref: 'domain §0.11',
  judge({ nativeV3Crds }, _facts, { profile }) {
    if (!nativeV3Crds) return ok(`resources are stored in ${profile.crdGroup}`);
    return failed(
      `the cluster stores its resources in native CRDs of ${profile.apiGroup}: the v1 CRDs of this procedure must not be applied`,
      'Upgrade by the procedure of native v3 CRDs; this program covers the v1 CRDs only.',
      { next: `kubectl get crds -o name | grep '[.]${profile.apiGroup}$'` },
    );
  },
});

export const noNativeCrds = nativeCrds.atPreflight;

function managers(facts: PreflightFacts, kind: ManagedBy['kind']): readonly ManagedBy[] {
  const detection = read(facts.detection);
  if (detection.type === 'found') return detection.installation.managedBy.filter((one) => one.kind === kind);
  return detection.type === 'ambiguous' ? (detection.managedBy ?? []).filter((one) => one.kind === kind) : [];
}

export const notPlatformManaged = preflightCheck('NS-109', {
  category: 'installation',
  severity: 'error',
  ref: 'domain §2.4',
  judge: (facts) => {
    const found = managers(facts, 'platform');
    return failIfAny(found.map(managerEvidence), 'no platform manages the installation', (names) => ({
      because: `the installation is managed by ${names}, which would take the upgrade back or fight it`,
      hint: found[0]?.hint ?? 'Upgrade through that platform.',
      next: `${PROGRAM} explain NS-109`,
    }));
  },
});

export const notGitOpsManaged = preflightCheck('NS-110', {
  category: 'installation',
  severity: 'warning',
  ref: 'domain §2.1/3b',
  judge: (facts) => {
    const found = managers(facts, 'gitops');
    return failIfAny(found.map(managerEvidence), 'no GitOps tool manages the installation', (names) => ({
      because: `the installation is also managed by ${names}: it will put back what its repository says`,
      hint: found[0]?.hint ?? 'Pause its synchronisation and commit the new manifest before you resume it.',
      next: `${PROGRAM} explain NS-110`,
    }));
  },
});

function managerEvidence({ name, evidence }: ManagedBy): { text: string; detail: string } {
  return { text: name, detail: evidence };
}
