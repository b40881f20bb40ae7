import { read } from '../../kernel/check.ts';
import type { DefectCondition } from '../../kernel/defect.ts';
import { isWithin } from '../../kernel/ip-text.ts';
import { jsonAt, mapAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { compareVersions, isOlder, parseRelease, releaseTag } from '../../kernel/release.ts';
import { internalAddresses } from '../../kube/lean-objects.ts';
import { agentSettings, ebpfNodes, findWorkload, serviceWorkloads } from '../rollout/index.ts';
import { allContainersOf, objectsOf, type PreflightFacts, passes, sourceRelease, specOf, valuesAt } from '../survey/index.ts';
import { isOuter, ownAs } from './bgp-peers.ts';
import { isInRange } from './defect-lines.ts';
import type { DefectWorld, Seen } from './defect-world.ts';
import { operatorConditions } from './operator-conditions.ts';

/** What the condition is seen on, in words; undefined where it does not hold. Facts that could not be read make the check fail. */
export function seenOn(condition: DefectCondition, world: DefectWorld): readonly string[] | undefined {
  return (SEEN[condition.type] as Seen<DefectCondition>)(condition, world);
}

const SEEN: { readonly [T in DefectCondition['type']]: Seen<Extract<DefectCondition, { type: T }>> } = {
  resource: (condition, { facts }) => {
    const all = condition.plurals.flatMap((plural) => objectsOf(facts, plural));
    const hasOne = (object: KubeObject) =>
      condition.fields.some((field) => passes(valuesAt(specOf(object), field.split('.')).map(String), condition));
    return some(all.filter(hasOne).map(textOf));
  },
  setting: (condition, { facts, installation, context }) => {
    const all = agentSettings(facts, installation, context.profile, condition.name);
    const hits = all.filter(({ value }) => passes(valuesAt(value, []).map(String), condition));
    return some(
      hits.map(({ value, node }) => `${condition.name} ${String(value ?? 'is not set')}${node === undefined ? '' : ` of Node/${node}`}`),
    );
  },
  node: (condition, { facts }) => some(read(facts.nodes).flatMap((node) => nodeWith(node, condition))),
  nodeLabel: ({ key }, { facts }) =>
    some(
      read(facts.nodes)
        .filter(({ metadata }) => metadata.labels?.[key] !== undefined)
        .map(textOf),
    ),
  ebpf: (_condition, world) => ebpfOn(world),
  outerPeer: ({ sameAs }, { facts, context: { profile } }) => {
    const nodes = read(facts.nodes);
    const peers = objectsOf(facts, 'bgppeers').filter((peer) => isOuter(peer, nodes));
    const settings = objectsOf(facts, 'bgpconfigurations').find(({ metadata }) => metadata.name === 'default');
    const own = new Set([String(specOf(settings).asNumber ?? sameAs), ...nodes.flatMap((node) => ownAs(node, profile.apiGroup) ?? [])]);
    return some(peers.filter((peer) => sameAs === undefined || own.has(String(specOf(peer).asNumber))).map(textOf));
  },
  nodeInPool: (_condition, { facts }) => some(nodesInPools(facts)),
  packetFilter: ({ oneOf }, world) => (packetFiltersOf(world).some((one) => oneOf.includes(one)) ? [] : undefined),
  hostProgram: (condition, { facts }) =>
    some([...read(facts.daemonSets), ...read(facts.deployments)].filter((one) => isHostProgram(one, condition)).map(textOf)),
  daemonSet: ({ namespace, name }, { facts }) =>
    some(
      read(facts.daemonSets)
        .filter(({ metadata, status }) => metadata.namespace === namespace && metadata.name === name && podsOf(status) > 0)
        .map(textOf),
    ),
  cniConfig: ({ matches }, { facts }) =>
    some(
      read(facts.configMaps)
        .filter((map) => new RegExp(matches).test(String(jsonAt(map, 'data', 'cni_network_config') ?? '')))
        .map(textOf),
    ),
  agentFile: (condition, world) => some(filesOfAgents(condition, world)),
  crd: ({ name }, { facts }) => some(crdsNamed(name, facts)),
  path: ({ oneOf }, { installation }) => (oneOf.includes(installation.path) ? [] : undefined),
  // An unknown release may be one of them.
  upgradeFrom: ({ releases }, { facts, installation, context }) => {
    const source = parseRelease(sourceRelease(installation, facts, context) ?? '');
    return !source || releases.some((range) => isInRange(releaseTag(source), range)) ? [] : undefined;
  },
  apiService: ({ name }, { facts }) =>
    some(
      read(facts.apiServices)
        .filter(({ metadata }) => metadata.name === name)
        .map(textOf),
    ),
  ...operatorConditions,
};

/** A file whose ConfigMap was not read may have it. */
function filesOfAgents({ below, matches }: Extract<DefectCondition, { type: 'agentFile' }>, { facts, installation, context }: DefectWorld) {
  const agent = serviceWorkloads(installation, context.profile)?.agent;
  const live = agent && findWorkload(read(facts.daemonSets), agent);
  if (!live) return [];
  const mounted = allContainersOf(live).flatMap(({ volumeMounts = [] }) =>
    volumeMounts.filter(({ mountPath }) => mountPath.startsWith(below)),
  );
  const volumes = valuesAt(jsonAt(live.spec, 'template', 'spec', 'volumes'), []);
  const names = new Set(
    volumes
      .filter((one) => mounted.some(({ name }) => name === textAt(one, 'name')))
      .flatMap((one) => textAt(one, 'configMap', 'name') ?? []),
  );
  return [...names].flatMap((name) => {
    const map = read(facts.configMaps).find(({ metadata }) => metadata.name === name && metadata.namespace === live.metadata.namespace);
    const texts = Object.values(mapAt(map, 'data')).map(String);
    return map && !texts.some((text) => new RegExp(matches).test(text)) ? [] : [`ConfigMap/${live.metadata.namespace}/${name}`];
  });
}

function podsOf(status: unknown): number {
  return Number(jsonAt(status, 'desiredNumberScheduled') ?? 0);
}

/** A CRD created by an unfinished run shows nothing of the state before the upgrade. */
function crdsNamed(name: string, { crds, record }: PreflightFacts): readonly string[] {
  const run = read(record);
  // Servers tell the second alone in which something was created.
  const since = run && run.finishedAt === undefined ? Math.floor(Date.parse(run.startedAt) / 1000) * 1000 : Number.POSITIVE_INFINITY;
  const isOlder = (createdAt: string | undefined) => createdAt === undefined || Date.parse(createdAt) < since;
  return read(crds).some((crd) => crd.name === name && isOlder(crd.createdAt)) ? [`CustomResourceDefinition/${name}`] : [];
}

function some(texts: readonly string[]): readonly string[] | undefined {
  return texts.length > 0 ? texts : undefined;
}

function textOf(object: KubeObject): string {
  return refText(refOf(object));
}

function nodeWith(
  node: KubeObject,
  { field, startsWith, matches, unlike, from, before }: Extract<DefectCondition, { type: 'node' }>,
): readonly string[] {
  const value = String(jsonAt(node.status, 'nodeInfo', field) ?? '');
  const prefix = startsWith?.find((one) => value.startsWith(one));
  if (value === '' || (startsWith && prefix === undefined)) return [];
  if (matches !== undefined && !new RegExp(matches, 'i').test(value)) return [];
  if (unlike !== undefined && new RegExp(unlike, 'i').test(value)) return [];
  const version = /\d.*/.exec(value.slice(prefix?.length ?? 0))?.[0];
  if (version === undefined && (from || before)) return [];
  const isOutside = (from && compareVersions(version ?? '', from) < 0) || (before && compareVersions(version ?? '', before) >= 0);
  return isOutside ? [] : [`${textOf(node)} ${value}`];
}

function nodesInPools(facts: PreflightFacts): readonly string[] {
  const pools = objectsOf(facts, 'ippools').map((pool) => ({ name: textOf(pool), cidr: String(specOf(pool).cidr ?? '') }));
  return read(facts.nodes).flatMap((node) => {
    return internalAddresses(node).flatMap((address) => {
      const pool = pools.find(({ cidr }) => isWithin(address, cidr));
      return pool ? [`${textOf(node)} ${address} in ${pool.name} ${pool.cidr}`] : [];
    });
  });
}

type HostProgram = Extract<DefectCondition, { type: 'hostProgram' }>;

function isHostProgram(workload: KubeObject, { images, ports = [] }: HostProgram): boolean {
  if (jsonAt(workload.spec, 'template', 'spec', 'hostNetwork') !== true) return false;
  return allContainersOf(workload).some(({ image = '', ...container }) => {
    const opened = valuesAt(jsonAt(container, 'ports'), []).map(
      (port) => `${jsonAt(port, 'protocol') ?? 'TCP'}:${jsonAt(port, 'containerPort')}`,
    );
    return images.some((part) => image.includes(part)) || opened.some((port) => ports.includes(port));
  });
}

/** By the agents' setting, or by the operator, which writes it. */
function ebpfOn({ facts, installation, context: { profile } }: DefectWorld): readonly string[] | undefined {
  const { crossings } = profile.operator;
  const operated = facts.operated && read(facts.operated.installation);
  if (crossings && operated && jsonAt(specOf(operated), ...crossings.dataPlane.field) === crossings.dataPlane.bpf.value) return [];
  const nodes = ebpfNodes(facts, installation, profile);
  return nodes === 'all' ? [] : some(nodes.map((node) => `Node/${node}`));
}

/** As the target will choose it: an operator by its Installation, else the agents by their mode, which follows kube-proxy if it is Auto. */
function packetFiltersOf({ facts, installation, context: { profile, goal } }: DefectWorld): readonly ('iptables' | 'nftables')[] {
  const { crossings } = profile.operator;
  const operated = facts.operated && read(facts.operated.installation);
  if (crossings && operated) {
    const { field, nftables, nftablesFollowsProxySince } = crossings.dataPlane;
    const isAsked = jsonAt(specOf(operated), ...field) === nftables;
    const mode = read(facts.proxyMode);
    // Where it is not known how kube-proxy is started, the agents most likely stay at what they use.
    const isOn = isAsked && (isOlder(goal.release, nftablesFollowsProxySince) || mode === undefined || mode === 'nftables');
    return [isOn ? 'nftables' : 'iptables'];
  }
  return agentSettings(facts, installation, profile, 'nftablesMode').map(({ value }) => {
    const isOn = value === undefined || value === 'Auto' ? read(facts.proxyMode) === 'nftables' : value === 'Enabled';
    return isOn ? 'nftables' : 'iptables';
  });
}
