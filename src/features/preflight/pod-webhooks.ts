import { command } from '../../kernel/argv.ts';
import { type Evidence, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { isOperated } from '../../kernel/installation.ts';
import { isRecord, jsonAt, mapAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type Kind, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type LabelSelector, selects } from '../../kube/selector.ts';
import { podsAnswer } from '../install-manifest/index.ts';
import { findWorkload, serviceWorkloads } from '../rollout/index.ts';
import {
  failIfAny,
  installationIn,
  type PodWebhook,
  type PreflightCheck,
  type PreflightFacts,
  shapeOf,
  withInstallation,
} from '../survey/index.ts';

interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

/** As a configuration holds it. */
interface WebhookShape {
  readonly name: string;
  readonly failurePolicy?: string;
  readonly rules?: readonly Rule[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly clientConfig?: { readonly service?: { readonly namespace: string; readonly name: string } };
}

const KINDS: readonly Kind[] = [K.ValidatingWebhookConfiguration, K.MutatingWebhookConfiguration];

/** Webhooks whose answer every new pod needs. A Service is read only if such a webhook uses it. */
export async function readPodWebhooks(cluster: Pick<ClusterReader, 'list' | 'get'>): Promise<readonly PodWebhook[]> {
  const lists = await Promise.all(
    KINDS.map(async (kind) =>
      (await cluster.list(kind)).map((one) => ({ ...one, apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind })),
    ),
  );
  const found = lists.flat().flatMap((configuration) => {
    const { webhooks = [] } = configuration as { readonly webhooks?: readonly WebhookShape[] };
    return webhooks
      .filter(({ failurePolicy, rules = [] }) => failurePolicy !== 'Ignore' && rules.some(isAboutNewPods))
      .map((webhook) => ({ object: refOf(configuration), webhook }));
  });
  const read = found.map(async ({ object, webhook }): Promise<readonly PodWebhook[]> => {
    const { name, namespaceSelector = {}, objectSelector = {}, clientConfig } = webhook;
    const service = clientConfig?.service;
    if (!service) return [];
    const matchLabels = jsonAt(await cluster.get(K.Service, service.name, service.namespace), 'spec', 'selector');
    const backends = isRecord(matchLabels) ? { matchLabels: matchLabels as LabelSelector['matchLabels'] & {} } : undefined;
    return [{ object, name, namespaces: namespaceSelector, objects: objectSelector, service, backends }];
  });
  return (await Promise.all(read)).flat();
}

function isAboutNewPods({ operations = [], apiGroups = [], resources = [], scope }: Rule): boolean {
  const names = (list: readonly string[], ...some: readonly string[]) => some.some((one) => list.includes(one));
  return names(operations, 'CREATE', '*') && names(apiGroups, '', '*') && names(resources, 'pods', '*', '*/*') && scope !== 'Cluster';
}

/** An operator renders its workloads once it runs. What admission says to a new pod of them now, it will most likely say then. */
export async function readOperatedPods(
  cluster: Pick<ClusterReader, 'dryRunCreate'>,
  { profile, goal }: Context,
  { detection, daemonSets, deployments }: Pick<PreflightFacts, 'detection' | 'daemonSets' | 'deployments'>,
): Promise<readonly Pick<PlannedObject, 'ref' | 'pods'>[]> {
  const installation = installationIn(detection);
  if (!installation || !isOperated(installation)) return [];
  if (installation.release === goal.release || 'unread' in daemonSets || 'unread' in deployments) return [];
  const names = Object.values(serviceWorkloads(installation, profile) ?? {});
  const live = names.flatMap((name) => findWorkload([...daemonSets.value, ...deployments.value], name) ?? []);
  return Promise.all(
    live.map(async (workload) => {
      const pods = await podsAnswer(cluster, withNewPriority(workload, profile), workload);
      return { ref: refOf(workload), ...(pods ? { pods } : {}) };
    }),
  );
}

/** Quotas of some clusters allow critical pods in few namespaces alone. */
function withNewPriority(workload: KubeObject, { operator: { priorities, agent } }: Profile): KubeObject {
  const pod = mapAt(workload.spec, 'template', 'spec');
  if (!priorities || pod.priorityClassName !== priorities.former) return workload;
  const priorityClassName = workload.metadata.name === agent.name ? priorities.agent : priorities.others;
  const { priority: _, ...rest } = pod;
  const spec = { ...rest, priorityClassName };
  return { ...workload, spec: { ...mapAt(workload.spec), template: { ...mapAt(workload.spec, 'template'), spec } } };
}

/** A webhook on the pod network needs the agents, and the agents' pods need its answer: a deadlock once both are down. */
export const podWebhooks: PreflightCheck = {
  id: 'NS-611',
  title: 'webhooks let the pods of the service start',
  category: 'workloads',
  severity: 'warning',
  ref: 'domain §12/12',
  judge: withInstallation((installation, facts, { profile }): Verdict => {
    const webhooks = read(facts.podWebhooks);
    const names = [
      ...Object.values(serviceWorkloads(installation, profile) ?? {}),
      ...(installation.operator ? [installation.operator] : []),
    ];
    const live = webhooks.length === 0 ? [] : [...read(facts.daemonSets), ...read(facts.deployments)];
    const workloads = names.flatMap((name) => findWorkload(live, name) ?? []);
    const found = webhooks.flatMap((webhook) => evidenceOn(webhook, workloads, facts));
    const [first] = found;
    return failIfAny(found, 'no webhook on the pod network has to admit the pods of the service', (those) => ({
      because: `${counted(found.length, 'webhook')} on the pod network must admit the pods of the service: ${those}`,
      hint: 'If its own pods have no network, the webhook does not answer, and the server refuses new agents. Exempt the namespace at the webhook, or by the setting of that product, before the upgrade.',
      next: command`kubectl get ${first?.object?.kind.toLowerCase() ?? ''} ${first?.object?.name ?? ''} -o yaml`,
    }));
  }),
};

/** What to add to the webhook; nothing where it does not ask about these pods, or where its own pods need no agent. */
function evidenceOn(webhook: PodWebhook, workloads: readonly KubeObject[], facts: PreflightFacts): readonly Evidence[] {
  const { object, name, service, backends } = webhook;
  const asked = workloads.filter((one) => isAskedAbout(webhook, one, read(facts.namespaces)));
  const answering = read(facts.pods).filter(
    ({ namespace, labels, ended }) => namespace === service.namespace && !ended && selects(backends, labels),
  );
  // A Service without a selector leads to what is no pod.
  if (asked.length === 0 || !backends || (answering.length > 0 && answering.every(({ hostNetwork }) => hostNetwork))) return [];
  const namespaces = [...new Set(asked.map(({ metadata }) => metadata.namespace))].join(', ');
  const exemption = `{key: kubernetes.io/metadata.name, operator: NotIn, values: [${namespaces}]}`;
  const pods =
    answering.length === 0
      ? 'no pod answers it'
      : `${counted(answering.length, 'pod')} of ${service.namespace} answer${answering.length === 1 ? 's' : ''} it`;
  return [
    { text: `${refText(object)}/${name}`, object, detail: `${pods}; add to the matchExpressions of its namespaceSelector: ${exemption}` },
  ];
}

function isAskedAbout({ namespaces, objects }: PodWebhook, workload: KubeObject, all: readonly KubeObject[]): boolean {
  const { namespace = '' } = workload.metadata;
  const labels = all.find(({ metadata }) => metadata.name === namespace)?.metadata.labels ?? {};
  // The server sets this label on every namespace.
  const named = { ...labels, 'kubernetes.io/metadata.name': namespace };
  return selects(namespaces, named) && selects(objects, shapeOf(workload).spec?.template?.metadata?.labels ?? {});
}
