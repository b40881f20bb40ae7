import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { canonicalNetwork } from '../../kernel/ip-text.ts';
import { jsonAt } from '../../kernel/json.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import { selects } from '../../kube/selector.ts';
import { findWorkload, serviceWorkloads, shapeOf } from '../rollout/index.ts';
import {
  evidenceOf,
  failIfAny,
  type PodWebhook,
  type PreflightCheck,
  type PreflightFacts,
  specOf,
  withInstallation,
} from '../survey/index.ts';

export const podWebhooksChecks: readonly PreflightCheck[] = [
  /** A webhook on the pod network needs the agents, and the agents' pods need its answer: a deadlock once both are down. */
  {
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
  },
];

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

export const podNetworkChecks: readonly PreflightCheck[] = [
  /** The operator refuses pools of the Installation outside the pod network of kubeadm, and then upgrades nothing. */
  {
    id: 'NS-628',
    title: 'address pools within the pod network',
    category: 'resources',
    severity: 'error',
    ref: 'domain §12',
    judge: withInstallation((_installation, { operated }, { profile }): Verdict => {
      const { crossings } = profile.operator;
      if (!operated || !crossings) return notApplicable('no operator runs the service here');
      const installation = read(operated.installation);
      const pools = jsonAt(specOf(installation), ...crossings.pools.field);
      if (!installation || !Array.isArray(pools) || pools.length === 0) return notApplicable('the Installation lists no address pools');
      const subnets = read(operated.podSubnets);
      if (subnets.length === 0) return notApplicable('kubeadm has no pod network here');
      const outside = pools
        .map((pool) => String(jsonAt(pool, 'cidr') ?? ''))
        .filter((cidr) => !subnets.some((subnet) => isWithin(cidr, subnet)));
      const evidence = outside.map((cidr): Evidence => evidenceOf(installation, `${cidr} is not within ${subnets.join(', ')}`));
      return failIfAny(evidence, `the pools are within the pod network ${subnets.join(', ')}`, () => ({
        because: `the Installation has pools outside the pod network that kubeadm knows (${subnets.join(', ')}): ${outside.join(', ')}. The operator refuses them and upgrades nothing`,
        hint: `Set podSubnet in ConfigMap kubeadm-config to a network that has these pools in it, or align spec.${crossings.pools.field.join('.')} of the Installation, before the upgrade.`,
        next: 'kubectl -n kube-system get configmap kubeadm-config -o yaml',
      }));
    }),
  },
];

function isWithin(cidr: string, subnet: string): boolean {
  const [, bits] = subnet.split('/');
  const network = canonicalNetwork(subnet);
  if (network === undefined || Number(cidr.split('/')[1]) < Number(bits)) return false;
  return canonicalNetwork(`${cidr.split('/')[0]}/${bits}`) === network;
}
