import { command } from '../../kernel/argv.ts';
import { type Fault, PodFault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { seePod } from '../../kernel/pod-look.ts';
import { AGAIN, impact, means, says, text } from '../../kernel/step.ts';
import { conditionOf, NOT_YET, podShape } from '../../kube/pod-facts.ts';
import { HELD_ON, type HeldFor, heldBy, keptOff, meaningOf, ofCanary, shortText, withoutNetwork } from '../rollout/index.ts';
import type { AgentOnNode, AgentsOf } from './agents.ts';
import { CODES, CONTAINER, RESOLVED } from './jobs.ts';

/** What a pod of the probe says: it runs, it has ended, or why it does neither. */
export type PodSays =
  | { readonly state: 'runs'; readonly address: string }
  | { readonly state: 'ended'; readonly code: number; readonly says: string }
  | { readonly state: 'waits' | 'refused'; readonly why: string };

/** What the pod of a Job says; `undefined`: it has none yet. */
export function podSays(pod: KubeObject | undefined): PodSays {
  if (!pod) return { state: 'waits', why: 'no pod was created' };
  const { phase, podIP = '', containerStatuses = [], reason = '', message = '' } = podShape(pod).status ?? {};
  // A mesh may have put others beside it.
  const { waiting, terminated } = containerStatuses.find(({ name }) => name === CONTAINER)?.state ?? {};
  if (terminated) return { state: 'ended', code: terminated.exitCode ?? 0, says: terminated.message ?? terminated.reason ?? '' };
  if (phase === 'Failed') return { state: 'refused', why: [reason, message].filter((one) => one !== '').join(': ') || 'its pod failed' };
  if (phase === 'Running' && podIP !== '') return { state: 'runs', address: podIP };
  if (waiting && !NOT_YET.has(waiting.reason ?? '')) {
    return { state: 'refused', why: [waiting.reason, waiting.message].filter((one) => one).join(': ') };
  }
  const scheduled = conditionOf(pod, 'PodScheduled');
  return {
    state: 'waits',
    why: scheduled?.status === 'False' ? `not scheduled: ${scheduled.message ?? ''}` : 'its container did not start in time',
  };
}

/** What was found on the way from one node to another; `no-sandbox`: a new pod on the first gets no network at all. */
export interface Found {
  readonly from: AgentOnNode;
  readonly to: AgentOnNode;
  readonly lacks: 'nothing' | 'name' | 'answer' | 'both' | 'no-sandbox';
  readonly says: string;
}

/** What came of one probe: what was found, or why nothing could be. */
export type Probed = { readonly found: readonly Found[] } | { readonly unmade: string };

const LACKS: Readonly<Record<number, Found['lacks']>> = {
  [CODES.reached]: 'nothing',
  [CODES.noName]: 'name',
  [CODES.noAnswer]: 'answer',
  [CODES.neither]: 'both',
};

/** Of a client that has ended. Any other exit code is one of the image, and says nothing of the network. */
export function foundBy(
  from: AgentOnNode,
  to: AgentOnNode,
  { code, says }: { readonly code: number; readonly says: string },
): Found | string {
  const lacks = LACKS[code];
  return lacks === undefined ? `the client on ${from.node} ended with exit code ${code}: ${shortText(says)}` : { from, to, lacks, says };
}

/** `node-01 and node-03 reach each other and resolve kubernetes.default.svc`. */
export function reachedText(found: readonly Found[]): string {
  const [first] = found;
  if (!first) return '';
  const { from, to } = first;
  const names =
    from.node === to.node ? `pods on ${from.node} reach each other` : `pods on ${nodeText(from)} and ${nodeText(to)} reach each other`;
  return `${names}, and resolve ${RESOLVED}${from.node === to.node ? '; no second node takes pods' : ''}`;
}

const nodeText = ({ node, is }: AgentOnNode) => `${node} (${is})`;

interface FaultAround {
  readonly agents: AgentsOf;
  readonly namespace: string;
  /** Not every node has its new agent yet. */
  readonly isRolling: boolean;
  readonly heldFor?: HeldFor;
}

/** The fault that ends the wait; undefined where everything was reached. */
export function networkFault(found: readonly Found[], { agents, namespace, isRolling, heldFor }: FaultAround): Fault | undefined {
  const failed = found.filter(({ lacks }) => lacks !== 'nothing');
  const [first] = failed;
  if (!first) return undefined;
  const known = meaningOf(failed.map(({ says }) => says));
  const { namespace: at, container } = agents;
  const pods = suspectsOf(failed).map(({ pod }) => ({ namespace: at, name: pod, log: { container, of: 'running' } as const }));
  const nodes = [...new Set(failed.flatMap(({ from, to }) => [from.node, to.node]))].join(', ');
  const steps = [
    ...pods.map(seePod),
    means(known ?? meansOf(failed)),
    ...failed.flatMap(({ from, says: said }) =>
      said === '' ? [] : [says(`the pod on ${from.node} says: ${shortText(said.trim().replaceAll('\n', '; '))}`)],
    ),
    ...(first.lacks === 'no-sandbox'
      ? [withoutNetwork(first.from.node), keptOff([first.from.node])]
      : [
          impact(`running pods on ${nodes} may have lost the same connections: test an application there now, and go back if it fails`),
          text`a policy that denies this traffic looks the same: ${command`kubectl get networkpolicies -n ${namespace}`}`,
        ]),
    // An operator puts back what it is not told itself.
    ...(heldFor ? [HELD_ON] : isRolling && 'image' in agents.runs ? [heldBy(agents)] : []),
    text`fix the cause, then ${AGAIN}`,
  ];
  return new PodFault('stopped', ofCanary(factsOf(failed), heldFor), steps, pods);
}

/** What failed, in one line. */
export function factsOf(found: readonly Found[]): string {
  return found
    .filter(({ lacks }) => lacks !== 'nothing')
    .map(factOf)
    .join('; ');
}

/** True if everything that pods lack in the one probe they lack in the other as well. */
export function lackTheSame(other: readonly Found[], found: readonly Found[]): boolean {
  const there = lackedIn(other);
  return lackedIn(found).every((one) => there.includes(one));
}

function lackedIn(found: readonly Found[]): readonly Found['lacks'][] {
  return found.flatMap(({ lacks }) => (lacks === 'both' ? (['name', 'answer'] as const) : lacks === 'nothing' ? [] : [lacks]));
}

function factOf({ from, to, lacks }: Found): string {
  if (lacks === 'no-sandbox') return `a new pod on ${nodeText(from)} gets no network`;
  const where = from.node === to.node ? `another pod there` : `a pod on ${nodeText(to)}`;
  const what = {
    nothing: '',
    name: `does not resolve ${RESOLVED}, but reaches ${where}`,
    answer: `does not reach ${where}`,
    both: `does not reach ${where}, and does not resolve ${RESOLVED}`,
  }[lacks];
  return `a new pod on ${nodeText(from)} ${what}`;
}

/** The nodes to look at: upgraded ends of what failed, as those were changed; an old one only if no other is concerned. */
function suspectsOf(failed: readonly Found[]): readonly AgentOnNode[] {
  const first = failed.toSorted((a, b) => Number(b.lacks !== 'answer') - Number(a.lacks !== 'answer'));
  const ends = first.flatMap(({ from, to, lacks }) => (lacks === 'answer' || lacks === 'both' ? [from, to] : [from]));
  const nodes = [...new Map(ends.map((one) => [one.node, one])).values()];
  const upgraded = nodes.filter(({ is }) => is === 'upgraded');
  return upgraded.length > 0 ? upgraded : nodes;
}

function meansOf(failed: readonly Found[]): string {
  if (failed.some(({ lacks }) => lacks === 'no-sandbox')) return 'the CNI plugin or the agent of that node does not set up new pods';
  if (failed.every(({ lacks }) => lacks === 'name'))
    return 'pods reach each other, so the way to the DNS Service is what fails: kube-proxy, or the node of the DNS pods';
  const across = failed.some(({ from, to }) => from.node !== to.node);
  return across
    ? 'packets between these nodes are lost: routes, encapsulation (with VXLAN also checksum offload), or a firewall between them'
    : 'pods of this node do not even reach each other: its agent has not set up their interfaces';
}
