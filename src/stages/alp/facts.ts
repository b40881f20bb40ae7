import type { AlpJudged } from '../../checks/alp.ts';
import type { Reading } from '../../core/check.ts';
import type { Context } from '../../core/context.ts';
import type { Installation } from '../../core/installation.ts';
import { K } from '../../core/kinds.ts';
import { refOf, refText } from '../../core/object.ts';
import type { ClusterReader, KeptItem, Sources } from '../../core/ports.ts';
import { latestKept } from '../kept.ts';
import { attempt } from '../reading.ts';
import { readInstalled } from '../survey/installed.ts';
import { withInjectorsOf } from './images.ts';
import { templateMounts } from './mounts.ts';
import { restartedWorkloads } from './restarted.ts';
import { type Injector, readInjectorTemplates } from './templates.ts';
import { type MeshedWorkload, readMeshedWorkloads } from './workloads.ts';

/** Everything that the sidecars’ update is judged and planned by. */
export interface AlpFacts extends AlpJudged {
  readonly injectors: readonly Injector[];
  readonly workloads: readonly MeshedWorkload[];
  readonly kept: readonly KeptItem[];
}

/** Injectors, meshed workloads and what an earlier run kept (§4.6). */
export async function readAlpFacts(sources: Sources, context: Context): Promise<AlpFacts> {
  const { cluster } = sources;
  const installation = await readInstalled(sources, context);
  const [injectors, meshed, kept, csi] = await Promise.all([
    attempt(() => readInjectorTemplates(sources, context)),
    attempt(() => readMeshedWorkloads(cluster, context)),
    latestKept(sources.records, 'alp'),
    attempt(() => readCsiDriver(cluster, context, installation)),
  ]);
  const known = 'value' in injectors ? injectors.value : [];
  const workloads = 'value' in injectors && known.length === 0 ? withoutInjector(meshed) : meshed;
  const found = 'value' in workloads ? withInjectorsOf(workloads.value, known, context) : [];
  const blocked = found.filter(({ stale, obstacle }) => stale > 0 && obstacle !== undefined);
  return {
    injectors: known,
    workloads: found,
    kept,
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
    undo: context.options.undo === true,
  };
}

/** Restarts bring a newer sidecar only where something puts it into new pods. */
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
