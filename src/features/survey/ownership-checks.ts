import { command } from '../../kernel/argv.ts';
import { type Check, ok, read } from '../../kernel/check.ts';
import { repairCommand, repairsInTurn } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { type Detection, hasFullManifest, type Installation, isByChart, isOperated, type ManagedBy } from '../../kernel/installation.ts';
import { intentWords } from '../../kernel/intent.ts';
import { crdName, refText } from '../../kernel/object.ts';
import { failed, failIfAny, judgedTwice, listed, type PreflightCheck, type SourceJudged, table } from './verdicts.ts';

export const nativeCrds = judgedTwice({
  id: 'NS-108',
  title: 'no native v3 CRDs',
  category: 'installation',
  severity: 'error',
  isNeverWaived: true,
  ref: 'domain §0.11',
  judge({ nativeV3Crds }, _facts, { profile }) {
    if (!nativeV3Crds) return ok(`resources are stored in ${profile.crdGroup}`);
    return failed(
      `the cluster stores its resources in native CRDs of ${profile.apiGroup}: the v1 CRDs of this procedure must not be applied`,
      'Upgrade by the procedure of native v3 CRDs; this program covers the v1 CRDs only.',
      { final: true, next: command`kubectl get crds -o name | grep ${`[.]${profile.apiGroup}$`}` },
    );
  },
});

/** CRDs left the operator's manifest in v3.30 and its chart in v3.32; the full manifest lacks only dropped kinds. */
export const crdsKept = judgedTwice({
  id: 'NS-111',
  title: 'CRDs not pruned by GitOps',
  category: 'resources',
  severity: 'error',
  ref: 'domain §4.1',
  judge(installation, _facts, { profile }) {
    const { prunableCrds } = installation;
    const withoutCrds = isOperated(installation);
    const dropped = new Set(profile.removedKinds.map(crdName));
    const prunable = withoutCrds ? prunableCrds : prunableCrds.filter(({ crd }) => dropped.has(crd));
    const [first] = prunable;
    if (first === undefined) return ok('no GitOps tool would delete the CRDs');
    const tools = listed([...new Set(prunable.map(({ tool }) => tool))]);
    const alike = prunable.filter(({ keep }) => keep === first.keep).map(({ crd }) => crd);
    return failed(
      `${counted(prunable.length, 'CRD')} tracked by ${tools}: the target's ${isByChart(installation) ? 'chart' : 'manifest'} does not have them, and the next sync would delete them with everything stored in them`,
      withoutCrds
        ? `Have the tool keep each live CRD; the command does it. Or add ${profile.crdFile} of the target to what it syncs first, and accept this check by name.`
        : 'Have the tool keep each live CRD; the command does it.',
      {
        evidence: prunable.map(({ crd, tool, mark }) => ({ text: `CustomResourceDefinition/${crd}`, detail: `${tool}: ${mark}` })),
        fix: repairCommand`kubectl annotate --overwrite crd ${alike} ${first.keep}`,
        next: command`kubectl get crd ${alike} -o yaml`,
      },
    );
  },
});

/** Who else manages the installation, and the installation where one was recognised. */
interface Managed {
  readonly managedBy: readonly ManagedBy[];
  readonly installation: Installation | undefined;
}

const managed: readonly Check<Managed>[] = table({ category: 'installation' }, [
  {
    id: 'NS-109',
    title: 'not managed by a platform',
    severity: 'error',
    ref: 'domain §2.4',
    judge({ managedBy }, { intent }) {
      const found = managedBy.filter(({ kind }) => kind === 'platform');
      const evidence = found.map((one) => ({ text: one.name, detail: one.evidence }));
      return failIfAny(evidence, 'no platform manages the installation', (names) => ({
        because: `the installation is managed by ${names}, which would take the ${intentWords(intent).noun} back or fight it`,
        hint: intentWords(intent).goesBack
          ? `Go back by the means of ${names}: what this program puts back it would replace again.`
          : (found[0]?.hint ?? 'Upgrade through that platform.'),
        next: command`kubectl netsvc-upgrade explain NS-109`,
      }));
    },
  },
  {
    id: 'NS-110',
    title: 'not managed by GitOps',
    severity: 'warning',
    ref: 'domain §2.1/3b',
    judge({ managedBy, installation }, { intent }) {
      const found = managedBy.filter(({ kind }) => kind === 'gitops');
      const written = installation ? found.filter((one) => isWritten(one, installation)) : [];
      const commands = [...new Set(found.flatMap(({ command }) => command ?? []))];
      const tools = listed([...new Set(found.map(({ name }) => name))]);
      const stopped = commands.length > 0 ? 'Commit the upgrade to its source, or stop it first.' : found[0]?.hint;
      return failIfAny(found.map(markEvidence), 'no GitOps tool manages the installation', () => ({
        because: `the installation is also managed by ${tools}: it will put back what its repository says`,
        hint: intentWords(intent).goesBack
          ? 'Take the upgrade back in its source as well, or stop it first.'
          : (stopped ?? 'Pause its synchronisation and commit the new manifest before you resume it.'),
        ...(commands.length > 0 ? { fix: repairsInTurn(commands) } : {}),
        next: command`kubectl netsvc-upgrade explain NS-110`,
        severity: written.length > 0 ? 'error' : 'warning',
      }));
    },
  },
]);

function managedIn(detection: Detection): Managed {
  if (detection.type === 'found') return { managedBy: detection.installation.managedBy, installation: detection.installation };
  return { managedBy: (detection.type === 'ambiguous' && detection.managedBy) || [], installation: undefined };
}

/** The same for a rollback, which has no preflight. */
export const managedChecks: readonly Check<Pick<SourceJudged, 'installation'>>[] = managed.map(({ judge, ...row }) => ({
  ...row,
  judge: ({ installation }, context) => judge({ managedBy: installation.managedBy, installation }, context),
}));

export const ownershipChecks: readonly PreflightCheck[] = [
  nativeCrds.atPreflight,
  ...managed.map(
    ({ judge, ...row }): PreflightCheck => ({
      ...row,
      judge: ({ detection }, context) => judge(managedIn(read(detection)), context),
    }),
  ),
  crdsKept.atPreflight,
];

/** What this upgrade writes: if somebody else restores it, the upgrade hangs or is undone, and old statuses stay green. */
function isWritten({ object }: ManagedBy, installation: Pick<Installation, 'path' | 'operator'>): boolean {
  const { operator } = installation;
  if (!object) return false;
  if (hasFullManifest(installation)) return true;
  const isOperator = object.kind === 'Deployment' && object.name === operator?.name && object.namespace === operator.namespace;
  return isOperator || (isByChart(installation) && object.kind === 'Installation');
}

function markEvidence({ name, object, evidence }: ManagedBy): { text: string; detail: string } {
  return object ? { text: refText(object), detail: `${name}: ${evidence}` } : { text: name, detail: evidence };
}
