import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault, HeldFault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { continues, hasStopped, type Records, type RunRecord, recordHere, waitsForUser } from '../../kernel/run-record.ts';
import { look, text } from '../../kernel/step.ts';
import { selectorOf, selectorText } from '../../kube/selector.ts';
import { hadOwnStrategy, isHeldBy, isOnDelete } from './own-strategy.ts';

/** The DaemonSet, where this program holds it for the user to continue: no run is at work that lets it. */
export async function heldForUser(
  { cluster, lock }: Pick<Sources, 'cluster' | 'lock'>,
  { namespace, name }: RolloutTarget,
  recorded: () => Promise<RunRecord | undefined>,
): Promise<KubeObject | undefined> {
  const live = await cluster.get(K.DaemonSet, name, namespace);
  if (!live || !isOnDelete(live) || !isHeldBy(live, await recorded()) || (await lock.holder())) return undefined;
  return live;
}

/** For who waits until all agents are new. Throws Fault('stopped') where their DaemonSet is held so: HeldFault if the run was told to stop. */
export async function refuseHeld(
  sources: Pick<Sources, 'cluster' | 'lock' | 'records'>,
  target: RolloutTarget,
  here: Pick<Context, 'clusterUid'>,
): Promise<void> {
  const { namespace, name } = target;
  let record: RunRecord | undefined;
  const live = await heldForUser(sources, target, async () => {
    record = recordHere(await sources.records.load(), here);
    return record;
  });
  if (!live) return;
  const seen = look(text`${command`kubectl -n ${namespace} get pods -o wide -l ${selectorText(selectorOf(live))}`}`);
  const held = `DaemonSet ${namespace}/${name} is held by a run that is not finished: no agent is replaced until you`;
  if (record && waitsForUser(record))
    throw new HeldFault(`${held} continue`, [seen, text`continue, with all other agents: ${command`kubectl netsvc-upgrade commit`}`]);
  const why = text`see why it stopped, and what resumes it: ${command`kubectl netsvc-upgrade status`}`;
  throw new Fault('stopped', `${held} resume it`, [seen, why]);
}

/** For who waits for what an unfinished run has left old: nobody applies it. Throws Fault('stopped'): HeldFault if the run was told to stop there. */
export async function refuseLeft(
  { lock, records }: Pick<Sources, 'lock' | 'records'>,
  open: readonly Pick<RolloutProgress, 'unapplied'>[],
  here: Pick<Context, 'clusterUid'>,
): Promise<void> {
  if (open.length === 0 || !open.every(({ unapplied }) => unapplied)) return;
  const record = recordHere(await records.load(), here);
  // Where the run has not begun to apply, somebody else may: a GitOps tool.
  if (!record || record.finishedAt !== undefined || !record.wrote.includes('apply') || (await lock.holder())) return;
  const [isHeld, waits] = [hasStopped(record), waitsForUser(record)];
  const next = isHeld || waits ? command`kubectl netsvc-upgrade commit` : command`kubectl netsvc-upgrade run`;
  const steps = [look(text`see what is open: ${command`kubectl netsvc-upgrade status`}`), text`continue: ${next}`];
  if (isHeld) throw new HeldFault('the run has stopped on purpose, with --until: what is open is not upgraded until you continue', steps);
  throw new Fault('stopped', 'nothing rolls out: the new release is not applied to what is open, and the run is not at work', steps);
}

/**
 * For a run that is to stop after its canary, where none can be held any more. It would be cut short and continue nothing, or perform waves
 * that nobody has confirmed; `isMore`: it has some to perform. Throws Fault: `stopped` where this command has begun to write, else `usage`.
 */
export async function refuseOver(
  records: Pick<Records, 'keptWith'>,
  record: RunRecord | undefined,
  context: Context,
  isMore: boolean,
): Promise<void> {
  const { canary, soakMs } = context.options;
  if (canary === undefined || soakMs !== undefined) return;
  const run = continues(record, context) ? record : undefined;
  const isResumed = run !== undefined && run.startedAt !== context.startedAt.toISOString();
  if (!isMore && !isResumed && !(run && (await hadOwnStrategy(records, run)))) return;
  throw new Fault(
    run && !isResumed ? 'stopped' : 'usage',
    '--canary: no agent is left for it: all were replaced, or the DaemonSet replaces them by itself',
    [run ? text`continue without it: ${command`kubectl netsvc-upgrade commit`}` : 'leave it out'],
  );
}
