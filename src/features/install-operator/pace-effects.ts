import { command } from '../../kernel/argv.ts';
import { type Around, type EffectTypes, type EnginePorts, type Performed, whole } from '../../kernel/effect-type.ts';
import { MovedOn, messageOf } from '../../kernel/fault.ts';
import { sameValue } from '../../kernel/json.ts';
import { kindsOf } from '../../kernel/kinds.ts';
import { type JsonPatchOp, type KubeObject, type ObjectRef, refText } from '../../kernel/object.ts';
import { patchOf } from '../../kernel/object-change.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { giveUpOps, isOverridden, PACER, type Paced, pacedIn, paceOps, rollingIn, rollingText, unpaceOps } from '../../kube/paced.ts';

interface OfPace {
  /** What the operator takes the agents' pace from, and where. */
  readonly target: ObjectRef;
  readonly path: readonly string[];
}

/** Sets the pace of this run, if what is there is still what was read: a value like ours that has come since is somebody's own. */
interface PaceAgents extends OfPace {
  readonly type: 'pace-agents';
  readonly paced: Paced;
}

/** Puts back what was there; what somebody has set meanwhile stays. */
interface UnpaceAgents extends OfPace {
  readonly type: 'unpace-agents';
  readonly former: Paced['former'];
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'pace-agents': PaceAgents;
    readonly 'unpace-agents': UnpaceAgents;
  }
}

type Ports = Pick<EnginePorts, 'cluster'>;
type Writing = Pick<Around, 'mustHold'>;

async function pace({ cluster }: Ports, { target, path, paced }: PaceAgents, { mustHold }: Writing): Promise<Performed> {
  const live = await liveOf(cluster, target);
  const own = pacedIn(live);
  const isMoved = own ? isOverridden(live, path, own) : !sameValue(rollingIn(live, path), paced.former);
  if (isMoved) throw new MovedOn(`somebody has set ${placeText(target, path)}`);
  mustHold();
  await send(cluster, live, paceOps(live, path, paced));
  return { detail: `maxUnavailable ${rollingText(paced.ours)}` };
}

async function unpace(ports: Ports, { target, path }: UnpaceAgents, around: Writing): Promise<Performed> {
  const { cluster } = ports;
  const live = await liveOf(cluster, target);
  const own = pacedIn(live);
  if (own) {
    around.mustHold();
    await send(cluster, live, unpaceOps(live, path));
  }
  await giveUp(ports, { target, path }, own?.owners, around);
  if (!own) return {};
  if (!isOverridden(live, path, own)) return { detail: `maxUnavailable ${rollingText(own.former)}` };
  return { told: `somebody has set ${placeText(target, path)} to ${rollingText(rollingIn(live, path))} meanwhile: it was left` };
}

/** The operator writes its status at any time. */
const ATTEMPTS = 5;

/** Whoever applies it on the server next would meet a conflict with this program. */
async function giveUp({ cluster }: Ports, { target, path }: OfPace, owners: Paced['owners'], { mustHold }: Writing): Promise<void> {
  for (let left = ATTEMPTS; left > 0; left -= 1) {
    const live = await liveOf(cluster, target);
    const ops = giveUpOps(live, path, owners);
    if (ops.length === 0) return;
    mustHold();
    try {
      return await send(cluster, live, ops);
    } catch (thrown) {
      if (!(thrown instanceof MovedOn) || left === 1) throw thrown;
    }
  }
}

async function liveOf(cluster: EnginePorts['cluster'], target: ObjectRef): Promise<KubeObject> {
  const live = await cluster.get(await kindsOf(cluster)(target), target.name);
  if (!live) throw new MovedOn(`${refText(target)} is no longer there`);
  return { ...live, apiVersion: target.apiVersion, kind: target.kind };
}

async function send(cluster: EnginePorts['cluster'], live: KubeObject, ops: readonly JsonPatchOp[]): Promise<void> {
  const { target, uid, patch } = patchOf(live, ops);
  await cluster.patch(await kindsOf(cluster)(target), { ...target, uid }, patch, PACER).catch((thrown: unknown) => {
    const hasMoved = thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status);
    throw hasMoved ? new MovedOn(`${refText(target)} changed meanwhile: ${messageOf(thrown)}`) : thrown;
  });
}

async function tried({ cluster }: Ports, { target }: OfPace, opsOf: (live: KubeObject) => readonly JsonPatchOp[]): Promise<Performed> {
  const live = await liveOf(cluster, target);
  const ops = opsOf(live);
  if (ops.length > 0) await cluster.dryRunPatch(await kindsOf(cluster)(target), target, ops, PACER);
  return {};
}

const placeText = (target: ObjectRef, path: readonly string[]): string => `${path.join('.')}.maxUnavailable of ${refText(target)}`;

/** As a user would set it. */
function textOf({ target: { kind, name }, path }: OfPace, rolling: Paced['ours']): string {
  const change = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), rolling ?? null);
  return command`kubectl patch ${kind.toLowerCase()} ${name} --type=merge -p ${JSON.stringify(change)}`.plain;
}

export const paceEffects: Pick<EffectTypes, 'pace-agents' | 'unpace-agents'> = {
  'pace-agents': {
    does: 'writes',
    isFixed: true,
    perform: pace,
    dryRun: (ports, effect) => tried(ports, effect, (live) => paceOps(live, effect.path, effect.paced)),
    text: (effect) => textOf(effect, effect.paced.ours),
    mask: whole,
    digest: ({ type, target: { kind, name }, paced }) => ({ type, kind, name, paced }),
  },
  'unpace-agents': {
    does: 'writes',
    isFixed: true,
    perform: unpace,
    dryRun: (ports, effect) => tried(ports, effect, (live) => unpaceOps(live, effect.path)),
    text: (effect) => textOf(effect, effect.former),
    mask: whole,
    digest: ({ type, target: { kind, name }, former }) => ({ type, kind, name, former }),
  },
};
