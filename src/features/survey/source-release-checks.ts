import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { ComponentVersion, Installation } from '../../kernel/installation.ts';
import { intentWords } from '../../kernel/intent.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder, parseImage, parseRelease } from '../../kernel/release.ts';
import { containersOf } from '../../kube/workload.ts';
import { RELEASED } from './components.ts';
import { crdsKept, nativeCrds } from './ownership-checks.ts';
import { operatorRelease } from './release-evidence.ts';
import { explained, sourceRelease } from './source-release.ts';
import { beingDeleted, procedures, refusedByTarget } from './unfinished-checks.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  judgedTwice,
  listed,
  type PreflightCheck,
  type SourceJudged,
  withInstallation,
} from './verdicts.ts';

const UNKNOWN = 'the installed release is not known (images by digest or moving tags)';

const GOES_BACK = 'a rollback goes back to the release that the upgrade came from';

const supported = judgedTwice({
  id: 'NS-105',
  title: 'installed release supported as a starting point',
  category: 'installation',
  severity: 'error',
  ref: '§9/2',
  judge(installation, facts, context) {
    if (intentWords(context.intent).goesBack) return notApplicable(GOES_BACK);
    const source = sourceRelease(installation, facts, context);
    if (source === undefined || !parseRelease(source)) {
      return failed(UNKNOWN, 'Set release tags on the images, or find the release out and accept this check by name.', {
        evidence: installation.components.map(({ workload, image }) => ({ text: workload, detail: image })),
        next: command`kubectl netsvc-upgrade explain NS-105`,
      });
    }
    const { minimumSource } = context.profile;
    if (!isOlder(source, minimumSource)) return ok(`installed release ${source}`);
    return failed(
      `installed release ${source} is older than ${minimumSource}, the oldest supported start`,
      `Upgrade to ${minimumSource} or later first, by that release's own procedure.`,
      { next: command`kubectl netsvc-upgrade explain NS-105` },
    );
  },
});

const notNewer = judgedTwice({
  id: 'NS-106',
  title: 'installed release not newer than the target',
  category: 'installation',
  severity: 'error',
  isNeverWaived: true,
  ref: '§9/1',
  judge({ release }, _facts, { goal, intent }) {
    if (intentWords(intent).goesBack) return notApplicable(GOES_BACK);
    if (release === undefined || !parseRelease(release)) return notApplicable(UNKNOWN);
    if (!isOlder(goal.release, release)) return ok(`${release} → ${goal.release}`);
    return failed(
      `installed release ${release} is newer than the target ${goal.release}`,
      'Choose a newer target with --release: a downgrade is not supported and would lose data.',
      { next: command`kubectl netsvc-upgrade preflight --release ${release}` },
    );
  },
});

/** For every stage that writes the target: it may run alone, and the installation may have changed since the preflight. */
export const sourceChecks: readonly Check<SourceJudged>[] = [
  supported.beforeWrite,
  notNewer.beforeWrite,
  nativeCrds.beforeWrite,
  crdsKept.beforeWrite,
  beingDeleted.beforeWrite,
  procedures.beforeWrite,
  refusedByTarget.beforeWrite,
];

/** Add-ons have manifests of their own and are often left behind; the core of the service must be of one release. */
const ADD_ONS = new Set(['apiserver', 'csi']);
/** Numbered on their own. */
const FOREIGN = new Set(['flannel', 'operator']);

export const sourceReleaseChecks: readonly PreflightCheck[] = [
  supported.atPreflight,
  notNewer.atPreflight,
  {
    id: 'NS-107',
    title: 'one release everywhere',
    category: 'installation',
    severity: 'error',
    ref: 'domain §12/13',
    judge: withInstallation((installation, facts, context): Verdict => {
      const mixed = installation.mixed.filter(({ component }) => !FOREIGN.has(component));
      const core = mixed.filter(({ component }) => !ADD_ONS.has(component));
      const expected = explained(facts, context);
      const evidence = mixed.map(({ workload, container, image, release }) => ({
        text: workload,
        detail: `${container}: ${release ?? image}`,
      }));
      const unknown = evidence.length === 0 ? unknownOperator(installation, read(facts.deployments), context.profile) : [];
      const [operator] = unknown;
      if (operator) return operatorUnknown(operator, unknown);
      const untold = evidence.length === 0 ? installation.components.filter(isMoving) : [];
      if (untold.length > 0) return tagsUntold(untold);
      return failIfAny(evidence, `every component runs ${installation.release ?? 'the same release'}`, (names) => ({
        because: expected
          ? `the unfinished run to ${context.goal.release} left ${counted(mixed.length, 'component')} of another release`
          : `${counted(mixed.length, 'component')} not of the agents' release ${installation.release ?? ''}: ${names}`,
        hint: expected
          ? 'Continue the run.'
          : 'Find out who began another upgrade, and upgrade all components to one release first. Older add-ons do not block the upgrade.',
        next: expected ? command`kubectl netsvc-upgrade run` : command`kubectl netsvc-upgrade status`,
        severity: core.length > 0 ? 'error' : 'warning',
        ...(expected ? { expected: true } : {}),
      }));
    }),
  },
];

/** Neither its tag nor its variable says which release it is of, or nothing is known of that one. */
function unknownOperator({ operator }: Installation, deployments: readonly KubeObject[], profile: Profile): readonly KubeObject[] {
  const own = deployments.find(({ metadata }) => metadata.name === operator?.name && metadata.namespace === operator.namespace);
  const known = own && operatorRelease(own, profile);
  const isKnown = known && (known.release !== undefined || known.line !== undefined || Object.keys(profile.operator.releases).length === 0);
  return own && !isKnown ? [own] : [];
}

/** A tag that is no release, such as `stable`: what it names may change. A digest names one image. */
function isMoving({ component, image, release }: ComponentVersion): boolean {
  return RELEASED.has(component) && release === undefined && parseImage(image).digest === undefined;
}

function tagsUntold(untold: readonly ComponentVersion[]): Verdict {
  const evidence = untold.map(({ workload, container, image }): Evidence => ({ text: workload, detail: `${container}: ${image}` }));
  return failed(
    `${counted(untold.length, 'image')} whose tag is no release: ${listed(evidence.map(({ text }) => text))}`,
    'Set the tag of the release that runs. What such a tag names can change, and whether these pods are of one release is not known.',
    { evidence, severity: 'warning', next: command`kubectl netsvc-upgrade status` },
  );
}

function operatorUnknown(operator: KubeObject, all: readonly KubeObject[]): Verdict {
  const images = containersOf(operator).map(({ image = '' }) => image);
  return failed(
    `the release of the operator is not known: ${refText(refOf(operator))} has the image ${images.join(', ')}`,
    'Find out which release it is before the upgrade. What that release refuses or does not know is not looked at here.',
    {
      evidence: all.map((one) => evidenceOf(one)),
      severity: 'warning',
      next: command`kubectl -n ${operator.metadata.namespace ?? ''} get deployment ${operator.metadata.name} -o wide`,
    },
  );
}
