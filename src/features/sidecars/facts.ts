import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { changedPlaces, isUndone, keptChanges, runOf } from '../../kernel/object-change.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { attempt, attemptWith, readInjectors, readInstalled } from '../survey/index.ts';
import type { AlpJudged, UndoJudged } from './checks.ts';
import { restartedWorkloads, templateMounts, withInjectorsOf } from './restarted.ts';
import { type Injector, readInjectorTemplates } from './templates.ts';
import { changedSince, formerMounts, formerTemplate, isTemplateChange, type WayBack } from './undo.ts';
import { type MeshedWorkload, readMeshedWorkloads } from './workloads.ts';

/** Everything that the sidecars’ update is evaluated and planned by. */
export interface AlpFacts extends AlpJudged {
  readonly injectors: readonly Injector[];
  readonly workloads: readonly MeshedWorkload[];
}

/** The same of their undo. */
export interface UndoFacts extends UndoJudged {
  readonly wayBack: Reading<WayBack>;
}

/** What the undo is evaluated and planned by: the former templates. */
export async function readUndoFacts(sources: Sources, context: Context): Promise<UndoFacts> {
  const wayBack = await attempt(() => readWayBack(sources, context));
  return {
    wayBack,
    mounts: await attemptWith(wayBack, async (value) => formerMounts(value, context)),
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
    untemplated: await attemptWith(injectors, async () => left('none')),
    conflicts: left('conflict'),
    available: context.profile.sidecar.templateVersions,
    obstacles: await attemptWith(workloads, async (some) =>
      some.flatMap(({ ref, stale, obstacle }) => (stale > 0 && obstacle !== undefined ? [{ text: refText(ref), detail: obstacle }] : [])),
    ),
    mounts: await attemptWith(injectors, async () => templateMounts(known, restartedWorkloads(found, known, context), context)),
    csi,
    inUse: 'unread' in injectors || 'unread' in workloads || known.length > 0 || found.length > 0,
  };
}

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
 * Injectors that the latest run changed, as they are now, whether or not they still have the sidecar. For a rollback all counts that was
 * changed from the upgrade on which it takes back.
 */
export async function readWayBack(
  { cluster, records }: Pick<Sources, 'cluster' | 'records'>,
  { profile, goal }: Pick<Context, 'profile' | 'goal'>,
): Promise<WayBack> {
  const [maps, all] = await Promise.all([readInjectors(cluster, profile), keptChanges(records, 'alp', isTemplateChange)]);
  const { runId, since = runId } = goal.takesBack ?? {};
  const changes = all.filter(({ isUndo }) => !isUndo);
  const first = since ?? changes.map(runOf).at(-1) ?? '';
  const kept = all.filter((one) => runOf(one) >= first);
  const names = [...new Set(changes.filter((one) => runOf(one) >= first).map(({ ref }) => refText(ref)))];
  const found = names.map((text) => {
    // By name: whoever created it again may have given it the same content, which is compared.
    const live = maps.find((one) => refText(refOf(one)) === text);
    const places = changedPlaces(kept.filter(({ ref }) => refText(ref) === text));
    const open = places.filter((one) => !isUndone(one));
    const isBack = open.length === 0;
    return { text, isBack, former: live && formerTemplate(live, isBack ? places : open) };
  });
  return {
    former: found.flatMap(({ former, isBack }) => (former && !isBack ? [former] : [])),
    edited: found.flatMap(({ text, former, isBack }) => (former && former.patch.length > 0 && isBack ? [text] : [])),
    gone: found.flatMap(({ text, former }) => (former ? [] : [text])),
    recorded: names.length > 0,
  };
}
