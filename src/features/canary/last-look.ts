import { command } from '../../kernel/command.ts';
import type { Around, EnginePorts, ExpectationTypes } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { nodeCommand } from '../../kernel/pod-look.ts';
import { ApiFailure, type Clock } from '../../kernel/ports.ts';
import { againAs, look, type Step, text } from '../../kernel/step.ts';
import { leanPod } from '../../kube/lean-objects.ts';
import { podFacts } from '../../kube/pod-facts.ts';
import { nodesOf, type RefusedPod, refusedFault, refusedPods, shortText } from '../rollout/index.ts';
import { nodesText } from './choice.ts';

/** A look may take this long, as nobody waits longer for a canary that is ready. Milliseconds. */
const LOOK_MS = 2_000;
/** Kubelets try again within 15 s, and the CNI plugin takes its time: 45 s. Counted, as a clock may be set meanwhile. */
const LOOKS = 23;

/** The agents of a canary, all new and ready. */
export interface CanaryAgents {
  readonly namespace: string;
  readonly selector: string;
  readonly nodes: readonly string[];
  /** Nodes with pods that have no network, which do not fail it. */
  readonly maxFailed: number;
}

/** New pods beside these agents get a network: looked at once more at the end of a canary. */
interface NewPods extends CanaryAgents {
  readonly type: 'new-pods';
}

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'new-pods': NewPods;
  }
}

export const canaryExpectations: Pick<ExpectationTypes, 'new-pods'> = {
  'new-pods': {
    async wait(ports, canary, around) {
      const { step, isClear } = await lookAtNewPods(ports, canary, around);
      if (!isClear) around.warn(step.text);
      return {};
    },
    text: ({ nodes }) => `pods that start on ${nodesText(nodes)} to get a network`,
    // Nodes join meanwhile, and agents that somebody deletes are new.
    digest: ({ type, namespace, selector }) => ({ type, namespace, selector }),
  },
};

/** Longer than any look takes. */
export const NEW_PODS_MS = (LOOKS + 1) * 2 * LOOK_MS;

/** For the user to read; `isClear`: no pod is known to have no network. */
interface Looked {
  readonly step: Step;
  readonly isClear: boolean;
  /** It was waited for pods. */
  readonly tookTime: boolean;
}

/**
 * What is known of the network of new pods beside the agents. Takes time only where a pod was refused one, until it is tried again.
 * Throws Fault('stopped') where it still has none.
 */
export async function lookAtNewPods(
  { cluster, clock }: Pick<EnginePorts, 'cluster' | 'clock'>,
  canary: CanaryAgents,
  { stop, report }: Pick<Around, 'stop' | 'report'>,
): Promise<Looked> {
  for (let looks = 1; ; looks += 1) {
    const seen = await withinTime(clock, refusedBeside(cluster, canary));
    const tookTime = looks > 1;
    if (typeof seen === 'string') return { step: unseen(canary, seen), isClear: false, tookTime };
    if (nodesOf(seen).length <= canary.maxFailed) return { step: seenOf(canary, seen), isClear: seen.length === 0, tookTime };
    if (looks >= LOOKS) throw refusedFault(seen, 'canary');
    report(0, seen.length, `pods that wait for a network on ${nodesText(nodesOf(seen))}`);
    await clock.sleep(LOOK_MS, stop).catch((thrown: unknown) => {
      throw stop.aborted ? new Fault('interrupted', 'stopped while pods waited for a network', [againAs('it resumes')]) : thrown;
    });
  }
}

async function withinTime<T>(clock: Clock, look: Promise<T>): Promise<T | string> {
  const cut = new AbortController();
  const late = clock.sleep(LOOK_MS, cut.signal).then(
    () => `it took longer than ${LOOK_MS / 1000} s`,
    () => '',
  );
  return Promise.race([look, late]).finally(() => cut.abort());
}

/** The server's words where it does not answer. */
async function refusedBeside(cluster: EnginePorts['cluster'], canary: CanaryAgents): Promise<readonly RefusedPod[] | string> {
  const { namespace, selector, nodes, maxFailed } = canary;
  try {
    return await refusedPods(cluster, {
      // Whatever the kubelet's clock says: the pod is younger than the agent.
      isDue: ({ source }) => nodes.includes(source?.host ?? ''),
      async agentMadeAt(node) {
        const where = { namespace, labelSelector: selector, fieldSelector: `spec.nodeName=${node}`, keep: leanPod };
        const made = (await cluster.list(K.Pod, where)).map((pod) => podFacts(pod).createdAt);
        return made.length > 0 ? Math.max(...made) : undefined;
      },
      maxFailed,
    });
  } catch (thrown) {
    if (thrown instanceof ApiFailure) return shortText(thrown.message);
    throw thrown;
  }
}

function unseen({ nodes }: CanaryAgents, why: string): Step {
  return look(text`whether new pods on ${nodesText(nodes)} get a network was not seen (${why}): ${podsOn(nodes)}`);
}

function seenOf({ nodes }: CanaryAgents, accepted: readonly RefusedPod[]): Step {
  const [first] = accepted;
  if (!first)
    return look(text`no new pod on ${nodesText(nodes)} is known to have no network; only pods that start there show it: ${podsOn(nodes)}`);
  const see = command`kubectl -n ${first.namespace} describe pod ${first.pod}`;
  return look(text`accepted by --max-failed: new pods on ${nodesText(nodesOf(accepted))} get no network: ${see}`);
}

const podsOn = ([first = '']: readonly string[]) => nodeCommand(first);
