import { type Check, type Evidence, notApplicable, ok, type Reading, read } from '../core/check.ts';
import { type KubeObject, refOf, refText } from '../core/object.ts';
import { isOlder, parseRelease, sameMinor } from '../core/release.ts';
import type { RolloutProgress } from '../core/rollout.ts';
import { counted, defineCheck, failed, failIfAny, PROGRAM } from './define.ts';
import type { OwnerScan } from './facts.ts';

/** What the upgrade brought about, as the checks of `verify` see it. */
export interface VerifyFacts {
  /** By the new CLI, or from the cluster's own record if there is none to run. */
  readonly clusterVersion: Reading<{ readonly value?: string; readonly by: string; readonly because?: string }>;
  /** Images of every pod that carries a component of the service. */
  readonly images: Reading<readonly { readonly pod: string; readonly image: string; readonly release?: string }[]>;
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  readonly leftovers: Reading<readonly { readonly object: string; readonly names: readonly string[] }[]>;
  /** CRDs that the target no longer has, and how many objects each still holds. */
  readonly leftBehind: Reading<readonly { readonly name: string; readonly objects: number }[]>;
  readonly temporaryPolicies: Reading<readonly KubeObject[]>;
  readonly owners: Reading<OwnerScan>;
  /** UIDs of the owners that exist now. */
  readonly ownerUids: Reading<ReadonlySet<string>>;
  readonly clis: Reading<readonly { readonly file: string; readonly release?: string }[]>;
}

type VerifyCheck = Check<VerifyFacts>;

/** v3.32.x on the API path, v3.32 on the key-value path: both are the minor line (§4.4/5, §9/3). */
const clusterVersion: VerifyCheck = defineCheck('NS-301', {
  category: 'result',
  severity: 'error',
  ref: '§4.4/5',
  judge(facts, { options }) {
    const { value, by, because } = read(facts.clusterVersion);
    const next = `${PROGRAM} wait`;
    if (value === undefined)
      return failed(
        `no cluster version: ${because ?? 'it is not recorded'}`,
        'See that the agents run: each new one records its version.',
        { next },
      );
    if (sameMinor(value, options.release)) return ok(`Cluster Version ${value} (${by})`);
    return failed(
      `Cluster Version is ${value}, not of ${options.release} (${by})`,
      'Continue the upgrade; an old agent that restarts sets it back.',
      { next: `${PROGRAM} run` },
    );
  },
});

const everyPodNew: VerifyCheck = defineCheck('NS-302', {
  category: 'result',
  severity: 'error',
  ref: '§4.4/3',
  judge(facts, { options }) {
    const images = read(facts.images);
    if (images.length === 0)
      return failed('no pod of the service was found', 'Check --profile and the install path.', { next: `${PROGRAM} preflight` });
    const old = images.filter(({ release }) => release === undefined || (parseRelease(release) && isOlder(release, options.release)));
    const evidence: readonly Evidence[] = old.map(({ pod, image }) => ({ text: pod, detail: image }));
    return failIfAny(evidence, `all ${counted(images.length, 'container')} of the service run ${options.release}`, (names) => ({
      because: `${counted(old.length, 'container')} of the service not on ${options.release}: ${names}`,
      hint: 'Upgrade what has a manifest of its own (API server, CSI driver, CLI pods) to the same release, and see why the others did not roll.',
      next: `${PROGRAM} wait`,
    }));
  },
});

const rolloutComplete: VerifyCheck = defineCheck('NS-303', {
  category: 'result',
  severity: 'error',
  ref: '§4.4/3',
  judge(facts) {
    const rollouts = read(facts.rollouts);
    if (rollouts.length === 0) return notApplicable('no full manifest on this install path');
    const open = rollouts.filter(({ done }) => !done);
    const evidence = open.map(({ target, pending }) => ({ text: refText(target), detail: pending }));
    return failIfAny(evidence, `${counted(rollouts.length, 'workload')} rolled out and ready`, (names) => ({
      because: `the rolling update is not complete: ${names}`,
      hint: 'Wait for it; it names the node and the reason.',
      next: `${PROGRAM} wait`,
    }));
  },
});

const nothingLeft: VerifyCheck = defineCheck('NS-304', {
  category: 'result',
  severity: 'error',
  ref: 'domain §6.4',
  judge(facts) {
    const evidence = read(facts.leftovers).map(({ object, names }) => ({ text: object, detail: names.join(', ') }));
    return failIfAny(evidence, 'no container, variable or volume of the old release is left', (names) => ({
      because: `${names} still ${evidence.length === 1 ? 'has' : 'have'} parts of the old release`,
      hint: 'Apply again: it removes them by patches.',
      next: `${PROGRAM} apply`,
    }));
  },
});

const crdsLeftBehind: VerifyCheck = defineCheck('NS-305', {
  category: 'result',
  severity: 'warning',
  ref: 'domain §0.8',
  judge(facts) {
    const crds = read(facts.leftBehind);
    const used = crds.filter(({ objects }) => objects > 0);
    if (used.length === 0)
      return ok(
        crds.length === 0
          ? 'no CRD is left behind'
          : `${crds.map(({ name }) => name).join(', ')} left behind, without objects: kubectl delete crd when every old agent is gone`,
      );
    const evidence = used.map(({ name, objects }) => ({ text: `CustomResourceDefinition/${name}`, detail: counted(objects, 'object') }));
    return failIfAny(evidence, '', (names) => ({
      because: `objects that the new release no longer enforces: ${names}`,
      hint: 'Convert them to what replaces their kind, then delete the CRD.',
    }));
  },
});

const temporaryPolicy: VerifyCheck = defineCheck('NS-306', {
  category: 'result',
  severity: 'warning',
  ref: '§4.4/7',
  judge(facts) {
    const evidence = read(facts.temporaryPolicies).map((policy) => ({ text: refText(refOf(policy)), object: refOf(policy) }));
    return failIfAny(evidence, 'no temporary policy', (names) => ({
      because: `${names} still allows all traffic`,
      hint: 'Review what only it allows, add policies for that, then delete it.',
    }));
  },
});

const ownersExist: VerifyCheck = defineCheck('NS-307', {
  category: 'result',
  severity: 'error',
  ref: '§7/1',
  judge(facts) {
    const { dependents, unread } = read(facts.owners);
    const uids = dependents.length === 0 ? new Set<string>() : read(facts.ownerUids);
    const dangling = dependents.filter(({ owner }) => !uids.has(owner.uid));
    const evidence = dangling.map(({ object, owner }) => ({
      text: refText(object),
      object,
      detail: `owner ${owner.kind}/${owner.name} has no such UID any more`,
    }));
    if (dangling.length === 0 && unread.length > 0) {
      return failed(
        `the search was not complete: ${unread.map(({ kind, because }) => `${kind} (${because})`).join(', ')}`,
        'Make these kinds readable, then verify again.',
        { next: `${PROGRAM} verify` },
      );
    }
    return failIfAny(evidence, `${counted(dependents.length, 'owner reference')} to the service, each to an existing object`, (names) => ({
      because: `${counted(dangling.length, 'owner reference')} to objects that no longer exist: ${names}`,
      hint: 'The next start of kube-controller-manager deletes these objects: set the reference to the new UID, or remove it, now.',
    }));
  },
});

const noOldCli: VerifyCheck = defineCheck('NS-308', {
  category: 'result',
  severity: 'warning',
  ref: '§1/4',
  judge(facts, { options }) {
    const old = read(facts.clis).filter(
      ({ release }) => release === undefined || (parseRelease(release) && isOlder(release, options.release)),
    );
    return failIfAny(
      old.map(({ file, release }) => ({ text: file, detail: release ?? 'release unknown' })),
      'no older CLI on PATH',
      (names) => ({
        because: `older CLI on PATH: ${names}`,
        hint: 'An older CLI must not be used any more: remove it here and on every other machine.',
        next: `${PROGRAM} cli`,
      }),
    );
  },
});

export const verifyChecks: readonly VerifyCheck[] = [
  clusterVersion,
  everyPodNew,
  rolloutComplete,
  nothingLeft,
  crdsLeftBehind,
  temporaryPolicy,
  ownersExist,
  noOldCli,
];
