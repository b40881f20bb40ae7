import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';

/** Seconds after its end until the cluster deletes a Job by itself, that of a killed run too. */
const GONE_AFTER = 60;

interface BoundJob {
  readonly name: string;
  readonly namespace: string;
  /** Of the Job and of its pod. */
  readonly labels: Readonly<Record<string, string>>;
  readonly node: string;
  /** Seconds after which the cluster ends it by itself. */
  readonly endsAfter: number;
  /** Containers, and what else its pod needs. */
  readonly pod: object;
}

/** What the restricted pod security level asks of a container. */
export const RESTRICTED = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };

/** A Job of one pod on that node: no token, no variable, no Secret. Bound by affinity: quota, taints and the scheduler are asked as for any pod. */
export function boundJob({ name, namespace, labels, node, endsAfter, pod }: BoundJob): KubeObject {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 0,
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } },
    securityContext: { runAsNonRoot: true, runAsUser: 65534, seccompProfile: { type: 'RuntimeDefault' } },
    ...pod,
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, labels },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: endsAfter,
      ttlSecondsAfterFinished: GONE_AFTER,
      template: { metadata: { labels }, spec },
    },
  };
}

/** Pods that a Job controls and that nobody deletes: one. Whoever creates pods in its namespace can say of more that they are. */
export function podsOf(pods: readonly KubeObject[], job: string): readonly KubeObject[] {
  return pods.filter(
    ({ metadata: { ownerReferences = [], deletionTimestamp } }) =>
      deletionTimestamp === undefined && ownerReferences.some(({ uid, controller }) => uid === job && controller === true),
  );
}

export const doubledText = (pods: number, job: string): string =>
  `${pods} pods say that they are of Job ${job}: use a namespace where nobody else creates pods`;

/** What this account may not do there, in a sentence: what could not be read or deleted afterwards is not created. */
export async function deniedText(
  cluster: Pick<ClusterReader, 'reviewAccess'>,
  namespace: string,
  { readsLogs = false } = {},
): Promise<string | undefined> {
  const { group, plural: resource } = K.Job;
  const asked = [
    { verb: 'create', group, resource, namespace },
    { verb: 'delete', group, resource, namespace },
    ...(readsLogs ? [{ verb: 'get', group: '', resource: 'pods', subresource: 'log', namespace }] : []),
  ];
  const allowed = await cluster.reviewAccess(asked);
  const denied = asked.filter((_, index) => !allowed[index]).map((one) => (one.verb === 'get' ? 'read logs of pods' : `${one.verb} Jobs`));
  return denied.length === 0 ? undefined : `this account may not ${denied.join(' or ')} in namespace ${namespace}`;
}

export const SEE_RIGHTS = ' (docs/reference/permissions.md)';
