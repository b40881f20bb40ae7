import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { isIPv6 } from '../../kernel/ip-text.ts';
import { jsonAt, mapAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses } from '../../kernel/release.ts';
import { dropsAllOf, type GlobalPolicy, globalPolicyOf, tierOf } from '../policy-rules/index.ts';
import {
  type ApiEndpoint,
  evidenceOf,
  failIfAny,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  sourceRelease,
  table,
  unknownEnd,
  withInstallation,
} from '../survey/index.ts';

const SHARED = { category: 'resources', severity: 'warning', ref: 'domain §11.3' } as const;

export const operatorPoliciesChecks: readonly PreflightCheck[] = table(SHARED, [
  /** The operator puts its policies before all others: other workloads no longer reach its pods, nor do they reach them. */
  {
    id: 'NS-632',
    title: 'no other objects in the operator’s pod namespace',
    judge: withInstallation((installation, facts, context): Verdict => {
      const guarded = context.profile.operator.crossings?.guarded;
      if (!facts.operated || !guarded) return notApplicable('no operator guards a namespace here');
      if (!crosses(sourceRelease(installation, facts, context), context.goal.release, guarded.since))
        return notApplicable('the operator guards its namespace as it does now');
      const isForeign = ({ metadata }: KubeObject) => metadata.namespace === guarded.namespace && !isOwned(metadata);
      const found = [
        ...read(facts.operated.reaching)
          .filter(({ metadata }) => metadata.namespace !== guarded.scrapers && !isOwned(metadata))
          .map((one) => evidenceOf(one, 'leads to pods in it')),
        ...[...read(facts.daemonSets), ...read(facts.deployments)]
          .filter(isForeign)
          .map((one) => evidenceOf(one, 'the operator did not make it')),
        ...objectsOf(facts, 'networkpolicies')
          .filter((one) => isForeign(one) && jsonAt(one.spec, 'tier') !== guarded.tier)
          .map((one) => evidenceOf(one, 'comes after the policies of the operator')),
      ];
      return failIfAny(found, `nothing but the operator's own is in ${guarded.namespace}, or leads to it`, (names) => ({
        because: `from ${guarded.since} on policies of the operator come before all others in ${guarded.namespace}, and ${counted(found.length, 'object')} of yours may no longer work: ${names}`,
        hint: `Metrics of the controllers may then be read from namespace ${guarded.scrapers} alone, and the flow UI takes no traffic from outside. Move workloads of yours elsewhere. To allow more, add a policy in tier ${guarded.tier} with a lower order than those of the operator, after the upgrade.`,
        next: command`kubectl -n ${guarded.namespace} get services,pods`,
      }));
    }),
  },
  /** The operator allows traffic to the moved API server by a policy that it can only create through that API server. */
  {
    id: 'NS-633',
    title: 'your policies let the moved API server answer',
    judge: withInstallation((installation, facts, context): Verdict => {
      const { profile } = context;
      const api = profile.operator.end?.api;
      if (!facts.operated || !api || !installation.hasApiServer) return notApplicable('no operator runs an API server of the service here');
      if (unknownEnd(installation, context)) return notApplicable('the target is none on this path: see NS-601');
      const workload = installation.components.find(({ component }) => component === 'apiserver')?.workload;
      const old = read(facts.deployments).find((one) => refText(refOf(one)) === workload);
      if (old?.metadata.namespace !== api.oldNamespace) return ok(`the API server is not in ${api.oldNamespace}`);
      if (jsonAt(old.spec, 'template', 'spec', 'hostNetwork') === true) return ok('the API server uses the network of its nodes');
      const evidence = droppedBy(old, api.namespace, facts, profile);
      return failIfAny(evidence, `policies of yours drop not all traffic of ${api.namespace}`, (names) => ({
        because: `the API server moves to namespace ${api.namespace}, where policies of yours drop its traffic: ${names}`,
        hint: `The operator allows this traffic by a policy of its own, which it creates through this API server: the v3 API stays away for good. Exempt namespace ${api.namespace} in these policies, or allow the traffic there before the upgrade. A NetworkPolicy of Kubernetes that allows it is not seen here.`,
        next: command`kubectl get globalnetworkpolicies.${profile.crdGroup} -o yaml`,
      }));
    }),
  },
  /** A policy of the operator lets the controllers reach API servers on some ports alone; it is evaluated after the address of the Service is replaced. */
  {
    id: 'NS-635',
    title: 'the controllers may reach the API server',
    severity: 'error',
    judge: withInstallation((_installation, facts, { profile }): Verdict => {
      const { crossings, endpoint, namespace } = profile.operator;
      const guarded = crossings?.guarded;
      if (!facts.operated || !guarded) return notApplicable('no operator guards a namespace here');
      const data = mapAt(
        read(facts.configMaps).find(({ metadata }) => metadata.name === endpoint?.configMap && metadata.namespace === namespace),
        'data',
      );
      const said = (suffix: string): ApiEndpoint => ({
        host: textAt(data, `${endpoint?.hostKey}${suffix}`) ?? '',
        port: Number(textAt(data, `${endpoint?.portKey}${suffix}`)),
      });
      const [named, ofPods] = [said(''), said(endpoint?.podsSuffix ?? '')];
      const found = read(facts.operated.apiEndpoints);
      // Pods that are given an address do not use that of the Service.
      const asked = found.length > 0 && endpoint?.podsSuffix && ofPods.host !== '' && ofPods.port > 0 ? [ofPods] : found;
      const cutOff = asked.filter((one) => !guarded.apiPorts.includes(one.port) && !(one.host === named.host && one.port === named.port));
      const ports = guarded.apiPorts.join(', ');
      const evidence = cutOff.map(
        ({ host, port }): Evidence => ({
          text: isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`,
          detail: 'an API server of the cluster',
        }),
      );
      return failIfAny(evidence, `the API servers listen on a port that the controllers may reach (${ports})`, (names) => ({
        because: `from ${guarded.since} on the controllers may reach API servers on ports ${ports} alone, and these listen elsewhere: ${names}`,
        hint: `The controllers then lose the API server, and policies are not renamed. Have the policy at hand that allows it: a NetworkPolicy of the service in namespace and tier ${guarded.namespace}, with an order below 1, for pods of the controllers, egress TCP to this port. Create it as soon as the new operator has made the tier, and accept this check.`,
        next: command`kubectl get endpointslices kubernetes -o yaml`,
      }));
    }),
  },
]);

function droppedBy(old: KubeObject, name: string, facts: PreflightFacts, profile: Profile): readonly Evidence[] {
  const stored = [
    ...objectsOf(facts, 'globalnetworkpolicies'),
    ...objectsOf(facts, 'networkpolicies').filter(({ metadata }) => metadata.namespace === name),
  ];
  const known = new Map<GlobalPolicy, KubeObject>();
  for (const object of stored) {
    const policy = inForce(object, profile);
    if (policy) known.set(policy, object);
  }
  const pod = {
    namespace: read(facts.namespaces).find(({ metadata }) => metadata.name === name)?.metadata ?? { name },
    labels: mapAt(old.spec, 'template', 'metadata', 'labels') as Readonly<Record<string, string>>,
    serviceAccount: textAt(old.spec, 'template', 'spec', 'serviceAccountName') ?? 'default',
  };
  const world = { policies: [...known.keys()], tiers: objectsOf(facts, 'tiers').map(tierOf), profile };
  const ways = (['ingress', 'egress'] as const).map((way) => ({ way, dropping: dropsAllOf(pod, way, world) }));
  return [...known].flatMap(([policy, object]) => {
    const dropped = ways.filter(({ dropping }) => dropping.includes(policy)).map(({ way }) => way);
    return dropped.length === 0 ? [] : [evidenceOf(object, `all ${dropped.join(' and ')} of pods of the API server in ${name} is dropped`)];
  });
}

/** Undefined for a policy that the agents ignore for an invalid rule or selector. */
function inForce(object: KubeObject, profile: Profile): GlobalPolicy | undefined {
  try {
    return globalPolicyOf(object, profile);
  } catch {
    return undefined;
  }
}

function isOwned({ ownerReferences = [] }: KubeObject['metadata']): boolean {
  return ownerReferences.length > 0;
}
