import type { Context } from '../../kernel/context.ts';
import { allOf } from '../../kernel/each-of.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { leanHost } from '../../kube/lean-objects.ts';
import { nodeFacts } from '../../kube/pod-facts.ts';
import { endpointProfiles, serviceObjects, storedKind } from '../policies/index.ts';
import {
  afterRemoval,
  automaticSettings,
  endpointsWithoutNode,
  type FailsafePorts,
  failsafePorts,
  type HostEndpoint,
  hostEndpointOf,
} from '../policy-rules/index.ts';
import { findServiceCli } from '../service-cli/index.ts';
import { attempt, attemptWith, readInstalled } from '../survey/index.ts';
import { readResult, readTargetIfAny } from '../verify/index.ts';
import { type HepFacts, hostOf, readHosts } from './facts.ts';
import { keptOfMigration, removedLately } from './kept.ts';
import { envOf, readOverride } from './obstacles.ts';
import { judgeFleet } from './rules.ts';
import { versionsOf } from './successor-stands.ts';

/** Everything the migration to automatic host endpoints is evaluated and planned by (§4.7). */
export async function readHepFacts(sources: Sources, context: Context): Promise<HepFacts> {
  const { cluster } = sources;
  const { profile } = context;
  // Nodes are read whatever is found: the server is at work on them meanwhile.
  const [installation, nodes] = await Promise.all([
    readInstalled(sources, context),
    cluster.list(K.Node, { keep: leanHost(profile.apiGroup) }),
  ]);
  const cli = await findServiceCli(sources, context, installation.datastore);
  const objects = serviceObjects(sources, context, installation.datastore, cli);
  const { record, hosts, policies, networkPolicies, tiers, configurations, agentSettings, kinds, ...found } = await allOf({
    record: sources.records.load(),
    hosts: attempt(() => readHosts(nodes, objects, installation.datastore, context)),
    policies: objects('globalnetworkpolicies'),
    networkPolicies: attempt(() => objects('networkpolicies')),
    tiers: objects('tiers'),
    configurations: objects(profile.controllersConfiguration.plural),
    agentSettings: attempt(() => objects('felixconfigurations')),
    kinds: storedKinds(cluster, context, installation),
    kept: keptOfMigration(sources.records),
    stored: objects('hostendpoints'),
    controllers: readControllers(sources, context, installation),
    agents: readAgents(sources, installation),
    rollouts: readRollouts(sources, context, installation, nodes),
  });
  const { kept, stored, controllers, agents } = found;
  const { hostendpoints: kind, [profile.controllersConfiguration.plural]: settingsKind } = kinds;
  const override = await readOverride(cluster, controllers, profile.automaticEndpointsEnv);
  const failsafe = await attemptWith(agentSettings, async (some) => failsafeOf(agents, some, context));
  const ebpf = await attemptWith(agentSettings, async (some) => isEbpf(agents, some, context));
  // Where nobody can tell, too much counts rather than too little.
  const untracked = 'unread' in ebpf || ebpf.value;
  const configuration = configurations.find((one) => one.metadata.name === profile.controllersConfiguration.name);
  const settings = automaticSettings(configuration?.spec);
  const fleet = {
    nodes: 'value' in hosts ? hosts.value : nodes.map((node) => hostOf(node)),
    endpoints: endpointsOf({ stored }, context),
    settings,
    signs: profile.labels,
  };
  const { datastore } = installation;
  const removed = endpointsOf({ stored: removedLately({ kept, stored }, context.startedAt, isUnended(record, context)) }, context);
  const judged = await attemptWith(hosts, async () => {
    const profiles = await endpointProfiles({ cluster, objects, profile, datastore }, [...fleet.endpoints, ...removed]);
    return judgeFleet(fleet, { policies, tiers, profiles, untracked }, networkPolicies, context);
  });
  const after = await attemptWith(judged, async ({ world, hosts: evaluated }) => {
    // Where automatic endpoints are off, or one does not stand yet, they are switched on and waited for first.
    const waits = new Set(evaluated.filter(({ covered, uncovered }) => !covered && uncovered === undefined).map(({ node }) => node));
    const stands = removed.filter(({ node }) => !waits.has(node));
    return settings.autoCreate ? afterRemoval(stands, { ...fleet, world }) : [];
  });
  return {
    ...found,
    installation,
    cli,
    nodes,
    hosts: fleet.nodes.map(({ name }) => name),
    kind,
    settingsKind,
    settings,
    configuration,
    override,
    verdicts: 'unread' in judged ? judged : { value: judged.value.hosts },
    ruleChanges: 'unread' in judged ? judged : judged.value.policies,
    judgedBy: Object.entries({ globalnetworkpolicies: policies, tiers }).map(([plural, some]) => ({
      plural,
      ...(kinds[plural] ? { kind: kinds[plural] } : {}),
      versions: versionsOf(some),
    })),
    after,
    judgesEnd: removed.length > 0,
    elsewhere: endpointsWithoutNode(fleet),
    failsafe,
  };
}

/** Kinds by plural under which the API stores endpoints, the controllers' configuration, and what verdicts go by. */
async function storedKinds({ discover }: Sources['cluster'], { profile }: Context, { datastore }: Installation): Promise<Kinds> {
  if (datastore !== 'api') return {};
  const kinds = discover();
  const plurals = ['hostendpoints', 'globalnetworkpolicies', 'tiers', profile.controllersConfiguration.plural];
  return Object.fromEntries(
    await Promise.all(plurals.map(async (plural) => [plural, await storedKind(kinds, [profile.crdGroup], plural)])),
  );
}

type Kinds = Readonly<Record<string, Kind | undefined>>;

/** True if an earlier command did not finish this stage: it was stopped, or killed. This one is `running` itself once it acts. */
function isUnended(record: RunRecord | undefined, { startedAt }: Context): boolean {
  const stage = record?.stages.find(({ id }) => id === 'hep');
  if (stage?.state === 'running') return new Date(stage.startedAt) < startedAt;
  return stage?.state === 'failed' || stage?.state === 'interrupted';
}

/** Host endpoints as the policies see them. */
export function endpointsOf({ stored }: Pick<HepFacts, 'stored'>, { profile }: Context): readonly HostEndpoint[] {
  return stored.map((one) => hostEndpointOf(one, profile.apiGroup));
}

async function readControllers({ cluster }: Sources, { profile }: Context, { variant }: Installation): Promise<KubeObject | undefined> {
  const name = profile.variants.find(({ id }) => id === variant)?.controllers ?? profile.operator.controllers;
  return cluster.get(K.Deployment, name.name, name.namespace);
}

async function readAgents({ cluster }: Sources, { agent }: Installation): Promise<KubeObject | undefined> {
  return agent && cluster.get(K.DaemonSet, agent.name, agent.namespace);
}

async function readRollouts(
  sources: Sources,
  context: Context,
  installation: Installation,
  nodes: readonly KubeObject[],
): Promise<HepFacts['rollouts']> {
  const target = await attempt(() => readTargetIfAny(sources, context, installation));
  return attemptWith(target, (one) => readResult(sources, context, installation, one, nodes.map(nodeFacts)));
}

/** By the agents' variable, else by their configuration for all nodes or for one. */
function isEbpf(agents: KubeObject | undefined, configurations: readonly KubeObject[], context: Context): boolean {
  const variable = variableOf(agents, context, 'bpfEnabled');
  if (variable !== undefined) return variable.toLowerCase() === 'true';
  return configurations.some(({ spec }) => jsonAt(spec, 'bpfEnabled') === true);
}

/** The agents' variable of a setting: the same word in capitals. */
function variableOf(agents: KubeObject | undefined, { profile: { sidecar } }: Context, field: string): string | undefined {
  return envOf(agents, `${sidecar.syncEnv.slice(0, sidecar.syncEnv.indexOf('_') + 1)}${field.toUpperCase()}`);
}

/** From the agents' variables and their configuration, which is on top of the defaults. */
function failsafeOf(agents: KubeObject | undefined, configurations: readonly KubeObject[], context: Context): FailsafePorts | undefined {
  const [inbound, outbound] = ['failsafeInboundHostPorts', 'failsafeOutboundHostPorts'].map((field) => variableOf(agents, context, field));
  const configuration = configurations.find(({ metadata }) => metadata.name === 'default');
  return failsafePorts(configuration?.spec, { inbound, outbound }, context.profile.failsafePorts);
}
