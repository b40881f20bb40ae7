import { notApplicable, ok, read } from '../core/check.ts';
import { refText } from '../core/object.ts';
import { isOlder } from '../core/release.ts';
import { counted, defineCheck, failed, failIfAny, PROGRAM } from './define.ts';
import type { ServiceImage, VerifyCheck } from './verify-facts.ts';

const evidence = ({ pod, container, image }: ServiceImage) => ({ text: pod, detail: `${container}: ${image}` });

export const everyPodNew: VerifyCheck = defineCheck('NS-302', {
  category: 'result',
  severity: 'error',
  ref: '§4.4/3',
  judge(facts, { options }) {
    const images = read(facts.images);
    if (!images.some(({ isCli }) => !isCli)) {
      return failed('no pod of the service was found', 'Check --profile and the install path.', { next: `${PROGRAM} preflight` });
    }
    const old = images.filter(({ release }) => release !== undefined && isOlder(release, options.release));
    const untold = images.filter(({ release }) => release === undefined);
    if (old.length === 0 && untold.length > 0) {
      return failed(
        `${counted(untold.length, 'container')} of the service whose image does not tell its release`,
        `Compare the digests with those of ${options.release}.`,
        { severity: 'warning', evidence: untold.map(evidence) },
      );
    }
    return failIfAny(old.map(evidence), `all ${counted(images.length, 'container')} of the service are of ${options.release}`, (names) => ({
      because: `${counted(old.length, 'container')} of the service older than ${options.release}: ${names}`,
      hint: 'See why it did not roll; what has a manifest of its own (API server, CSI driver, CLI pods) is upgraded with that.',
      next: old.every(({ isCli }) => isCli) ? `${PROGRAM} cli` : `${PROGRAM} wait`,
      ...(old.every(({ isCli }) => isCli) ? { severity: 'warning' } : {}),
    }));
  },
});

export const rolloutComplete: VerifyCheck = defineCheck('NS-303', {
  category: 'result',
  severity: 'error',
  ref: '§4.4/3',
  judge(facts) {
    const rollouts = read(facts.rollouts);
    if (rollouts.length === 0) return failed('no workload of the service was found', 'Check --profile and the install path.');
    const open = rollouts.filter(({ done }) => !done);
    return failIfAny(
      open.map(({ target, pending }) => ({ text: refText(target), detail: pending })),
      `${counted(rollouts.length, 'workload')} rolled out and ready`,
      (names) => ({
        because: `the rolling update is not complete: ${names}`,
        hint: 'Wait for it; it names the node and the reason.',
        next: `${PROGRAM} wait`,
      }),
    );
  },
});

export const nothingLeft: VerifyCheck = defineCheck('NS-304', {
  category: 'result',
  severity: 'error',
  ref: 'domain §6.4',
  judge(facts) {
    const left = read(facts.leftovers);
    if (left === undefined) return notApplicable('no full manifest on this install path');
    return failIfAny(
      left.map(({ object, names }) => ({ text: object, detail: names.join(', ') })),
      'no container, variable or volume of the old release is left',
      (names) => ({
        because: `${names} still ${left.length === 1 ? 'has' : 'have'} parts of the old release`,
        hint: 'Apply again: it removes them by patches.',
        next: `${PROGRAM} apply`,
      }),
    );
  },
});

export const crdsLeftBehind: VerifyCheck = defineCheck('NS-305', {
  category: 'result',
  severity: 'warning',
  ref: 'domain §0.8',
  judge(facts) {
    const crds = read(facts.leftBehind);
    const used = crds.filter(({ objects }) => objects > 0);
    const names = crds.map(({ name }) => name).join(', ');
    if (used.length === 0) {
      return ok(
        crds.length === 0
          ? 'no CRD is left behind'
          : `left behind, without objects: ${names} (kubectl delete crd ${names.replaceAll(',', '')})`,
      );
    }
    return failIfAny(
      used.map(({ name, objects }) => ({ text: `CustomResourceDefinition/${name}`, detail: counted(objects, 'object') })),
      '',
      (which) => ({
        because: `objects that the new release no longer enforces: ${which}`,
        hint: 'Convert them to what replaces their kind, then delete the CRD.',
      }),
    );
  },
});
