import { type Reading, read } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { allOf } from '../../kernel/each-of.ts';
import { type Detection, isKeyValue } from '../../kernel/installation.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { oneLook } from '../../kernel/one-look.ts';
import type { Sources } from '../../kernel/ports.ts';
import { stage } from '../../kernel/stage.ts';
import { isStillHeld, readOwnStrategies } from '../canary/index.ts';
import { readChartAhead } from '../install-chart/index.ts';
import { givesAddresses, readIpam } from '../ipam/index.ts';
import { changesUids, type OwnersJudged, readReferences, sourceOf, wayOf, withRights } from '../ownerrefs/index.ts';
import { temporaryPolicies } from '../policies/index.ts';
import { type Needs, needs } from '../rights/index.ts';
import { askBehindCli } from '../service-cli/index.ts';
import { mayBeMeshed } from '../sidecars/index.ts';
import {
  attempt,
  attemptWith,
  detectReading,
  installationIn,
  LeftOut,
  objectsOf,
  type PreflightFacts,
  readAgentConfig,
  readInventory,
  readOperated,
  readResources,
  replacesApi,
  type StoredBehindCli,
  specOf,
  withStoredVersions,
} from '../survey/index.ts';
import { readAccess } from './access.ts';
import { preflightChecks, type WholePreflight } from './catalogue.ts';
import { readOperatedPods } from './pod-webhooks.ts';
import { readingOnly } from './reading-only.ts';
import { type Begun, beginReadings, readingNeeds } from './readings.ts';
import { readAhead, readTargetFor } from './target.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** A preflight that asks for nothing but reading, and for no Secret. */
    readonly readOnly?: boolean;
  }
}

/** What is installed and whether it can be upgraded (§1, 7, 9): reads everything at once, changes nothing. `ofRun`: what a run asks of the account. */
export const preflightStage = (ofRun: () => readonly Needs[]) =>
  stage<WholePreflight>({
    id: 'preflight',
    title: 'Find out what is installed and whether it can be upgraded',
    ref: '§1/2',
    readOnly: true,
    needs: [
      needs.detection,
      needs.stateRead,
      needs.storedResources,
      needs.removedKinds,
      needs.ownerSearch,
      needs.documents,
      needs.podDryRuns,
      needs.chartRead,
      needs.crossings,
      ...readingNeeds,
    ],
    checks: preflightChecks,
    survey: (sources, context) => surveyPreflight(sources, context, ofRun()),
    plan: () => ({ actions: [] }),
  });

/** Every reading of the preflight, each once and begun as soon as what it depends on is known: the target depends on what is installed. */
export async function surveyPreflight(ports: Sources, context: Context, ofRun: readonly Needs[]): Promise<WholePreflight> {
  const asked = context.options.readOnly ? readingOnly(ports) : ports;
  const sources = { ...asked, cluster: oneLook(asked.cluster) };
  const begun = beginReadings(sources, context);
  const resources = begun.discovery.then((kinds) => readResources(sources.cluster, kinds, context.profile));
  const [readings, upgrade] = await Promise.all([allOf(begun), readUpgrade(sources, context, { begun, resources, ofRun })]);
  return { ...readings, ...upgrade, now: sources.clock.now().getTime() };
}

/** What is being read. */
interface OnTheWay {
  readonly begun: Begun;
  readonly resources: Promise<PreflightFacts['resources']>;
}

/** What is installed, what becomes of it, and what this account may do to it. */
async function readUpgrade(
  sources: Sources,
  context: Context,
  { begun, resources, ofRun }: OnTheWay & { readonly ofRun: readonly Needs[] },
) {
  const { cluster } = sources;
  const [{ detection, ...installed }, record] = await Promise.all([
    readInstallation(sources, context),
    attempt(() => sources.records.load()),
  ]);
  // Without the record the target is evaluated as for a new run; NS-012 says that the record was left out.
  const isLeftOut = 'unread' in record && record.leftOut === true;
  const ofTarget = isLeftOut
    ? readTargetFor({ ...sources, records: { ...sources.records, load: async () => undefined } }, context, detection, { value: undefined })
    : readTargetFor(sources, context, detection, record);
  const ofChart = readChartAhead(sources, context, detection);
  const mayDo = async () => {
    const { pods, injectors, discovery } = begun;
    const [target, chart, around] = await Promise.all([ofTarget, ofChart, allOf({ pods, injectors, discovery })]);
    const more = { meshed: mayBeMeshed(around, context), discovery: around.discovery, chart, ofRun };
    return readAccess(cluster, context, detection, target, more);
  };
  const agentConfig = attempt(() => readAgentConfig(cluster, context.profile, installationIn(detection)?.variant));
  const found = await allOf({
    target: ofTarget.then(({ facts }) => facts),
    preview: ofTarget.then(({ previews }) =>
      attemptWith(previews, async (all) =>
        all.map(({ planned, isImmutable }) => ({ ...planned, ...(isImmutable ? { isImmutable } : {}) })),
      ),
    ),
    ahead: ofTarget.then((target) => readAhead(sources, context, detection, target, record)),
    access: mayDo(),
    crds: attemptWith(installed.crds, (all) => withStoredVersions(cluster, all, context.profile)),
    chart: ofChart.then((ahead) => attemptWith(ahead, async (one) => one?.findings)),
    rendered: ofChart.then((ahead) => attemptWith(ahead, async (one) => one?.work?.written ?? [])),
    stillHeld: attemptWith(installed.daemonSets, async (live) => {
      const own = await readOwnStrategies(sources.records, 'value' in record ? record.value : undefined, context, live);
      return live.filter((one) => isStillHeld(one, own)).map((one) => refText(refOf(one)));
    }),
    owners: attempt(() => judgeOwners(sources, context, detection, record)),
    resources,
    agentConfig,
    operated: readOperated(cluster, context, detection),
    inStore: attemptWith(detection, (one) => readBehindCli(sources, context, one)),
    ipam: readAddresses(cluster, context, { detection, agentConfig, begun, resources }),
    operatedPods: attempt(() => readOperatedPods(cluster, context, { detection, ...installed })),
  });
  return { ...installed, detection, record, ...found };
}

async function readInstallation(sources: Sources, { profile, options }: Context) {
  const inventory = await readInventory(sources, profile);
  const { daemonSets, deployments, crds, configMaps } = inventory;
  return { detection: detectReading(inventory, profile, options), daemonSets, deployments, crds, configMaps };
}

interface Addressed extends OnTheWay {
  readonly detection: Reading<Detection>;
  readonly agentConfig: Promise<Reading<KubeObject | undefined>>;
}

/** Asked only where the service gives the addresses; nodes and pods are those that everything else is evaluated by. */
async function readAddresses(
  cluster: Sources['cluster'],
  context: Context,
  { detection, agentConfig, begun, resources: listed }: Addressed,
) {
  const installation = installationIn(detection);
  if (!installation) return { value: undefined };
  return attemptWith(await agentConfig, async (config) => {
    if (!givesAddresses(installation.input?.resource, config, context.profile)) return undefined;
    return readIpam(cluster, context, installation, async () => {
      const { nodes, pods, resources } = await allOf({ nodes: begun.nodes, pods: begun.pods, resources: listed });
      const named = read(pods).map((one) => ({ pod: `${one.namespace}/${one.name}`, addresses: one.addresses ?? [] }));
      const pools = objectsOf({ resources }, 'ippools').map((pool) => String(specOf(pool).cidr ?? ''));
      return { nodes: read(nodes), pods: new Set(named.map(({ pod }) => pod)), addressed: { pods: named, pools } };
    });
  });
}

/** The whole cluster is searched for owner references only where the upgrade changes UIDs. */
async function judgeOwners(
  { cluster }: Sources,
  context: Context,
  detection: Reading<Detection>,
  record: PreflightFacts['record'],
): Promise<OwnersJudged> {
  const installation = installationIn(detection);
  const known = 'value' in record ? record.value : undefined;
  const source = installation && sourceOf(installation, known, context);
  if (!installation || !changesUids(source, context)) return { references: undefined, recorded: [] };
  if (context.options.readOnly) throw new LeftOut('any object may be owned by the service, Secrets too, and all would have to be listed');
  const references = await readReferences(cluster, context, wayOf(known, installation, context));
  return withRights(cluster, { references, recorded: [], apiReplaced: replacesApi(known, context) });
}

/** What only the CLI sees of a key-value store; undefined with any other. Throws Fault `failed` if no CLI can be asked. */
export async function readBehindCli(sources: Sources, context: Context, detection: Detection): Promise<StoredBehindCli | undefined> {
  if (detection.type !== 'found' || !isKeyValue(detection.installation)) return undefined;
  const { release } = detection.installation;
  // Of the installed release; of the target's once the upgrade is done.
  const { list } = await askBehindCli(sources, context, [...(release === undefined ? [] : [release]), context.goal.release]);
  const [policies = [], agentConfigurations = [], clusterInformation = []] = await Promise.all(
    ['globalnetworkpolicies', 'felixconfigurations', context.profile.clusterInformation.plural].map(list),
  );
  return { temporaryPolicies: temporaryPolicies(policies, context.profile), agentConfigurations, clusterInformation };
}
