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
import { type JsonPatchOp, type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import { patchOf } from '../../kernel/object-change.ts';
import type { OperatorIgnores } from '../../kernel/operator-names.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { HELD_BY, heldBy, holdOps, isIgnored, releaseOps } from '../../kube/held.ts';

/** A Deployment that the operator is not to change for a while. */
interface HeldDeployment {
  readonly target: ObjectRef;
  readonly ignores: OperatorIgnores;
}

/** Annotates it, if it is still the one that was read and no user has annotated it meanwhile. */
interface HoldDeployment extends HeldDeployment {
  readonly type: 'hold-deployment';
  readonly run: string;
}

/** Removes what `hold-deployment` added, from the ReplicaSets as well: `kubectl rollout undo` would restore it. */
interface ReleaseDeployment extends HeldDeployment {
  readonly type: 'release-deployment';
}

/** The hold is there, right before what it protects from. */
interface DeploymentHeld extends HeldDeployment {
  readonly type: 'deployment-held';
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'hold-deployment': HoldDeployment;
    readonly 'release-deployment': ReleaseDeployment;
  }
  interface Preconditions {
    readonly 'deployment-held': DeploymentHeld;
  }
}

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;

async function hold(
  { cluster }: Ports,
  { target, ignores, run }: HoldDeployment,
  { mustHold }: Pick<Around, 'mustHold'>,
): Promise<Performed> {
  const live = await liveOf(cluster, target);
  if (!live) throw new MovedOn(`${refText(target)} is no longer there`);
  if (heldBy(live) !== undefined && isIgnored(live, ignores)) return {};
  if (live.metadata.annotations?.[ignores.annotation] !== undefined && heldBy(live) === undefined)
    throw new MovedOn(`somebody has annotated ${refText(target)} meanwhile`);
  mustHold();
  await send(cluster, live, patchOf(live, holdOps(live, ignores, run)).patch);
  return { detail: refText(target) };
}

/** The Deployment controller copies annotations to the newest ReplicaSet: it must have seen that they are gone. */
const SEEN_MS = 30_000;

async function release(
  { cluster, clock }: Ports,
  effect: ReleaseDeployment,
  around: Pick<Around, 'mustHold' | 'stop'>,
): Promise<Performed> {
  const { target, ignores } = effect;
  const live = await liveOf(cluster, target);
  if (live && heldBy(live) !== undefined) {
    around.mustHold();
    await send(cluster, live, releaseOps(live, ignores));
  }
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
    if (!live || update.type === 'deleted' || isSeen(live)) break;
  }
  end.abort();
  if (stop.aborted)
    throw new Fault('interrupted', `stopped while Deployment/${namespace}/${name} is released`, ['run the same command again']);
}

function isSeen({ metadata, status }: KubeObject): boolean {
  const { observedGeneration = 0 } = (status ?? {}) as { readonly observedGeneration?: number };
  return observedGeneration >= (metadata.generation ?? 0);
}

/** ReplicaSets of a Deployment that bear our annotation. */
export async function readHeldCopies(cluster: Pick<ClusterReader, 'list'>, deployment: ObjectRef): Promise<readonly KubeObject[]> {
  const { namespace = '', name } = deployment;
  const sets = await cluster.list(K.ReplicaSet, { namespace, metadataOnly: true });
  return sets
    .filter(
      (set) =>
        heldBy(set) !== undefined && set.metadata.ownerReferences?.some((owner) => owner.kind === 'Deployment' && owner.name === name),
    )
    .map((set) => ({ ...set, apiVersion: 'apps/v1', kind: K.ReplicaSet.kind }));
}

function liveOf(cluster: Pick<ClusterReader, 'get'>, { name, namespace = '' }: ObjectRef): Promise<KubeObject | undefined> {
  return cluster.get(K.Deployment, name, namespace);
}

async function send(cluster: EnginePorts['cluster'], live: KubeObject, patch: readonly JsonPatchOp[]): Promise<void> {
  const ref = refOf(live);
  const kind = live.kind === K.ReplicaSet.kind ? K.ReplicaSet : K.Deployment;
  await cluster.patch(kind, { ...ref, uid: live.metadata.uid ?? '' }, patch, 'kubectl').catch((thrown: unknown) => {
    const hasMoved = thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status);
    throw hasMoved ? new MovedOn(`${refText(ref)} changed meanwhile: ${messageOf(thrown)}`) : thrown;
  });
}

async function assertHeld({ cluster }: Pick<Ports, 'cluster'>, { target, ignores }: DeploymentHeld): Promise<void> {
  const live = await liveOf(cluster, target);
  if (live && !isIgnored(live, ignores)) throw new Outdated(`${refText(target)} is not held any more`);
}

async function tried({ cluster }: Ports, target: ObjectRef, patch: (live: KubeObject) => readonly JsonPatchOp[]): Promise<Performed> {
  const live = await liveOf(cluster, target);
  const ops = live ? patch(live) : [];
  if (live && ops.length > 0) await cluster.dryRunPatch(K.Deployment, refOf(live), ops, 'kubectl');
  return {};
}

const commandOf = ({ target: { name, namespace = '' } }: HeldDeployment, ...annotations: readonly string[]): string =>
  command`kubectl annotate deployment ${name} -n ${namespace} ${annotations}`.plain;

export const holdEffects: Pick<EffectTypes, 'hold-deployment' | 'release-deployment'> = {
  'hold-deployment': {
    does: 'writes',
    isFixed: true,
    perform: hold,
    dryRun: (ports, { target, ignores, run }) => tried(ports, target, (live) => holdOps(live, ignores, run)),
    text: (effect) => commandOf(effect, `${effect.ignores.annotation}=${effect.ignores.value}`, `${HELD_BY}=${effect.run}`),
    mask: whole,
    digest: ({ type, target, ignores }) => ({ type, target, ignores }),
  },
  'release-deployment': {
    does: 'writes',
    isFixed: true,
    perform: release,
    dryRun: (ports, { target, ignores }) => tried(ports, target, (live) => releaseOps(live, ignores)),
    text: (effect) => `${commandOf(effect, `${effect.ignores.annotation}-`, `${HELD_BY}-`)}; the same of its ReplicaSets`,
    mask: whole,
    digest: ({ type, target, ignores }) => ({ type, target, ignores }),
  },
};

export const holdPreconditions: Pick<PreconditionTypes, 'deployment-held'> = { 'deployment-held': { assert: assertHeld } };
