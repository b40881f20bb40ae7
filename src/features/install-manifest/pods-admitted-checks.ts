import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { failIfAny, listed, PROGRAM, type PreflightCheck, withInstallation } from '../survey/index.ts';
import { PRIVILEGED } from './pods-admitted.ts';

interface Remedy {
  readonly hint: string;
  readonly next: string;
}

/** What to change, by the words with which servers refuse pods. The first that fits is told. */
const REMEDIES: readonly { readonly says: RegExp; readonly remedy: (namespace: string) => Remedy }[] = [
  {
    says: /violates PodSecurity/,
    remedy: (namespace) => ({
      hint: 'Pods of the service use the network and the files of their nodes: let their namespace enforce the level privileged.',
      next: command`kubectl label namespace ${namespace} ${`${PRIVILEGED.label}=${PRIVILEGED.value}`} --overwrite`,
    }),
  },
  {
    says: /exceeded quota|failed quota/,
    remedy: (namespace) => ({
      hint: 'Raise the quota, or set requests and limits of these containers as it asks.',
      next: command`kubectl -n ${namespace} describe resourcequotas`,
    }),
  },
  {
    says: /(?:minimum|maximum) \S+ usage per|limit to request ratio|must be less than or equal to \S+ limit/,
    remedy: (namespace) => ({
      hint: 'Change the LimitRange, or the requests and limits of these containers.',
      next: command`kubectl -n ${namespace} describe limitranges`,
    }),
  },
  {
    says: /ValidatingAdmissionPolicy/,
    remedy: () => ({
      hint: 'Exempt the namespace of these pods from the policy that the server names.',
      next: 'kubectl get validatingadmissionpolicybindings',
    }),
  },
  {
    says: /admission webhook|calling webhook/,
    remedy: () => ({
      hint: 'Exempt the namespace of these pods from the webhook that the server names, or from its policy.',
      next: 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations',
    }),
  },
];

const ANY: Remedy = { hint: 'Remove the reason that the server gives.', next: `${PROGRAM} plan -o wide` };

/** What to do about refused pods; by the first of them. */
function remedyOf([first]: readonly Pick<PlannedObject, 'ref' | 'pods'>[]): Remedy {
  const found = REMEDIES.find(({ says }) => says.test(first?.pods?.words ?? ''));
  return found?.remedy(first?.ref.namespace ?? 'default') ?? ANY;
}

export const refusesPods = ({ pods }: Pick<PlannedObject, 'pods'>): boolean => pods?.verdict === 'refused';

function podsEvidence({ ref, pods }: { readonly ref: ObjectRef } & Pick<PlannedObject, 'pods'>): Evidence {
  return { text: refText(ref), object: ref, ...(pods ? { detail: pods.words } : {}) };
}

export function podsRefused(refused: readonly Pick<PlannedObject, 'ref' | 'pods'>[]): Verdict {
  return failIfAny(refused.map(podsEvidence), '', (names) => ({
    because: `the server refuses new pods of ${counted(refused.length, 'workload')}: ${names}`,
    ...remedyOf(refused),
  }));
}

export const podsAdmittedChecks: readonly PreflightCheck[] = [
  /** A workload that the server accepts gets no pods where admission refuses them: quotas, LimitRanges, pod security and webhooks evaluate pods alone. */
  {
    id: 'NS-610',
    title: 'server admits the pods of the upgrade',
    category: 'manifest',
    severity: 'error',
    ref: 'domain §12/12',
    judge: withInstallation((_installation, { preview, operatedPods }) => {
      if ('unread' in preview) return notApplicable('the objects of the target were not tried: see NS-603');
      const tried = [...preview.value, ...read(operatedPods)];
      const refused = tried.filter(refusesPods);
      if (refused.length > 0) return podsRefused(refused);
      const unasked = tried.filter(({ pods }) => pods !== undefined);
      const [first] = unasked;
      if (!first) return ok('the server refuses no pod of the upgrade (dry run)');
      return {
        status: 'failed',
        severity: 'warning',
        because: `whether the server admits new pods of ${listed(unasked.map(({ ref }) => refText(ref)))} is not known: the dry run could not be made`,
        hint: 'Use an account that may create pods there, or watch the first new pod. A webhook with side effects allows no dry run.',
        next: command`kubectl auth can-i create pods -n ${first.ref.namespace ?? 'default'}`,
        evidence: unasked.map(podsEvidence),
      };
    }),
  },
];
