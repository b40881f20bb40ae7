import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { contains, type JsonMap } from '../../kernel/json.ts';
import type { ChartNames } from '../../kernel/operator-names.ts';
import type { Sources } from '../../kernel/ports.ts';
import { changes, givesReplica, type HelmAnswer, readCrdFacts, stoppedOperator } from '../install-manifest/index.ts';
import { type ChartFacts, type Misplaced, type StoredRelease, takeoverOf } from './chart-facts.ts';
import { readConflicts } from './conflicts.ts';
import { leavesCrds } from './crds.ts';
import { type HelmUpgrade, keepsValues } from './helm-argv.ts';
import { isPending } from './helm-record.ts';
import {
  chartValue,
  deniedAdditions,
  forgottenValues,
  leafNames,
  overlaid,
  pinsOf,
  settingsFor,
  settingValues,
  type ValueFacts,
} from './helm-values.ts';
import { type MoveTried, misplacedIn, readOldRecords, tryMove } from './move.ts';
import { readStoredRelease } from './release.ts';
import { readForeignCrds, readLost, renderedChart } from './rendered.ts';
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
  const { cluster, tools } = sources;
  const { profile, options } = context;
  const fetched = await fetchedTarget(sources, context);
  const [stored, helm, target, file, crds, record] = await Promise.all([
    readStoredRelease(cluster, installation),
    readHelmVersion(tools),
    'unread' in fetched ? fetched : readChart(tools, fetched.value),
    readValuesFile(sources, context),
    leavesCrds(context, installation) ? undefined : readCrdFacts(sources, context, installation),
    sources.records.load(),
  ]);
  refuseDenial(context, file);
  const release = 'value' in stored ? stored.value : undefined;
  const misplaced = release && misplacedIn(release, installation, context);
  const moveTo = options.moveRelease && misplaced?.holdsOperator ? misplaced.to : undefined;
  const oldRecords = release && !misplaced ? await readOldRecords(cluster, release, record) : [];
  const takeover = release && takeoverOf(release, record, oldRecords.length > 0, sources.clock.now(), context);
  const known = await readKnown(sources, context, { stored, helm, target, fetched }, file, {
    moveTo,
    restoresCrds: installation.restoresCrds,
  });
  const { upgrade, upgraded = false } = known ?? {};
  const { trial, patches: adoption } = await trialOf(sources, known, misplaced, crds, answer);
  const documents = 'value' in trial && trial.value.type === 'accepted' ? trial.value.documents : undefined;
  const chart = () => renderedChart(sources, { trial, upgrade, stored, target, helm });
  const lost = await readLost(cluster, profile, misplaced || upgraded ? undefined : release?.base, chart, documents);
  const defaults = release?.base.defaults;
  return {
    ...{ installation, stored, helm, target, upgraded, trial, record, crds, upgrade, misplaced, adoption, takeover, oldRecords },
    ...lost,
    conflicts: documents && release ? await readConflicts(cluster, documents, release, moveTo) : undefined,
    pins: known ? pinsOf(known) : [],
    managesCrds: { installed: knows(defaults, context), target: knows(known?.defaults, context) },
    atZero: documents && !givesReplica(documents, installation) ? await stoppedOperator(cluster, installation) : [],
    foreignCrds: await readForeignCrds(cluster, profile, installation.chart),
    losesCsi: installation.hasCsiDriver && losesCsi(known, moveTo),
    forgottenValues: forgottenIn(known, defaults),
  };
}

/** A forgotten value that the user's file sets in its new place is not reported. */
function forgottenIn(known: Known | undefined, installed: JsonMap | undefined): readonly string[] {
  if (!known || !installed) return [];
  const said = new Set(leafNames(known.file));
  return forgottenValues(known.own, installed, known.defaults).filter((path) => !said.has(path.slice(path.lastIndexOf('.') + 1)));
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
function refuseUnknown({ profile, goal, options: { enableFlowLogs } }: Context, { additions }: ChartNames, defaults: JsonMap): void {
  if (!enableFlowLogs || additions.some(({ value }) => chartValue(defaults, value) !== undefined)) return;
  const kinds = additions.map(({ kind }) => kind).join(', ');
  if (kinds !== '') throw new Fault('usage', `--enable-flow-logs: the chart of ${goal.release} has no ${kinds}`, ['leave the flag out']);
  throw new Fault('usage', `--enable-flow-logs: no value is known by which the chart of ${goal.release} switches them on`, [
    `leave the flag out, and apply ${(profile.operator.flowLogs ?? []).join(' and ')} with kubectl once the upgrade has ended`,
  ]);
}

interface Readings extends Pick<ChartFacts, 'stored' | 'helm'> {
  readonly target: Reading<ReadChart>;
  readonly fetched: Reading<FetchedChart>;
}

/** What an upgrade is made of; `own` are the values of the release with those of the file over them. */
interface Known extends ValueFacts {
  readonly stored: StoredRelease;
  readonly file: JsonMap;
  readonly upgrade: HelmUpgrade;
  /** The release is deployed from the target's chart with all that is wanted: nothing is left to do. */
  readonly upgraded: boolean;
  readonly unconfirmed: boolean;
}

/** Undefined while something that it needs could not be read. */
async function readKnown(
  { work }: Sources,
  context: Context,
  { stored, helm, target, fetched }: Readings,
  file: JsonMap,
  { moveTo, restoresCrds }: { readonly moveTo: string | undefined; readonly restoresCrds: boolean },
): Promise<Known | undefined> {
  const { profile, goal, options } = context;
  const names = profile.operator.chartNames;
  if (!names || 'unread' in stored || 'unread' in helm || 'unread' in target || 'unread' in fetched) return undefined;
  const { record, base, storage } = stored.value;
  const { defaults, name, version } = target.value;
  refuseUnknown(context, names, defaults);
  const [manageCrds, flowLogs] = [options.manageCrds === true, options.enableFlowLogs === true];
  const values = {
    names,
    manifests: [record.manifest, base.manifest],
    own: overlaid(base.values, file),
    defaults,
    manageCrds,
    flowLogs,
    restoresCrds,
  };
  const settings = settingsFor(values);
  const isSaved = moveTo !== undefined || !keepsValues(helm.value);
  const upgrade: HelmUpgrade = {
    ...{ name: record.name, namespace: moveTo ?? record.namespace, chart: fetched.value.place, storage, helm: helm.value, settings },
    ...(isSaved ? { savedValues: await work.write(VALUES_FILE, JSON.stringify(base.values)) } : {}),
    ...(options.chartValues === undefined ? {} : { valuesFile: options.chartValues }),
    ...(moveTo === undefined ? {} : { moves: true }),
    takeFields: false,
  };
  const isTarget = record.chart.name === name && [record.chart.version, version].every((one) => one === goal.release);
  const upgraded = record.status === 'deployed' && isTarget && contains(record.values, overlaid(file, settingValues(settings)));
  return { ...values, stored: stored.value, file, upgrade, upgraded, unconfirmed: target.value.unconfirmed === true };
}

async function trialOf(
  sources: Sources,
  known: Known | undefined,
  misplaced: Misplaced | undefined,
  crds: ChartFacts['crds'],
  answer: HelmAnswer,
): Promise<MoveTried> {
  const untold = (because: string) => ({ trial: { value: { type: 'untold', because } }, patches: [] }) as const;
  if (!known) return untold('the release, its chart or helm could not be read');
  const { upgrade, upgraded, stored, unconfirmed } = known;
  if (upgraded) return untold('the release is upgraded already');
  if (upgrade.moves) return tryMove(sources, upgrade, stored.base);
  if (misplaced) return untold('the release is not upgraded where it is: see NS-244');
  if (unconfirmed) return untold('its templates get no cluster before its SHA-256 is confirmed: see NS-248');
  if (isPending(stored.record)) return untold('another operation on the release has not ended: see NS-232');
  return { trial: await tryUpgrade(sources.tools, upgrade, crds !== undefined && changes(crds), answer), patches: [] };
}

function knows(values: JsonMap | undefined, { profile }: Context): boolean {
  const names = profile.operator.chartNames;
  return values !== undefined && names !== undefined && chartValue(values, names.manageCrds) !== undefined;
}

/** Of a release that moves the Installation is not changed. */
function losesCsi(known: Known | undefined, moveTo: string | undefined): boolean {
  const csi = known?.names.csi;
  if (!known || !csi || moveTo !== undefined) return false;
  return chartValue(known.own, csi.value) === undefined && chartValue(known.defaults, csi.value) === csi.off;
}
