import { command } from '../../kernel/argv.ts';
import {
  type Around,
  type EffectTypes,
  type EnginePorts,
  type Performed,
  type PreconditionTypes,
  whole,
} from '../../kernel/effect-type.ts';
import { Fault, MovedOn, messageOf, Outdated } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type JsonPatchOp, type Kind, type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import { patchOf } from '../../kernel/object-change.ts';
import type { OperatorIgnores } from '../../kernel/operator-names.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { HELD_BY, heldBy, holdOps, isAnnotatedByUser, isIgnored, isWhollyHeld, readHeldCopies, releaseOps } from '../../kube/held.ts';
import { isObserved } from '../../kube/workload.ts';

/** A Deployment or DaemonSet that the operator is not to change for a while. */
interface HeldWorkload {
  readonly target: ObjectRef;
  readonly ignores: OperatorIgnores;
}

/** Annotates it, if it is still the one that was read and no user has annotated it meanwhile. */
interface HoldWorkload extends HeldWorkload {
  readonly type: 'hold-workload';
  readonly run: string;
}

/** Removes what `hold-workload` added, from the ReplicaSets as well: `kubectl rollout undo` would restore it. */
interface ReleaseWorkload extends HeldWorkload {
  readonly type: 'release-workload';
}

/** Each is held, right before what that protects from. */
interface WorkloadsHeld extends Pick<HeldWorkload, 'ignores'> {
  readonly type: 'workloads-held';
  readonly targets: readonly ObjectRef[];
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'hold-workload': HoldWorkload;
    readonly 'release-workload': ReleaseWorkload;
  }
  interface Preconditions {
    readonly 'workloads-held': WorkloadsHeld;
  }
}

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;

async function hold(
  { cluster }: Ports,
  { target, ignores, run }: HoldWorkload,
  { mustHold }: Pick<Around, 'mustHold'>,
): Promise<Performed> {
  const live = await liveOf(cluster, target);
  if (!live) throw new MovedOn(`${refText(target)} is no longer there`);
  if (isWhollyHeld(live, ignores)) return {};
  if (isAnnotatedByUser(live, ignores)) throw new MovedOn(`somebody has annotated ${refText(target)} meanwhile`);
  mustHold();
  await send(cluster, live, patchOf(live, holdOps(live, ignores, run)).patch);
  return { detail: refText(target) };
}

/** The Deployment controller copies annotations to the newest ReplicaSet: it must have seen that they are gone. */
const SEEN_MS = 30_000;

async function release({ cluster, clock }: Ports, effect: ReleaseWorkload, around: Pick<Around, 'mustHold' | 'stop'>): Promise<Performed> {
  const { target, ignores } = effect;
  const live = await liveOf(cluster, target);
  if (live && heldBy(live) !== undefined) {
    around.mustHold();
    await send(cluster, live, releaseOps(live, ignores));
  }
  if (target.kind !== K.Deployment.kind) return { detail: refText(target) };
  if (live) await seen({ cluster, clock }, target, around.stop);
  for (const copy of await readHeldCopies(cluster, target)) {
    around.mustHold();
    await send(cluster, copy, releaseOps(copy, ignores));
  }
  return { detail: refText(target) };
}

/** Resolves when its controller knows it as it is, or after `SEEN_MS`. Throws Fault('interrupted'). */
async function seen({ cluster, clock }: Ports, { name, namespace = '' }: ObjectRef, stop: AbortSignal): Promise<void> {
  const end = new AbortController();
  void clock.sleep(SEEN_MS, AbortSignal.any([stop, end.signal])).then(
    () => end.abort(),
    () => undefined,
  );
  const only = { namespace, fieldSelector: `metadata.name=${name}`, signal: AbortSignal.any([stop, end.signal]) };
  for await (const update of cluster.watch(K.Deployment, only)) {
    const [live] = update.type === 'snapshot' ? update.items : [update.object];
    if (!live || update.type === 'deleted' || isObserved(live)) break;
  }
  end.abort();
  if (stop.aborted)
    throw new Fault('interrupted', `stopped while Deployment/${namespace}/${name} is released`, ['run the same command again']);
}

const KINDS: readonly Kind[] = [K.Deployment, K.DaemonSet, K.ReplicaSet];

const kindOf = ({ kind }: Pick<ObjectRef, 'kind'>): Kind => KINDS.find((one) => one.kind === kind) ?? K.Deployment;

function liveOf(cluster: Pick<ClusterReader, 'get'>, ref: ObjectRef): Promise<KubeObject | undefined> {
  return cluster.get(kindOf(ref), ref.name, ref.namespace ?? '');
}

async function send(cluster: EnginePorts['cluster'], live: KubeObject, patch: readonly JsonPatchOp[]): Promise<void> {
  const ref = refOf(live);
  await cluster.patch(kindOf(ref), { ...ref, uid: live.metadata.uid ?? '' }, patch, 'kubectl').catch((thrown: unknown) => {
    const hasMoved = thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status);
    throw hasMoved ? new MovedOn(`${refText(ref)} changed meanwhile: ${messageOf(thrown)}`) : thrown;
  });
}

async function assertHeld({ cluster }: Pick<Ports, 'cluster'>, { targets, ignores }: WorkloadsHeld): Promise<void> {
  for (const target of targets) {
    const live = await liveOf(cluster, target);
    if (live && !isIgnored(live, ignores)) throw new Outdated(`${refText(target)} is not held any more`);
  }
}

async function tried({ cluster }: Ports, target: ObjectRef, patch: (live: KubeObject) => readonly JsonPatchOp[]): Promise<Performed> {
  const live = await liveOf(cluster, target);
  const ops = live ? patch(live) : [];
  if (live && ops.length > 0) await cluster.dryRunPatch(kindOf(target), refOf(live), ops, 'kubectl');
  return {};
}

const commandOf = ({ target: { kind, name, namespace = '' } }: HeldWorkload, ...annotations: readonly string[]): string =>
  command`kubectl annotate ${kind.toLowerCase()} ${name} -n ${namespace} ${annotations}`.plain;

const strategyText = ({ target: { kind } }: HeldWorkload, type: string): string =>
  kind === K.DaemonSet.kind ? `, and its update strategy becomes ${type} in the same patch` : '';

export const holdEffects: Pick<EffectTypes, 'hold-workload' | 'release-workload'> = {
  'hold-workload': {
    does: 'writes',
    isFixed: true,
    perform: hold,
    dryRun: (ports, { target, ignores, run }) => tried(ports, target, (live) => holdOps(live, ignores, run)),
    text: (effect) =>
      `${commandOf(effect, `${effect.ignores.annotation}=${effect.ignores.value}`, `${HELD_BY}=${effect.run}`)}${strategyText(effect, 'OnDelete')}`,
    mask: whole,
    digest: ({ type, target, ignores }) => ({ type, target, ignores }),
  },
  'release-workload': {
    does: 'writes',
    isFixed: true,
    perform: release,
    dryRun: (ports, { target, ignores }) => tried(ports, target, (live) => releaseOps(live, ignores)),
    text: (effect) =>
      `${commandOf(effect, `${effect.ignores.annotation}-`, `${HELD_BY}-`)}${
        effect.target.kind === K.Deployment.kind ? '; the same of its ReplicaSets' : strategyText(effect, 'RollingUpdate')
      }`,
    mask: whole,
    digest: ({ type, target, ignores }) => ({ type, target, ignores }),
  },
};

export const holdPreconditions: Pick<PreconditionTypes, 'workloads-held'> = { 'workloads-held': { assert: assertHeld } };
