import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Detection } from '../../kernel/installation.ts';
import { isRecord, jsonAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type Kind, type KubeObject, refOf } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import { podsAnswer } from '../install-manifest/index.ts';
import { findWorkload, serviceWorkloads } from '../rollout/index.ts';
import type { PodWebhook } from '../survey/index.ts';

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
    return webhooks.filter(hasToAnswer).map((webhook) => ({ object: refOf(configuration), webhook }));
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

function hasToAnswer({ failurePolicy, rules = [] }: WebhookShape): boolean {
  return failurePolicy !== 'Ignore' && rules.some(isAboutNewPods);
}

function isAboutNewPods({ operations = [], apiGroups = [], resources = [], scope }: Rule): boolean {
  const names = (list: readonly string[], ...some: readonly string[]) => some.some((one) => list.includes(one));
  return names(operations, 'CREATE', '*') && names(apiGroups, '', '*') && names(resources, 'pods', '*', '*/*') && scope !== 'Cluster';
}

interface Installed {
  readonly detection: Reading<Detection>;
  readonly daemonSets: Reading<readonly KubeObject[]>;
  readonly deployments: Reading<readonly KubeObject[]>;
}

/** An operator renders its workloads once it runs. What admission says to a new pod of them now, it will most likely say then. */
export async function readOperatedPods(
  cluster: Pick<ClusterReader, 'dryRunCreate'>,
  { profile, options }: Context,
  { detection, daemonSets, deployments }: Installed,
): Promise<readonly Pick<PlannedObject, 'ref' | 'pods'>[]> {
  const installation = 'value' in detection && detection.value.type === 'found' ? detection.value.installation : undefined;
  if (!installation || (installation.path !== 'operator' && installation.path !== 'chart')) return [];
  if (installation.release === options.release || 'unread' in daemonSets || 'unread' in deployments) return [];
  const names = Object.values(serviceWorkloads(installation, profile) ?? {});
  const live = names.flatMap((name) => findWorkload([...daemonSets.value, ...deployments.value], name) ?? []);
  return Promise.all(
    live.map(async (workload) => {
      const pods = await podsAnswer(cluster, workload, workload);
      return { ref: refOf(workload), ...(pods ? { pods } : {}) };
    }),
  );
}
