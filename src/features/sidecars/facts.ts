import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { isJsonMap, type JsonMap, jsonAt, textAt } from '../../kernel/json-map.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, KeptItem, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { attempt, attemptWith, keptByRun, readInjectors, readInstalled } from '../survey/index.ts';
import type { AlpJudged } from './checks.ts';
import type { KeptTemplate, KeptWayBack } from './former-template.ts';
import { formerTemplate } from './former-template.ts';
import type { Data } from './merge.ts';
import { templateMounts } from './mounts.ts';
import { restartedWorkloads, withInjectorsOf } from './restarted.ts';
import { type Injector, type Injectors, readInjectorTemplates } from './templates.ts';
import { changedSince, formerMounts, keptElsewhere, type WayBack } from './undo.ts';
import { type MeshedWorkload, readMeshedWorkloads } from './workloads.ts';

/** Everything that the sidecars’ update is evaluated and planned by. */
export interface AlpFacts extends AlpJudged {
  readonly injectors: readonly Injector[];
  readonly workloads: readonly MeshedWorkload[];
  /** What `--undo` finds; nothing without it. */
  readonly wayBack: Reading<WayBack>;
}

/** What `alp` is evaluated and planned by: templates and meshed workloads, or the former templates (§4.6). */
export async function readAlpFacts(sources: Sources, context: Context): Promise<AlpFacts> {
  return context.options.undo ? readUndoFacts(sources, context) : readUpdateFacts(sources, context);
}

async function readUndoFacts(sources: Sources, context: Context): Promise<AlpFacts> {
  const wayBack = await attempt(() => readWayBack(sources, context.profile));
  return {
    injectors: [],
    workloads: [],
    wayBack,
    untemplated: { value: [] },
    conflicts: [],
    available: [],
    obstacles: { value: [] },
    mounts: await attemptWith(wayBack, async (value) => formerMounts(value, context)),
    csi: { value: undefined },
    inUse: true,
    undo: true,
    restored: await attemptWith(wayBack, async ({ former }) => former.filter(({ patch }) => patch.length > 0).length),
    changedSince: await attemptWith(wayBack, async (value) => changedSince(value)),
    fromElsewhere: await attemptWith(wayBack, async (value) => keptElsewhere(value)),
  };
}

async function readUpdateFacts(sources: Sources, context: Context): Promise<AlpFacts> {
  const { cluster } = sources;
  const installation = await readInstalled(sources, context);
  const [injectors, meshed, csi] = await Promise.all([
    attempt(() => readInjectorTemplates(sources, context)),
    attempt(() => readMeshedWorkloads(cluster, context)),
    attempt(() => readCsiDriver(cluster, context, installation)),
  ]);
  const { withSidecar: known, plain } = 'value' in injectors ? injectors.value : NO_INJECTORS;
  const workloads = 'value' in injectors && known.length === 0 ? withoutInjector(meshed) : meshed;
  const found = 'value' in workloads ? withInjectorsOf(workloads.value, { withSidecar: known, plain }, context) : [];
  const blocked = found.filter(({ stale, obstacle }) => stale > 0 && obstacle !== undefined);
  return {
    injectors: known,
    workloads: found,
    wayBack: NO_WAY_BACK,
    untemplated:
      'unread' in injectors
        ? injectors
        : {
            value: known.flatMap(({ map, outcome }) =>
              outcome.type === 'none' ? [{ text: refText(refOf(map)), detail: outcome.because }] : [],
            ),
          },
    conflicts: known.flatMap(({ map, outcome }) =>
      outcome.type === 'conflict' ? [{ text: refText(refOf(map)), detail: outcome.detail }] : [],
    ),
    available: context.profile.sidecar.templateVersions,
    obstacles:
      'unread' in workloads ? workloads : { value: blocked.map(({ ref, obstacle = '' }) => ({ text: refText(ref), detail: obstacle })) },
    mounts: 'unread' in injectors ? injectors : { value: templateMounts(known, restartedWorkloads(found, known, context), context) },
    csi,
    inUse: 'unread' in injectors || 'unread' in workloads || known.length > 0 || found.length > 0,
    undo: false,
    restored: { value: 0 },
    changedSince: { value: [] },
    fromElsewhere: { value: [] },
  };
}

const NO_INJECTORS: Injectors = { withSidecar: [], plain: [] };
const NO_WAY_BACK: Reading<WayBack> = { value: { former: [], edited: [], gone: [], elsewhere: [], recorded: false } };

/** Restarts give a newer sidecar only where something puts it into new pods. */
function withoutInjector(meshed: Reading<readonly MeshedWorkload[]>): Reading<readonly MeshedWorkload[]> {
  if ('unread' in meshed) return meshed;
  return {
    value: meshed.value.map((one) => ({
      ...one,
      obstacle: one.obstacle ?? 'no injector of the mesh has the sidecar: find what put it in',
    })),
  };
}

/** The DaemonSet of the driver under the names of the profile, in whichever namespace it was installed. */
async function readCsiDriver(
  cluster: ClusterReader,
  { profile }: Context,
  { hasCsiDriver }: Installation,
): Promise<{ readonly wanted: number; readonly ready: number } | 'untold' | undefined> {
  const addOn = profile.addOns.find(({ id }) => id === 'csi');
  for (const namespace of addOn ? [addOn.workload.namespace, ...addOn.otherNamespaces] : []) {
    const live = await cluster.get(K.DaemonSet, addOn?.workload.name ?? '', namespace);
    const status = (live as { readonly status?: Readonly<Record<string, number>> } | undefined)?.status;
    if (live) return { wanted: status?.desiredNumberScheduled ?? 0, ready: status?.numberReady ?? 0 };
  }
  return hasCsiDriver ? 'untold' : undefined;
}

/** Injectors of the latest run that changed any, as they are now, whether or not they still have the sidecar. */
export async function readWayBack({ cluster, records }: Pick<Sources, 'cluster' | 'records'>, profile: Profile): Promise<WayBack> {
  const [maps, runs] = await Promise.all([readInjectors(cluster, profile), keptByRun(records, 'alp')]);
  const templates = latestTemplates(runs);
  const found = templates.map((kept) => ({ kept, live: maps.find((one) => isSame(one, kept.map)) }));
  const elsewhere = await Promise.all(found.map(async ({ kept }) => ((await records.keptHere(kept)) ? [] : [nameOf(kept.map)])));
  const former = found.flatMap(({ kept, live }) => (live ? [formerTemplate(live, kept, lastBack(runs, live))] : []));
  return {
    former: former.filter(({ live }) => !isBack(runs, live)),
    edited: former.filter(({ live, patch }) => patch.length > 0 && isBack(runs, live)).map(({ live }) => nameOf(live)),
    gone: found.flatMap(({ kept: { map }, live }) => (live ? [] : [nameOf(map)])),
    elsewhere: elsewhere.flat(),
    recorded: templates.length > 0,
  };
}

const nameOf = ({ metadata }: KubeObject) => `ConfigMap/${metadata.namespace}/${metadata.name}`;

type Runs = readonly (readonly KeptItem[])[];

/** Of several changes of one injector the last. What an undo overwrote is kept by runs as well, and is no change of this kind. */
function latestTemplates(runs: Runs): readonly KeptTemplate[] {
  const latest = runs.map(templatesOf).findLast((templates) => templates.length > 0) ?? [];
  return [...new Map(latest.map((one) => [one.map.metadata.name, one])).values()];
}

function templatesOf(items: readonly KeptItem[]): readonly KeptTemplate[] {
  return items.map(({ content }) => asMap<KeptTemplate>(content)).filter((one): one is KeptTemplate => isObject(one.map));
}

/** What the last undo of an injector left, or would have, had it been performed. */
function lastBack(runs: Runs, live: KubeObject): Data | undefined {
  const back = runs.flat().map(({ content }) => asMap<KeptWayBack>(content));
  return back.findLast(({ replaced }) => isObject(replaced) && isSame(live, replaced))?.given?.data;
}

/** True if an undo is known to have put the former template in since `alp` changed the injector: what is in it now, somebody else put there. */
function isBack(runs: Runs, live: KubeObject): boolean {
  const latest = runs.flat().findLast(({ content }) => {
    const { map, replaced } = asMap<KeptTemplate & KeptWayBack>(content);
    return [map, replaced].some((one) => isObject(one) && isSame(live, one));
  });
  return latest?.outcome?.done === true && asMap<KeptWayBack>(latest.content).replaced !== undefined;
}

/** What is no object, or holds what no ConfigMap can hold, was kept by nobody. */
function asMap<T>(content: unknown): Partial<T> {
  return isJsonMap(content) && partsOf(content).every(areTexts) ? (content as Partial<T>) : {};
}

/** Data and marks in what was kept, as far as they are there. */
function partsOf({ map, replaced, given }: JsonMap): readonly unknown[] {
  const objects = [map, replaced].flatMap((one) => [
    jsonAt(one, 'data'),
    jsonAt(one, 'metadata', 'labels'),
    jsonAt(one, 'metadata', 'annotations'),
  ]);
  return [...objects, ...(given === undefined ? [] : isJsonMap(given) ? [given.data, given.labels, given.annotations] : [given])];
}

function areTexts(value: unknown): boolean {
  return value === undefined || (isJsonMap(value) && Object.values(value).every((one) => typeof one === 'string'));
}

function isObject(value: KubeObject | undefined): value is KubeObject {
  return isJsonMap(value) && textAt(value, 'metadata', 'name') !== undefined;
}

/** By name: whoever made it again may have put the same into it, and what is in it is compared. */
function isSame({ metadata }: KubeObject, kept: KubeObject): boolean {
  return metadata.name === kept.metadata.name && metadata.namespace === kept.metadata.namespace;
}
