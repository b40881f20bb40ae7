import { type Command, command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { failIfAny, listed, type PreflightCheck, withInstallation } from '../survey/index.ts';
import { PRIVILEGED } from './pods-admitted.ts';

interface Remedy {
  readonly says: RegExp;
  readonly hint: string;
  readonly fix?: (namespace: string) => RepairCommand;
  readonly next: (namespace: string) => Command;
}

/** What to change, by the words with which servers refuse pods. The first that fits is told; the last fits all. */
const REMEDIES: readonly Remedy[] = [
  {
    says: /violates PodSecurity/,
    hint: 'Pods of the service use the network and the files of their nodes: let their namespace enforce the level privileged.',
    fix: (namespace) => repairCommand`kubectl label namespace ${namespace} ${`${PRIVILEGED.label}=${PRIVILEGED.value}`} --overwrite`,
    next: (namespace) => command`kubectl get namespace ${namespace} --show-labels`,
  },
  {
    says: /insufficient quota to match these scopes/,
    hint: 'This server admits pods of these priority classes only where a quota allows them: create a ResourceQuota for them in this namespace, as there is one in kube-system. Operators of today give all pods of the service such a class.',
    next: (namespace) => command`kubectl -n ${namespace} get resourcequotas`,
  },
  {
    says: /exceeded quota|failed quota/,
    hint: 'Raise the quota, or set requests and limits of these containers as it asks.',
    next: (namespace) => command`kubectl -n ${namespace} describe resourcequotas`,
  },
  {
    says: /(?:minimum|maximum) \S+ usage per|limit to request ratio|must be less than or equal to \S+ limit/,
    hint: 'Change the LimitRange, or the requests and limits of these containers.',
    next: (namespace) => command`kubectl -n ${namespace} describe limitranges`,
  },
  {
    says: /ValidatingAdmissionPolicy/,
    hint: 'Exempt the namespace of these pods from the policy that the server names.',
    next: () => command`kubectl get validatingadmissionpolicybindings`,
  },
  {
    says: /admission webhook|calling webhook/,
    hint: 'Exempt the namespace of these pods from the webhook that the server names, or from its policy.',
    next: () => command`kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`,
  },
  { says: /(?:)/, hint: 'Remove the reason that the server gives.', next: () => command`kubectl netsvc-upgrade plan -o wide` },
];

type Tried = Pick<PlannedObject, 'ref' | 'pods'>;

export const refusesPods = ({ pods }: Pick<Tried, 'pods'>): boolean => pods?.verdict === 'refused';

function podsEvidence({ ref, pods }: Tried): Evidence {
  return { text: refText(ref), object: ref, ...(pods ? { detail: pods.words } : {}) };
}

/** The first of them says what to do. */
export function podsRefused(refused: readonly Tried[]): Verdict {
  const [{ ref, pods } = {}] = refused;
  const { hint = '', fix, next } = REMEDIES.find(({ says }) => says.test(pods?.words ?? '')) ?? {};
  return failIfAny(refused.map(podsEvidence), '', (names) => ({
    because: `the server refuses new pods of ${counted(refused.length, 'workload')}: ${names}`,
    hint,
    ...(fix ? { fix: fix(ref?.namespace ?? 'default') } : {}),
    next: next?.(ref?.namespace ?? 'default') ?? command`kubectl netsvc-upgrade plan -o wide`,
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
