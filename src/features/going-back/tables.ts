import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { crosses } from '../../kernel/release.ts';
import type { Said } from '../../kernel/step.ts';
import { NO_RETURNS, type NoReturnPoint } from '../../kernel/undo.ts';
import { named } from '../../kube/lean-objects.ts';
import { askBehindCli } from '../service-cli/index.ts';
import { attempt } from '../survey/index.ts';
import type { NameProblem } from './policy-names.ts';
import { listedOf } from './stored-lists.ts';

const SETTINGS = 'felixconfigurations';
const FIELD = 'bpfEnabled';

/** A rollback after which older agents meet the tables of newer ones. */
export function meetsNewTables({ goal: { release, takesBack }, profile: { ebpfTablesSince } }: Context): boolean {
  return takesBack !== undefined && ebpfTablesSince !== undefined && crosses(release, takesBack.to, ebpfTablesSince);
}

/** Who stops early counts on an undo: there is none for a node whose agent is new. */
export function tablesNotes(point: NoReturnPoint | undefined, { canary, until }: Context['options']): readonly Said[] {
  if (point !== 'tables' || (canary === undefined && until === undefined)) return [];
  return [`before the first node: a node has no undo once its agent is new. ${NO_RETURNS.tables.long}`];
}

/**
 * What has agents in eBPF mode now, on any node: the run record knows how it was when the upgrade began. Undefined where agents of both
 * releases keep connections in the same tables.
 */
export async function readTables(
  sources: Sources,
  context: Context,
  installation: Installation,
): Promise<Reading<readonly NameProblem[] | undefined>> {
  if (!meetsNewTables(context) || installation.release === context.goal.release) return { value: undefined };
  const { dataPlane, overrulesNodes = false, agent } = installation;
  if (overrulesNodes && dataPlane === 'standard') return { value: [] };
  return attempt(async () => {
    // Their environment alone tells it of a key-value store without its CLI.
    const settings = isKeyValue(installation) && dataPlane !== undefined ? [] : await settingsOf(sources, context, installation);
    const found = settings.filter(isOn).map((object) => ({ object: refOf(object), detail: `${FIELD} true` }));
    if (found.length > 0 || dataPlane !== 'ebpf') return found;
    const { kind, name, namespace } = agent ?? { kind: 'DaemonSet', name: 'agents', namespace: undefined };
    return [{ object: { apiVersion: 'apps/v1', kind, name, ...(namespace ? { namespace } : {}) }, detail: 'its agents are in eBPF mode' }];
  });
}

async function settingsOf(sources: Sources, context: Context, installation: Installation): Promise<readonly KubeObject[]> {
  const { goal, profile } = context;
  if (isKeyValue(installation))
    return (await askBehindCli(sources, context, [goal.takesBack?.to ?? goal.release, goal.release])).list(SETTINGS);
  return listedOf(sources.cluster, profile.crdGroup, (_, plural) => plural === SETTINGS, lean);
}

const lean = (object: KubeObject): KubeObject => ({ ...named(object), spec: { [FIELD]: jsonAt(object.spec, FIELD) } });
const isOn = ({ spec }: KubeObject): boolean => String(jsonAt(spec, FIELD)).toLowerCase() === 'true';
