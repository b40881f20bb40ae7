import type { AlpJudged } from '../checks/alp.ts';
import type { Context } from '../core/context.ts';
import { refOf, refText } from '../core/object.ts';
import type { KeptItem, Sources } from '../core/ports.ts';
import { type Injector, readInjectorTemplates } from './alp-templates.ts';
import { type MeshedWorkload, readMeshedWorkloads } from './alp-workloads.ts';
import { readInstalled } from './installed.ts';
import { latestKept } from './kept.ts';
import { attempt } from './reading.ts';

/** Everything that the sidecars’ update is judged and planned by. */
export interface AlpFacts extends AlpJudged {
  readonly injectors: readonly Injector[];
  readonly workloads: readonly MeshedWorkload[];
  readonly kept: readonly KeptItem[];
}

/** Injectors, meshed workloads and what an earlier run kept (§4.6). */
export async function readAlpFacts(sources: Sources, context: Context): Promise<AlpFacts> {
  const { cluster } = sources;
  const [installation, injectors, workloads, kept] = await Promise.all([
    readInstalled(sources, context),
    attempt(() => readInjectorTemplates(sources, context)),
    attempt(() => readMeshedWorkloads(cluster, context)),
    latestKept(sources.records, 'alp'),
  ]);
  const known = 'value' in injectors ? injectors.value : [];
  const found = 'value' in workloads ? workloads.value : [];
  const data = known.flatMap(({ outcome }) => (outcome.type === 'template' ? Object.values(outcome.data) : []));
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
    needsCsi: data.some((text) => /^\s*(- )?csi:/m.test(text)),
    hasCsi: installation.hasCsiDriver,
    inUse: 'unread' in injectors || 'unread' in workloads || known.length > 0 || found.length > 0,
    undo: context.options.undo === true,
  };
}
