import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { contains, type JsonMap } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ChartNames } from '../../kernel/operator-names.ts';
import type { Sources } from '../../kernel/ports.ts';
import {
  type ChartPlace,
  changes,
  chartValue,
  deniedAdditions,
  forgottenValues,
  givesReplica,
  type HelmAnswer,
  type HelmUpgrade,
  type HelmVersion,
  keepsValues,
  leafNames,
  overlaid,
  pinsOf,
  readCrdFacts,
  type Setting,
  settingsFor,
  settingValues,
  stoppedOperator,
} from '../install-manifest/index.ts';
import { type ChartFacts, type ChartJudged, type Misplaced, type StoredRelease, takeoverOf } from './chart-facts.ts';
import { readConflicts } from './conflicts.ts';
import { isPending } from './helm-record.ts';
import { type MoveTried, misplacedIn, readOldRecords, tryMove } from './move.ts';
import { readStoredRelease, recordIn } from './release.ts';
import { readForeignCrds, readLostCrds, readLostData, renderedChart } from './rendered.ts';
import { type FetchedChart, fetchedTarget, type ReadChart, readChart, readHelmVersion, readValuesFile, tryUpgrade } from './source.ts';

/** File of the release's own values (0600), for a chart tool that cannot take them from the release. */
const VALUES_FILE = 'chart-values.json';

/** What a chart upgrade is evaluated and planned by (§4.2). `answer`: the dry run is asked for now, or may be an earlier one. */
export async function readChartFacts(
  sources: Sources,
  context: Context,
  installation: Installation,
  answer: HelmAnswer,
): Promise<ChartFacts> {
  const fetched = await fetchedTarget(sources, context);
  const [stored, helm, target, file, crds, record] = await Promise.all([
    readStoredRelease(sources.cluster, installation),
    readHelmVersion(sources.tools),
    'unread' in fetched ? fetched : readChart(sources.tools, fetched.value),
    readValuesFile(sources, context),
    context.options.manageCrds ? undefined : readCrdFacts(sources, context),
    sources.records.load(),
  ]);
  refuseDenial(context, file);
  const place = await readPlace(sources, context, stored, installation);
  const { misplaced, moveTo } = place;
  const now = sources.clock.now();
  const takeover = 'value' in stored ? takeoverOf(stored.value, { run: record, oldRecords: place.oldRecords, now }, context) : undefined;
  const known = knownOf(context, { stored, helm, target, fetched }, file);
  const upgrade = known && (await upgradeOf(sources, context, known, moveTo));
  const upgraded = known !== undefined && isUpgraded(known, context);
  const question = { upgrade, known, upgraded, misplaced, crdsPending: crds !== undefined && changes(crds), answer };
  const { trial, patches: adoption } = await trialOf(sources, question);
  const documents = 'value' in trial && trial.value.type === 'accepted' ? trial.value.documents : undefined;
  const rendered = () => renderedChart(sources, { trial, upgrade, stored, target, helm });
  const removals = misplaced || upgraded ? NO_REMOVALS : await readRemovals(sources, context, { stored, documents, rendered });
  const defaults = 'value' in stored ? stored.value.base.defaults : undefined;
  return {
    ...{
      installation,
      stored,
      helm,
      target,
      upgraded,
      trial,
      record,
      crds,
      upgrade,
      misplaced,
      adoption,
      takeover,
      named: installation.chart?.named,
      oldRecords: place.oldRecords,
    },
    ...removals,
    conflicts: documents && 'value' in stored ? await readConflicts(sources.cluster, documents, stored.value, moveTo) : undefined,
    pins: known ? pinsOf(known) : [],
    managesCrds: { installed: knows(defaults, context), target: knows(known?.defaults, context) },
    atZero: documents && !givesReplica(documents, installation) ? await stoppedOperator(sources.cluster, installation) : [],
    foreignCrds: await readForeignCrds(sources.cluster, context.profile, installation.chart),
    losesCsi: installation.hasCsiDriver && known !== undefined && losesCsi(known, moveTo),
    forgottenValues: known && defaults ? unsaid(forgottenValues(known.own, defaults, known.defaults), known.file) : [],
  };
}

/** A forgotten value that the user's file sets in its new place is not reported. */
function unsaid(forgotten: readonly string[], file: JsonMap): readonly string[] {
  const said = new Set(leafNames(file));
  return forgotten.filter((path) => !said.has(path.slice(path.lastIndexOf('.') + 1)));
}

interface Place extends Pick<ChartJudged, 'misplaced' | 'oldRecords'> {
  /** Namespace that the release is moved to. */
  readonly moveTo?: string;
}

/** Whether the release is where its operator is, and what a move has left. */
async function readPlace(
  { cluster }: Sources,
  context: Context,
  stored: Reading<StoredRelease>,
  installation: Installation,
): Promise<Place> {
  if ('unread' in stored) return { misplaced: undefined, oldRecords: [] };
  const misplaced = misplacedIn(stored.value, installation, context);
  if (!misplaced) return { misplaced, oldRecords: await readOldRecords(cluster, stored.value, recordIn(cluster)) };
  const moves = context.options.moveRelease && misplaced.holdsOperator;
  return { misplaced, oldRecords: [], ...(moves ? { moveTo: misplaced.to } : {}) };
}

const NO_REMOVALS: Pick<ChartJudged, 'lostCrds' | 'lostData'> = { lostCrds: [], lostData: { value: [] } };

interface Removing {
  readonly stored: Reading<StoredRelease>;
  readonly documents: readonly KubeObject[] | undefined;
  readonly rendered: () => Promise<readonly KubeObject[]>;
}

/** What helm would delete with its content. */
async function readRemovals(
  { cluster }: Sources,
  context: Context,
  { stored, documents, rendered }: Removing,
): Promise<typeof NO_REMOVALS> {
  if ('unread' in stored) return NO_REMOVALS;
  const { base } = stored.value;
  return {
    lostCrds: await readLostCrds(cluster, base, documents ?? []),
    lostData: await readLostData(cluster, context, base, rendered),
  };
}

/** `--enable-flow-logs` beside a file of values that says the opposite: which of the two is meant only the user can say. */
function refuseDenial({ profile, options }: Context, file: JsonMap): void {
  const names = profile.operator.chartNames;
  const denied = options.enableFlowLogs && names ? deniedAdditions(names, file) : [];
  if (denied.length === 0) return;
  throw new Fault('usage', `--enable-flow-logs asks for what --values ${options.chartValues} switches off: ${denied.join(', ')}`, [
    'leave the flag out, or these values',
  ]);
}

/** As on the operator's path: a requested part that is not available is refused, not ignored. */
function refuseUnknown({ enableFlowLogs, release }: Context['options'], { additions }: ChartNames, defaults: JsonMap): void {
  if (!enableFlowLogs || additions.some(({ value }) => chartValue(defaults, value) !== undefined)) return;
  const kinds = additions.map(({ kind }) => kind).join(', ');
  throw new Fault('usage', `--enable-flow-logs: the chart of ${release} has no ${kinds || 'flow logs'}`, ['leave the flag out']);
}

interface Known {
  readonly names: NonNullable<Context['profile']['operator']['chartNames']>;
  readonly stored: StoredRelease;
  readonly helm: HelmVersion;
  readonly target: ReadChart;
  readonly place: ChartPlace;
  /** Values of the file alone, and of the release with those over them. */
  readonly file: JsonMap;
  readonly own: JsonMap;
  readonly defaults: JsonMap;
  readonly settings: readonly Setting[];
  /** As they were read. */
  readonly read: Pick<Readings, 'target' | 'helm'>;
}

interface Readings {
  readonly stored: Reading<StoredRelease>;
  readonly helm: Reading<HelmVersion>;
  readonly target: Reading<ReadChart>;
  readonly fetched: Reading<FetchedChart>;
}

function knownOf({ profile, options }: Context, { stored, helm, target, fetched }: Readings, file: JsonMap): Known | undefined {
  const names = profile.operator.chartNames;
  if (!names || 'unread' in stored || 'unread' in helm || 'unread' in target || 'unread' in fetched) return undefined;
  const { record, base } = stored.value;
  const own = overlaid(base.values, file);
  const { defaults } = target.value;
  refuseUnknown(options, names, defaults);
  const settings = settingsFor({
    names,
    manifests: [record.manifest, base.manifest],
    own,
    defaults,
    manageCrds: options.manageCrds === true,
    flowLogs: options.enableFlowLogs === true,
  });
  const values = { file, own, defaults, settings };
  return {
    names,
    stored: stored.value,
    helm: helm.value,
    target: target.value,
    place: fetched.value.place,
    read: { target, helm },
    ...values,
  };
}

async function upgradeOf({ work }: Sources, { options }: Context, known: Known, moveTo: string | undefined): Promise<HelmUpgrade> {
  const { record, base, storage } = known.stored;
  const isSaved = moveTo !== undefined || !keepsValues(known.helm);
  const savedValues = isSaved ? await work.write(VALUES_FILE, JSON.stringify(base.values)) : undefined;
  const namespace = moveTo ?? record.namespace;
  return {
    ...{ name: record.name, namespace, chart: known.place, storage, helm: known.helm, settings: known.settings },
    ...(savedValues === undefined ? {} : { savedValues }),
    ...(options.chartValues === undefined ? {} : { valuesFile: options.chartValues }),
    ...(moveTo === undefined ? {} : { moves: true }),
    takeFields: false,
  };
}

/** The release is deployed from the target's chart with all that is wanted: nothing is left to do. */
function isUpgraded({ stored, target, file, settings }: Known, { options }: Context): boolean {
  const { record } = stored;
  const isTarget = record.chart.name === target.name && record.chart.version === options.release && target.version === options.release;
  return record.status === 'deployed' && isTarget && contains(record.values, overlaid(file, settingValues(settings)));
}

interface Question {
  readonly upgrade: HelmUpgrade | undefined;
  readonly known: Known | undefined;
  readonly upgraded: boolean;
  readonly misplaced: Misplaced | undefined;
  readonly crdsPending: boolean;
  readonly answer: HelmAnswer;
}

async function trialOf(sources: Sources, { upgrade, known, upgraded, misplaced, crdsPending, answer }: Question): Promise<MoveTried> {
  const untold = (because: string) => ({ trial: { value: { type: 'untold', because } }, patches: [] }) as const;
  if (!upgrade || !known) return untold('the release, its chart or helm could not be read');
  if (upgraded) return untold('the release is upgraded already');
  if (upgrade.moves) {
    const rendered = () => renderedChart(sources, { trial: untold('').trial, upgrade, stored: { value: known.stored }, ...known.read });
    return tryMove(sources.cluster, rendered, upgrade.name, upgrade.namespace);
  }
  if (misplaced) return untold('the release is not upgraded where it is: see NS-244');
  if (isPending(known.stored.record)) return untold('another operation on the release has not ended: see NS-232');
  return { trial: await tryUpgrade(sources.tools, upgrade, crdsPending, answer), patches: [] };
}

function knows(values: JsonMap | undefined, { profile }: Context): boolean {
  const names = profile.operator.chartNames;
  return values !== undefined && names !== undefined && chartValue(values, names.manageCrds) !== undefined;
}

/** Of a release that moves the Installation is not changed. */
function losesCsi({ names, own, defaults }: Known, moveTo: string | undefined): boolean {
  const { csi } = names;
  return (
    moveTo === undefined && csi !== undefined && chartValue(own, csi.value) === undefined && chartValue(defaults, csi.value) === csi.off
  );
}
