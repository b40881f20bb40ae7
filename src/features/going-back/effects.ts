import { command } from '../../kernel/command.ts';
import { counted, timeText } from '../../kernel/counted.ts';
import { spaced, together } from '../../kernel/each-of.ts';
import {
  type Around,
  announced,
  type EffectTypes,
  type EnginePorts,
  type ExpectationTypes,
  type Performed,
  whole,
} from '../../kernel/effect-type.ts';
import { Fault, MovedOn, messageOf, Outdated } from '../../kernel/fault.ts';
import { K, kindsOf, servedKind } from '../../kernel/kinds.ts';
import { type Kind, type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import { persisting } from '../../kernel/persisting.ts';
import { ApiFailure, isPassing } from '../../kernel/ports.ts';
import { AGAIN, look, THEN_AGAIN, text } from '../../kernel/step.ts';
import type { PodFacts } from '../../kube/pod-facts.ts';
import { type ControllersName, isOfOld, type OldImages, readControllers, runningPods, whyRenaming } from './controllers.ts';
import { type NameMove, saysTheSame } from './policy-names.ts';

/** Controllers that rename policies must not run: asked right before each policy. */
export interface NoRenaming {
  readonly controllers: ControllersName;
  readonly old: OldImages;
  /** Older ones rename none. */
  readonly since: string;
}

/** Stores policies under former names: each is created, read back, and only then the other one is deleted. */
interface PutBackNames {
  readonly type: 'put-back-names';
  readonly moves: readonly NameMove[];
  readonly apiGroup: string;
  /** Absent where no controllers ever rename. */
  readonly while?: NoRenaming;
}

/** No pod of a Deployment is left, but for those of the old release. */
interface PodsGone {
  readonly type: 'pods-gone';
  readonly deployment: Pick<ObjectRef, 'name'> & { readonly namespace: string };
  /** An old operator may start them meanwhile. */
  readonly except?: OldImages;
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'put-back-names': PutBackNames;
  }
  interface Expectations {
    readonly 'pods-gone': PodsGone;
  }
}

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;
type Parts = Pick<Around, 'limits' | 'mustHold' | 'stop' | 'report'>;

/** Policies in work at most, unless the user says otherwise. */
const WIDEST = 8;

async function putBackNames(ports: Ports, effect: PutBackNames, parts: Parts): Promise<Performed> {
  const { moves } = effect;
  const { parallel = WIDEST } = parts.limits;
  const mayWrite = together(() => assertNoRenaming(ports.cluster, effect.while));
  const kindOf = kindsOf(ports.cluster);
  const turn = spaced(ports.clock, parts.limits.qps);
  let [done, isOver] = [0, false];
  const failures: unknown[] = [];
  const queue = moves[Symbol.iterator]();
  const worker = async () => {
    for (const move of queue) {
      await turn();
      if (isOver || parts.stop.aborted) return;
      try {
        await mayWrite();
        await putBack({ ...ports, kind: await kindOf(move.from), apiGroup: effect.apiGroup, mustHold: parts.mustHold }, move);
        done += 1;
        parts.report(done, moves.length, 'policies under their former names');
      } catch (thrown) {
        failures.push(thrown);
        // What somebody changed meanwhile is no reason to leave the others.
        isOver ||= !(thrown instanceof MovedOn);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, moves.length) }, worker));
  const fault = failures.find((one) => !(one instanceof MovedOn));
  if (fault !== undefined) throw fault;
  const [moved] = failures;
  if (moved instanceof MovedOn)
    throw new MovedOn(`${failures.length} of ${counted(moves.length, 'policy', 'policies')}: ${moved.message}`, undefined, done > 0);
  if (done < moves.length) throw new Outdated(`stopped after ${done} of ${moves.length}`, undefined, done > 0);
  return { detail: counted(done, 'policy', 'policies') };
}

interface Writing extends Ports {
  readonly kind: Kind;
  readonly apiGroup: string;
  readonly mustHold: () => void;
}

/** At every moment at least one of both stands, with the same rules. */
async function putBack(writing: Writing, { from, resourceVersion, copy, there }: NameMove): Promise<void> {
  if (there?.is === 'stale') await remove(writing, there.ref, there.resourceVersion);
  if (there?.is !== 'equal') await create(writing, copy);
  await assertStored(writing, copy);
  await remove(writing, from, resourceVersion);
}

/** Where no answer came and it was stored all the same, the second request says so. */
async function create({ cluster, clock, kind, apiGroup, mustHold }: Writing, copy: KubeObject): Promise<void> {
  const send = async (attempt: number): Promise<void> => {
    mustHold();
    await cluster.create(kind, copy).catch(async (thrown: unknown) => {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 409) throw thrown;
      const there = attempt === 1 ? undefined : await cluster.get(kind, copy.metadata.name, copy.metadata.namespace);
      if (!there || !saysTheSame(there, copy, apiGroup)) throw new MovedOn(`${refText(refOf(copy))} was created meanwhile`);
    });
  };
  await persisting(clock, send).catch((thrown: unknown) => {
    throw thrown instanceof ApiFailure ? refused(copy, thrown) : thrown;
  });
}

function refused(copy: KubeObject, { message }: ApiFailure): Fault {
  return new Fault('failed', `the server does not store ${refText(refOf(copy))}: ${message}`, [
    'let this account create these policies, or fix what an admission webhook objects to; nothing was deleted',
    THEN_AGAIN,
  ]);
}

/** Read back: an admission webhook may have stored something else. */
async function assertStored({ cluster, kind, apiGroup }: Writing, copy: KubeObject): Promise<void> {
  const { name, namespace } = copy.metadata;
  const stored = await cluster.get(kind, name, namespace);
  if (stored === undefined) throw new MovedOn(`${refText(refOf(copy))} was deleted meanwhile`);
  if (saysTheSame(stored, copy, apiGroup) && stored.metadata.deletionTimestamp === undefined) return;
  const namespaced = namespace === undefined ? [] : ['-n', namespace];
  throw new Fault('failed', `${refText(refOf(copy))} is stored otherwise than it was sent: the policy it is a copy of was left`, [
    look(
      text`see what changed it: ${command`kubectl get ${`${kind.plural}.${kind.group}`} ${name} ${namespaced} -o yaml --show-managed-fields`}`,
    ),
    THEN_AGAIN,
  ]);
}

async function remove({ cluster, clock, kind, mustHold }: Writing, ref: ObjectRef, resourceVersion: string): Promise<void> {
  const send = async (): Promise<void> => {
    mustHold();
    await cluster.remove(kind, ref, resourceVersion);
  };
  await persisting(clock, send).catch((thrown: unknown) => {
    if (!(thrown instanceof ApiFailure) || ![404, 409, 422].includes(thrown.status)) throw thrown;
    // Gone is all that is wanted.
    if (thrown.status !== 404) throw new MovedOn(`${refText(ref)} changed meanwhile: ${messageOf(thrown)}`);
  });
}

/** Throws Fault('blocked') where controllers may rename what is put back. */
async function assertNoRenaming(cluster: EnginePorts['cluster'], expected: NoRenaming | undefined): Promise<void> {
  const found = expected && (await readControllers(cluster, expected.controllers));
  const because = found && whyRenaming(found, expected.old, expected.since);
  if (because === undefined) return;
  throw new Fault('blocked', `the new controllers rename policies again as soon as they run: ${because}`, [
    'find out what starts them (GitOps, an autoscaler), and pause it',
    THEN_AGAIN,
  ]);
}

/** More than these are only announced by a dry run. */
const TRIED = 100;

const POLL_MS = 1_000;

async function waitGone({ cluster, clock }: Ports, gone: PodsGone, wait: Parts & { timeoutMs: number }) {
  const { namespace, name } = gone.deployment;
  const until = clock.now().getTime() + wait.timeoutMs;
  let most = 0;
  for (;;) {
    const isLast = clock.now().getTime() >= until;
    const left = await readLeft(cluster, gone).catch((thrown: unknown) => {
      if (isLast || !isPassing(thrown)) throw thrown;
      return undefined;
    });
    if (left?.length === 0) return {};
    most = Math.max(most, left?.length ?? 0);
    if (left) wait.report(most - left.length, most, 'pods stopped', left[0] && whereText(left[0]));
    if (isLast && left) throw stillThere(left, wait.timeoutMs);
    if (wait.stop.aborted) throw new Fault('interrupted', `stopped while the pods of Deployment/${namespace}/${name} end`, [AGAIN]);
    await clock.sleep(POLL_MS, wait.stop).catch(() => undefined);
  }
}

async function readLeft(
  cluster: EnginePorts['cluster'],
  { deployment: { name, namespace }, except }: PodsGone,
): Promise<readonly PodFacts[]> {
  const deployment = await cluster.get(K.Deployment, name, namespace);
  const pods = deployment ? await runningPods(cluster, deployment) : [];
  return pods.filter(({ images }) => !except || !isOfOld(images[except.container] ?? '', except));
}

/** `Pod/kube-system/calico-kube-controllers-… on node n1`. */
function whereText({ namespace, name, node }: PodFacts): string {
  return `Pod/${namespace}/${name}${node === '' ? '' : ` on node ${node}`}`;
}

function stillThere(left: readonly PodFacts[], timeoutMs: number): Fault {
  const [first] = left;
  const where = first ? whereText(first) : '';
  return new Fault('timeout', `${counted(left.length, 'pod')} of the new controllers still there after ${timeText(timeoutMs)}: ${where}`, [
    text`see why it does not end: ${command`kubectl get pods -A -o wide --field-selector=metadata.name=${first?.name ?? ''}`}`,
    'a pod of a node that is gone ends when its Node object is deleted',
    THEN_AGAIN,
  ]);
}

export const goingBackEffects: Pick<EffectTypes, 'put-back-names'> = {
  'put-back-names': {
    does: 'writes',
    isFixed: false,
    perform: putBackNames,
    async dryRun({ cluster }, { moves }) {
      const created = moves.filter(({ there }) => there === undefined);
      if (created.length > TRIED) return announced();
      await Promise.all(created.map(async ({ copy }) => cluster.dryRunCreate(await servedKind(cluster, refOf(copy)), copy)));
      return {};
    },
    text: ({ moves }) =>
      `create ${counted(moves.length, 'policy', 'policies')} under former names, read each back, then delete the one under the new name`,
    mask: whole,
    digest: ({ type, moves }) => ({ type, moves: moves.map(({ from, copy, there }) => ({ from, copy, is: there?.is })) }),
  },
};

export const goingBackExpectations: Pick<ExpectationTypes, 'pods-gone'> = {
  'pods-gone': { wait: waitGone, text: ({ deployment: { namespace, name } }) => `every pod of Deployment/${namespace}/${name} to end` },
};
