import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { changedPlaces, isUndone, type KeptChange, keptChanges, runOf } from '../../kernel/object-change.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { attempt, attemptWith, readInjectors, readInstalled } from '../survey/index.ts';
import type { AlpJudged } from './checks.ts';
import { restartedWorkloads, templateMounts, withInjectorsOf } from './restarted.ts';
import { type Injector, readInjectorTemplates } from './templates.ts';
import { changedSince, formerMounts, formerTemplate, isTemplateChange, type WayBack } from './undo.ts';
import { type MeshedWorkload, readMeshedWorkloads } from './workloads.ts';

/** Everything that the sidecars’ update is evaluated and planned by. */
export interface AlpFacts extends AlpJudged {
  readonly injectors: readonly Injector[];
  readonly workloads: readonly MeshedWorkload[];
  /** What `--undo` finds; nothing without it. */
  readonly wayBack: Reading<WayBack>;
}

/** What the undo is evaluated and planned by: the former templates. */
export async function readUndoFacts(sources: Sources, context: Context): Promise<AlpFacts> {
  const wayBack = await attempt(() => readWayBack(sources, context));
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
  };
}

/** What `alp` is evaluated and planned by: templates and meshed workloads (§4.6). */
export async function readUpdateFacts(sources: Sources, context: Context): Promise<AlpFacts> {
  const { cluster } = sources;
  const installation = await readInstalled(sources, context);
  const [injectors, meshed, csi] = await Promise.all([
    attempt(() => readInjectorTemplates(sources, context)),
    attempt(() => readMeshedWorkloads(cluster, context)),
    attempt(() => readCsiDriver(cluster, context, installation)),
  ]);
  const known = 'value' in injectors ? injectors.value.withSidecar : [];
  const workloads = await attemptWith(meshed, async (some) =>
    'value' in injectors ? withInjectorsOf(some, injectors.value, context) : some,
  );
  const found = 'value' in workloads ? workloads.value : [];
  const left = (type: 'none' | 'conflict') =>
    known.flatMap(({ map, outcome }) => (outcome.type === type ? [{ text: refText(refOf(map)), detail: outcome.because }] : []));
  return {
    injectors: known,
    workloads: found,
    wayBack: NO_WAY_BACK,
    untemplated: await attemptWith(injectors, async () => left('none')),
    conflicts: left('conflict'),
    available: context.profile.sidecar.templateVersions,
    obstacles: await attemptWith(workloads, async (some) =>
      some.flatMap(({ ref, stale, obstacle }) => (stale > 0 && obstacle !== undefined ? [{ text: refText(ref), detail: obstacle }] : [])),
    ),
    mounts: await attemptWith(injectors, async () => templateMounts(known, restartedWorkloads(found, known, context), context)),
    csi,
    inUse: 'unread' in injectors || 'unread' in workloads || known.length > 0 || found.length > 0,
    undo: false,
    restored: { value: 0 },
    changedSince: { value: [] },
  };
}

const NO_WAY_BACK: Reading<WayBack> = { value: { former: [], edited: [], gone: [], recorded: false } };

/** The DaemonSet of the driver under the names of the profile, in whichever namespace it was installed. */
async function readCsiDriver(cluster: ClusterReader, { profile }: Context, { hasCsiDriver }: Installation) {
  const addOn = profile.addOns.find(({ id }) => id === 'csi');
  for (const namespace of addOn ? [addOn.workload.namespace, ...addOn.otherNamespaces] : []) {
    const live = await cluster.get(K.DaemonSet, addOn?.workload.name ?? '', namespace);
    const { desiredNumberScheduled: wanted = 0, numberReady: ready = 0 } = (live?.status ?? {}) as Readonly<Record<string, number>>;
    if (live) return { wanted, ready };
  }
  return hasCsiDriver ? 'untold' : undefined;
}

/**
 * Injectors of the latest run that changed any, as they are now, whether or not they still have the sidecar. For a rollback nothing counts
 * that was changed before the upgrade which it takes back.
 */
export async function readWayBack(
  { cluster, records }: Pick<Sources, 'cluster' | 'records'>,
  { profile, goal }: Pick<Context, 'profile' | 'goal'>,
): Promise<WayBack> {
  const [maps, all] = await Promise.all([readInjectors(cluster, profile), keptChanges(records, 'alp', isTemplateChange)]);
  const { runId, since = runId ?? '' } = goal.takesBack ?? {};
  const kept = all.filter((one) => runOf(one) >= since);
  const latest = goal.takesBack ? lastOfEach(kept) : latestChanges(kept);
  const found = latest.map((change) => {
    const text = refText(change.ref);
    // By name: whoever created it again may have given it the same content, which is compared.
    const live = maps.find((one) => refText(refOf(one)) === text);
    const places = changedPlaces(kept.slice(kept.indexOf(change)).filter(({ ref }) => refText(ref) === text));
    return { text, isBack: places.every(isUndone), former: live && formerTemplate(live, places) };
  });
  return {
    former: found.flatMap(({ former, isBack }) => (former && !isBack ? [former] : [])),
    edited: found.flatMap(({ text, former, isBack }) => (former && former.patch.length > 0 && isBack ? [text] : [])),
    gone: found.flatMap(({ text, former }) => (former ? [] : [text])),
    recorded: latest.length > 0,
  };
}

function latestChanges(kept: readonly KeptChange[]): readonly KeptChange[] {
  const changes = kept.filter(({ isUndo }) => !isUndo);
  return lastOfEach(changes.filter((one) => runOf(one) === runOf(changes.at(-1) ?? one)));
}

/** Of several changes of one injector the last. */
function lastOfEach(kept: readonly KeptChange[]): readonly KeptChange[] {
  return [...new Map(kept.filter(({ isUndo }) => !isUndo).map((one) => [refText(one.ref), one])).values()];
}
