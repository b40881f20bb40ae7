import { type DataPlane, type InstallPath, isOperated } from './installation.ts';
import { impact, type Step } from './step.ts';

/** What restarts in an upgrade. */
export type Part = 'operator' | 'agents' | 'typha' | 'api' | 'controllers' | 'meshed';

/** What becomes of traffic while a part restarts. */
interface PartTraffic {
  readonly name: string;
  /** Running connections, where they do not depend on the data plane. */
  readonly connections?: string;
  /** What is not possible meanwhile. */
  readonly meanwhile: string;
  /** What was seen of it, and on what: nothing here moves a packet. */
  readonly measured: string;
}

/** Running connections while an agent restarts: by which mechanism they last, or why not. */
export const CONNECTIONS: Readonly<Record<DataPlane, string>> = {
  standard: 'routes and rules stay in the kernel while an agent restarts',
  ebpf: 'connections through a node can break when its agent restarts',
};

/** The one table of traffic: the question before a run, its last lines and docs/use/traffic.md are made from it. */
export const TRAFFIC: Readonly<Record<Part, PartTraffic>> = {
  operator: { name: 'operator', connections: 'not touched', meanwhile: 'changes of the Installation', measured: 'nothing of traffic' },
  agents: {
    name: 'agents, one node at a time unless `maxUnavailable` says more',
    meanwhile: 'on that node: new pods, changed policies',
    measured: 'how many agents are away at once, on simulated nodes; no packet',
  },
  typha: {
    name: 'Typha, if there is one',
    connections: 'not touched: agents reconnect',
    meanwhile: 'changed policies, until an agent is connected again',
    measured: 'with the real operator: at least 29 of 30 simulated agents stay ready; no packet',
  },
  api: {
    name: 'v3 API server, if there is one',
    connections: 'not touched',
    meanwhile: '`kubectl` on `projectcalico.org` objects, about 10 to 90 s',
    measured: 'that it answers again, which is waited for; the time is an estimate',
  },
  controllers: {
    name: 'controllers',
    connections: 'not touched',
    meanwhile: 'new automatic host endpoints, clean-up of IP addresses',
    measured: 'nothing of traffic',
  },
  meshed: {
    name: 'meshed workloads (`alp`)',
    connections: 'end with their pods: each workload’s own rolling update',
    meanwhile: 'as their own rolling update allows',
    measured: 'the order of restarts, on simulated nodes; no packet',
  },
};

const OF_OPERATOR: readonly (readonly Part[])[] = [['operator'], ['agents', 'api', 'controllers'], ['typha'], ['meshed']];
const OF_MANIFEST: readonly (readonly Part[])[] = [['agents'], ['typha'], ['api'], ['controllers'], ['meshed']];

/** What restarts on a path, in its order; what stands together has no order. */
export const restartsOn = (path: InstallPath) => (isOperated({ path }) ? OF_OPERATOR : OF_MANIFEST);

/** Where the data plane could not be read. */
const UNKNOWN = `data plane not known: with iptables or nftables, ${CONNECTIONS.standard}; with eBPF, ${CONNECTIONS.ebpf}`;

/** For the question before agents restart. */
export function trafficText(dataPlane: DataPlane | undefined): string {
  return dataPlane === undefined ? UNKNOWN : CONNECTIONS[dataPlane];
}

export const NOT_MEASURED = 'This program measured no traffic of running pods.';

/** For the last lines, after agents have restarted: with what was measured, where something was. */
export function trafficSentences(dataPlane: DataPlane | undefined, measured?: string): string {
  const text = trafficText(dataPlane);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. ${measured === undefined ? NOT_MEASURED : `Measured: ${measured}.`}`;
}

/** For the last lines, where no part was restarted that forwards packets. */
export const UNTOUCHED = 'Nothing that forwards packets of pods was restarted.';

/** Running connections where a run has stopped: what has restarted by then stays restarted. */
export const STOPPED: Readonly<Record<DataPlane, string>> = {
  standard: 'routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes',
  ebpf: 'connections through nodes whose agent restarted may have broken, those through other nodes are not touched',
};

export function stoppedText(dataPlane: DataPlane | undefined): string {
  return dataPlane === undefined ? `with iptables or nftables, ${STOPPED.standard}; with eBPF, ${STOPPED.ebpf}` : STOPPED[dataPlane];
}

/** What a stop means for pods that run, and then for new ones. Whoever makes it does not know the data plane. */
export function stopImpact(then?: string, withoutNetwork?: string): Step {
  return impact(stoppedText(undefined), then, { ofStop: true, ...(withoutNetwork === undefined ? {} : { withoutNetwork }) });
}

/** The same where it is known. */
export function inDataPlane(step: Step, dataPlane: DataPlane | undefined): Step {
  const { impact: made } = step.more;
  if (!made?.ofStop) return step;
  const { sentences, ...more } = made;
  return impact(stoppedText(dataPlane), sentences[1], more);
}
