import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Trace } from '../../kernel/edit-trace.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { continues, type RunRecord } from '../../kernel/run-record.ts';
import { CARRIED_PART } from '../../manifest/carried-file.ts';
import type { AtZero } from '../rollout/index.ts';
import { shapeOf } from '../survey/index.ts';
import { isWorkload } from './identity.ts';
import type { PreviewedObject } from './outcome.ts';

/** What a merged target is, as far as the number of replicas goes. */
interface Merged {
  readonly rollouts: readonly { readonly target: RolloutTarget }[];
  readonly previews: readonly PreviewedObject[];
  readonly edits: Reading<{ readonly edits: readonly Trace[] }>;
  readonly record: RunRecord | undefined;
}

/** Deployments that must run somewhere and that the target, as it will be stored, gives no replica. */
export function emptyTargets({ rollouts, previews, edits, record }: Merged, context: Context): readonly AtZero[] {
  const needed = rollouts.map(({ target }) => target).filter(({ kind, neverEmpty }) => neverEmpty && kind === 'Deployment');
  return needed.flatMap((ref) => {
    const preview = previews.find(({ document }) => isWorkload(document, ref));
    if (!preview || replicasOf(preview.result ?? preview.document) !== 0) return [];
    const traces = 'value' in edits ? edits.value.edits : [];
    const trace = traces.find((one) => one.ref.kind === ref.kind && one.ref.name === ref.name && one.path === 'spec.replicas');
    // Only from then on the edits are those that were kept, whatever is in the cluster.
    const begun = continues(record, context) && record.kept.some((id) => id.includes(CARRIED_PART));
    return [{ ref, ...placeOf(preview, trace, begun, context) }];
  });
}

function placeOf(
  { document }: PreviewedObject,
  trace: Trace | undefined,
  begun: boolean,
  { options }: Context,
): Pick<AtZero, 'place' | 'from'> {
  const isWritten = replicasOf(document) === 0;
  if (isWritten && options.upgradeFile !== undefined) return { place: 'file', from: `replicas 0 in ${options.upgradeFile}` };
  if (isWritten && begun) return { place: 'begun', from: 'replicas 0 among the edits that this run began with' };
  if (trace?.source.kind === 'file') return { place: 'file', from: `replicas 0 in ${options.installedManifest ?? 'your manifest'}` };
  const by = trace?.source.manager;
  return { place: 'cluster', from: by === undefined ? IN_CLUSTER : `${IN_CLUSTER} by ${by}` };
}

const IN_CLUSTER = 'scaled to 0 in the cluster';

/** True if the chart's operator gets a replica in any case: helm writes the template's number over the live one. */
export function givesReplica(documents: readonly KubeObject[], { operator }: Installation): boolean {
  const rendered = documents.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === operator?.name);
  return rendered !== undefined && (replicasOf(rendered) ?? 0) > 0;
}

/** The running operator; scaled up on unknown CRDs it would hang, so this is reported before they are written. */
export async function stoppedOperator(cluster: Pick<ClusterReader, 'list'>, { operator }: Installation): Promise<readonly AtZero[]> {
  if (!operator) return [];
  const { namespace } = operator;
  // Listed like the rest of the installation, so that no account needs a further right.
  const live = (await cluster.list(K.Deployment, { namespace })).find(({ metadata }) => metadata.name === operator.name);
  return live && replicasOf(live) === 0 ? [{ ref: operator, place: 'cluster', from: IN_CLUSTER }] : [];
}

const replicasOf = (workload: KubeObject): number | undefined => shapeOf(workload).spec?.replicas;
