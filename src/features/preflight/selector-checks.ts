import { type Command, command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { fitsNode } from '../../kube/node-fit.ts';
import { storedMetadata } from '../../kube/stored-metadata.ts';
import { givesAddresses } from '../ipam/index.ts';
import { globalPolicyOf, ruleSidesOf, storedSelector } from '../policy-rules/index.ts';
import { envOf, findWorkload, serviceWorkloads } from '../rollout/index.ts';
import {
  evidenceOf,
  failIfAny,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  specOf,
  table,
  withInstallation,
  withResources,
} from '../survey/index.ts';
import { isReflector, nodeLabels, peeringOf } from './bgp-peers.ts';
import { lostNames } from './lost-names.ts';
import { isWindows } from './nodes-checks.ts';
import { familyOf } from './pool-drift.ts';
import { faultOf, selectedBy } from './selected.ts';

/** A running pod stays where no node fits any more; the one that replaces it has nowhere to go. */
export const nodesForWorkloads: PreflightCheck = {
  id: 'NS-412',
  title: 'a node for each workload of the service',
  category: 'workloads',
  severity: 'error',
  ref: 'domain §12/37',
  judge: withInstallation((installation, facts): Verdict => {
    const nodes = read(facts.nodes);
    const own = new Set(installation.components.flatMap(({ workload }) => workload ?? []));
    const all = [...read(facts.daemonSets), ...read(facts.deployments)].filter((one) => own.has(refText(refOf(one))));
    const homeless = nodes.length === 0 ? [] : all.filter((one) => !nodes.some((node) => fitsNode(one, node)));
    const evidence = homeless.map((one) => evidenceOf(one, placeOf(one)));
    const [first] = homeless;
    return failIfAny(evidence, 'every workload of the service has a node that it may run on', (names) => ({
      because: `no node fits the selector, affinity and tolerations of ${names}: its running pods are replaced by pods that cannot be scheduled`,
      hint: 'Label a node as the workload wants it, or correct the workload before the upgrade. With an operator these are settings of the Installation, such as controlPlaneNodeSelector.',
      next: command`kubectl -n ${first?.metadata.namespace ?? ''} get ${first?.kind.toLowerCase() ?? ''} ${first?.metadata.name ?? ''} -o yaml`,
    }));
  }),
};

function placeOf(workload: KubeObject): string {
  const pod = jsonAt(workload.spec, 'template', 'spec');
  const [selector, affinity] = [jsonAt(pod, 'nodeSelector'), jsonAt(pod, 'affinity', 'nodeAffinity')];
  return `nodeSelector ${JSON.stringify(selector ?? {})}${affinity === undefined ? '' : `, nodeAffinity ${JSON.stringify(affinity)}`}`;
}

export const selectorChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'error', ref: 'domain §12' }, [
  {
    id: 'NS-509',
    title: 'every node has a BGP peer',
    judge: withResources((installation, facts, { profile }): Verdict => {
      const isMeshed =
        specOf(objectsOf(facts, 'bgpconfigurations').find(({ metadata }) => metadata.name === 'default')).nodeToNodeMeshEnabled !== false;
      const nodes = read(facts.nodes).filter((node) => !isWindows(node));
      const left = isMeshed ? nodes.filter((node) => isReflector(node, profile.apiGroup)) : nodes;
      if (left.length === 0) return ok('the agents of all nodes are peers of each other');
      if (!runsBgp(installation, facts, profile)) return notApplicable('the agents run no BGP');
      const routed = objectsOf(facts, 'ippools').some(({ spec }) => jsonAt(spec, 'disabled') !== true && isByBgp(spec));
      if (nodes.length < 2 || !routed) return ok('no routes of pods between nodes depend on BGP');
      const peering = peeringOf(objectsOf(facts, 'bgppeers'), nodes, profile.apiGroup);
      const alone = peering.alone.filter((node) => left.includes(node));
      const next = command`kubectl get bgppeers.${profile.crdGroup} -o yaml`;
      if (alone.length === 0 && !isMeshed) return judgeReflected(peering.unreflected, profile, next);
      const evidence = alone.length === 0 ? [] : [...peering.idle, ...alone.map((node) => evidenceOf(node, 'no BGPPeer selects it'))];
      return failIfAny(evidence, 'every node has a BGP peer', (names) => ({
        because: `${isMeshed ? `the mesh leaves route reflectors out, and ${counted(alone.length, 'route reflector')}` : `the mesh is off, and ${counted(alone.length, 'node')}`} without any BGP peer: pods there lose their routes at the latest when the agent restarts. ${names}`,
        hint: 'Correct the selectors of the BGPPeers, label the nodes as they want it, or switch the mesh on, before the upgrade. If routes come another way, accept it.',
        next,
      }));
    }),
  },
  {
    id: 'NS-510',
    title: 'selectors select something',
    severity: 'warning',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      const { unread, stopsAll } = unreadable(facts, profile);
      const evidence = [...unread, ...withoutHost(facts, profile), ...withoutPool(facts, profile), ...lostNames(facts)];
      const [object] = evidence.flatMap((one) => one.object ?? []);
      return failIfAny(evidence, 'every selector can be read, and each rule for hosts and each node has what it needs', (names) => ({
        because: `${counted(evidence.length, 'object')} whose selectors or names select nothing: ${names}`,
        hint: 'Correct the selector or name, or delete what nobody needs. A policy that cannot be read protects nothing, before the upgrade and after it.',
        severity: stopsAll ? 'error' : 'warning',
        next: command`kubectl get ${object?.kind.toLowerCase() ?? ''}${object?.apiVersion.includes('/') ? `.${profile.crdGroup}` : ''} ${[object?.name ?? '', ...(object?.namespace ? ['-n', object.namespace] : [])]} -o yaml`,
      }));
    }),
  },
]);

function judgeReflected(nodes: readonly KubeObject[], { apiGroup }: Profile, next: Command): Verdict {
  const evidence = nodes.map((node) => evidenceOf(node, 'none of its peers is a route reflector'));
  return failIfAny(evidence, 'the mesh is off, and every node has a BGP peer', (names) => ({
    because: `the mesh is off, and ${counted(nodes.length, 'node')} whose peers are other nodes without a cluster ID: these pass no routes on, and pods of different nodes do not reach each other. ${names}`,
    hint: `Give the nodes that shall reflect routes their cluster ID (annotation ${apiGroup}/RouteReflectorClusterID), or make every node a peer of every other, before the upgrade. If routes come another way, accept it.`,
    next,
    severity: 'warning',
  }));
}

/** By the agents' variable, or the key of their ConfigMap that it is taken from. */
function runsBgp(installation: Installation, facts: PreflightFacts, profile: Profile): boolean {
  const agent = serviceWorkloads(installation, profile)?.agent;
  const set = agent && envOf(findWorkload(read(facts.daemonSets), agent), agent.container, 'CALICO_NETWORKING_BACKEND');
  return (set ?? textAt(read(facts.agentConfig), 'data', 'calico_backend') ?? 'bird') === 'bird';
}

/** The agents themselves set the routes of VXLAN, and where it is for other subnets only those within a subnet. */
function isByBgp(spec: unknown): boolean {
  return ['Never', ''].includes(textAt(spec, 'vxlanMode') ?? '');
}

const PLAIN: Readonly<Record<string, readonly string[]>> = {
  bgppeers: ['nodeSelector', 'peerSelector', 'localWorkloadSelector'],
  ippools: ['nodeSelector', 'namespaceSelector'],
};
/** The service evaluates all enabled pools for a pod, and ends at the first that it cannot read (`determinePools`). */
const NO_ADDRESSES = 'no pod gets an address that names no pool';
const POLICIES = ['globalnetworkpolicies', 'networkpolicies', 'stagedglobalnetworkpolicies', 'stagednetworkpolicies'];

/** Objects whose selectors cannot be read, and whether one of them leaves all new pods without an address. */
function unreadable(facts: PreflightFacts, profile: Profile): { readonly unread: readonly Evidence[]; readonly stopsAll: boolean } {
  const plain = Object.entries(PLAIN).flatMap(([plural, fields]) =>
    objectsOf(facts, plural).flatMap((object) =>
      fields.flatMap((field) => {
        const text = textAt(object.spec, field);
        const found = text === undefined ? [] : told(object, () => storedSelector(object, field, text));
        const stops = plural === 'ippools' && isForPods(object);
        return found.map((one) => ({ stops, one: stops ? { ...one, detail: `${one.detail}: ${NO_ADDRESSES}` } : one }));
      }),
    ),
  );
  const policies = POLICIES.flatMap((plural) => objectsOf(facts, plural)).flatMap((object) =>
    told(object, () => [globalPolicyOf(object, profile), ruleSidesOf(object, profile)]),
  );
  return { unread: [...plain.map(({ one }) => one), ...policies], stopsAll: plain.some(({ stops }) => stops) };
}

function told(object: KubeObject, reading: () => unknown): readonly Evidence[] {
  const fault = faultOf(reading);
  return fault?.of === 'selector' ? [evidenceOf(object, fault.says)] : [];
}

/** Policies before DNAT or connection tracking are for host endpoints alone. */
function withoutHost(facts: PreflightFacts, profile: Profile): readonly Evidence[] {
  const hosts = objectsOf(facts, 'hostendpoints').map((one) => storedMetadata(one, profile.apiGroup).labels);
  return objectsOf(facts, 'globalnetworkpolicies').flatMap((object) => {
    const { preDNAT, doNotTrack, selector } = specOf(object);
    if ((preDNAT !== true && doNotTrack !== true) || faultOf(() => globalPolicyOf(object, profile)) !== undefined) return [];
    const { selects } = globalPolicyOf(object, profile);
    return hosts.some(selects) ? [] : [evidenceOf(object, `selector ${String(selector ?? 'all()')} selects no host endpoint`)];
  });
}

/** Where the service gives the addresses, new pods of a node that no pool selects get none. `!all()` keeps a pool for those who name it. */
function withoutPool(facts: PreflightFacts, profile: Profile): readonly Evidence[] {
  const { operated, agentConfig } = facts;
  const config = operated ? undefined : read(agentConfig);
  if (!givesAddresses(operated && read(operated.installation), config, profile)) return [];
  const all = objectsOf(facts, 'ippools');
  const pools = all.filter((pool) => isForPods(pool) && textAt(pool.spec, 'nodeSelector') !== '!all()');
  const nodes = read(facts.nodes).filter((node) => !isWindows(node));
  return ['IPv4', 'IPv6'].flatMap((family) => {
    const own = pools.filter(({ spec }) => familyOf(spec) === family);
    if (!isAsked(family, config)) return [];
    if (own.length === 0) return config ? allOff(all, family) : [];
    const served = new Set(
      own.flatMap(
        (pool) =>
          selectedBy(pool, 'nodeSelector', textAt(pool.spec, 'nodeSelector') ?? '', nodes, (node) => nodeLabels(node, profile.apiGroup))
            .selected,
      ),
    );
    const left = nodes.filter((node) => !served.has(node));
    return left.map((node) => evidenceOf(node, `no enabled ${family} pool for pods selects it: new pods there get no address`));
  });
}

/** Pools that no pod may name either; none where one is left that it may. */
function allOff(all: readonly KubeObject[], family: string): readonly Evidence[] {
  const own = all.filter((pool) => !isForOthers(pool) && familyOf(pool.spec) === family);
  const isOff = ({ spec }: KubeObject) => jsonAt(spec, 'disabled') === true;
  return own.every(isOff) ? own.map((pool) => evidenceOf(pool, `is disabled, as all ${family} pools are: new pods get no address`)) : [];
}

/** Its addresses are none for pods: those of tunnels, or of services. */
function isForOthers({ spec }: KubeObject): boolean {
  const uses = jsonAt(spec, 'allowedUses');
  return Array.isArray(uses) && uses.length > 0 && !uses.includes('Workload');
}

/** A pool from which pods get addresses without naming it. */
function isForPods(pool: KubeObject): boolean {
  const { spec } = pool;
  return !isForOthers(pool) && jsonAt(spec, 'disabled') !== true && jsonAt(spec, 'assignmentMode') !== 'Manual';
}

/** The plugin asks for one address of each family, and fails if it does not get it. An operator asks for the families that have pools. */
function isAsked(family: string, config: KubeObject | undefined): boolean {
  const key = `assign_${family.toLowerCase()}`;
  const said = new RegExp(`"${key}"\\s*:\\s*"?(true|false)`).exec(textAt(config, 'data', 'cni_network_config') ?? '')?.[1];
  return config === undefined || (said ?? String(family === 'IPv4')) === 'true';
}
