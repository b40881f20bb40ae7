import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { canonicalAddress, isIPv4, isIPv6 } from '../../kernel/ip-text.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { internalAddresses } from '../../kube/lean-objects.ts';
import { conditionOf, nodeFacts } from '../../kube/pod-facts.ts';
import { envOf, findWorkload, serviceWorkloads } from '../rollout/index.ts';
import { evidenceOf, failIfAny, type PreflightCheck, table, withInstallation } from '../survey/index.ts';

export const nodesChecks: readonly PreflightCheck[] = table({ category: 'nodes', severity: 'warning', ref: 'domain §12/37' }, [
  {
    id: 'NS-421',
    title: 'nodes Ready',
    severity: 'error',
    judge: (facts): Verdict => {
      const nodes = read(facts.nodes);
      const down = nodes.filter((node) => !nodeFacts(node).ready);
      const evidence = down.map((node) => evidenceOf(node, nodeFacts(node).reason));
      return failIfAny(evidence, `${counted(nodes.length, 'node')} Ready`, (names) => ({
        because: `${down.length} of ${counted(nodes.length, 'node')} not Ready: ${names}`,
        hint: 'Repair or remove them: the rolling update stops at a node whose pod cannot start.',
        next: command`kubectl describe node ${down[0]?.metadata.name ?? ''}`,
      }));
    },
  },
  {
    id: 'NS-422',
    title: 'no node cordoned',
    judge: (facts) => {
      const cordoned = read(facts.nodes).filter((node) => nodeFacts(node).unschedulable);
      const evidence = cordoned.map((node) => evidenceOf(node));
      return failIfAny(evidence, 'no node is cordoned', (names) => ({
        because: `${counted(cordoned.length, 'node')} cordoned: ${names}`,
        hint: 'Uncordon them or finish their maintenance: agents still run there, other pods of the service cannot move there.',
        fix: repairCommand`kubectl uncordon ${cordoned[0]?.metadata.name ?? ''}`,
        next: command`kubectl describe node ${cordoned[0]?.metadata.name ?? ''}`,
      }));
    },
  },
  {
    id: 'NS-423',
    title: 'no node under pressure',
    severity: 'error',
    judge: (facts) => {
      const pressed = read(facts.nodes).filter((node) => pressuresOf(node).length > 0);
      const evidence = pressed.map((node) => evidenceOf(node, pressuresOf(node).join(', ')));
      return failIfAny(evidence, 'no node reports pressure', (names) => ({
        because: `${counted(pressed.length, 'node')} under pressure: ${names}`,
        hint: 'Free the resource first: new images may not be pulled and new pods may be evicted there.',
        next: command`kubectl describe node ${pressed[0]?.metadata.name ?? ''}`,
      }));
    },
  },
  /** A restarted agent detects the address of its node again; by the first interface it finds, that may be another one. */
  {
    id: 'NS-428',
    title: 'nodes keep the addresses of their agents',
    ref: 'domain §12',
    judge: withInstallation((installation, facts, { profile }): Verdict => {
      const agent = serviceWorkloads(installation, profile)?.agent;
      if (!agent || installation.datastore !== 'api') return notApplicable('the addresses that the agents use are not on the nodes');
      const live = findWorkload(read(facts.daemonSets), agent);
      const families = FAMILIES.filter(({ method }) => (envOf(live, agent.container, method) ?? FIRST_FOUND) === FIRST_FOUND);
      const methods = families.map(({ method }) => method).join(', ');
      if (families.length === 0) return ok(`${FAMILIES.map(({ method }) => method).join(' and ')} are set`);
      const foreign = read(facts.nodes).flatMap((node) =>
        families.flatMap(({ annotation }) => foreignAddress(node, `${profile.apiGroup}/${annotation}`)),
      );
      return failIfAny(foreign, 'every node has the address that its agent uses', (names) => ({
        because: `${counted(foreign.length, 'node')} whose agent uses an address that Kubernetes does not know: ${names}. The new agent detects the address again, and may find another one`,
        hint: `Set ${methods} of the agents (an operator has nodeAddressAutodetectionV4 and V6) to kubernetes-internal-ip, or to the interface that you want, before the upgrade.`,
        next: command`kubectl get nodes -o wide`,
      }));
    }),
  },
  {
    id: 'NS-424',
    title: 'kernels new enough',
    ref: 'domain §13',
    judge: (facts) => {
      const old = read(facts.nodes).filter((node) => !isWindows(node) && kernelTooOld(infoOf(node, 'kernelVersion')));
      const evidence = old.map((node) => evidenceOf(node, `kernel ${infoOf(node, 'kernelVersion')}`));
      return failIfAny(evidence, 'every kernel is 5.10 or newer', (names) => ({
        because: `${counted(old.length, 'node')} with a kernel older than 5.10: ${names}`,
        hint: 'Upgrade the kernel, or try the target on one such node first; the eBPF data plane will not work there.',
        next: command`kubectl get nodes -o wide`,
      }));
    },
  },
  {
    id: 'NS-425',
    title: 'processors supported',
    ref: 'domain §12/19',
    judge: (facts): Verdict => {
      const nodes = read(facts.nodes).filter((node) => !isWindows(node));
      const doubted = nodes.filter((node) => cpuDoubt(node) !== undefined);
      const hopeless = doubted.some((node) => !ARCHITECTURES.has(infoOf(node, 'architecture')));
      if (doubted.length === 0) return undoubted(nodes);
      const evidence = doubted.map((node) => evidenceOf(node, cpuDoubt(node)));
      return failIfAny(evidence, '', (names) => ({
        because: `${counted(doubted.length, 'node')} whose processor may not run the target's images: ${names}`,
        hint: 'Give the machine a processor model of x86-64-v2 or newer; start the new agent image once on such a node to be sure.',
        next: command`kubectl describe node ${doubted[0]?.metadata.name ?? ''}`,
        severity: hopeless ? 'error' : 'warning',
      }));
    },
  },
  {
    id: 'NS-426',
    title: 'no Windows nodes',
    ref: 'domain §12.1',
    judge: (facts) => {
      const windows = read(facts.nodes).filter(isWindows);
      const evidence = windows.map((node) => evidenceOf(node));
      return failIfAny(evidence, 'no Windows nodes', (names) => ({
        because: `${counted(windows.length, 'Windows node')}, which this procedure does not cover: ${names}`,
        hint: 'Upgrade the agents on Windows by their own instructions right after this run; accept the nodes by name here.',
        next: command`kubectl get nodes -l kubernetes.io/os=windows -o wide`,
      }));
    },
  },
]);

const PRESSURES = ['DiskPressure', 'MemoryPressure', 'PIDPressure'] as const;

function pressuresOf(node: KubeObject): readonly string[] {
  return PRESSURES.filter((type) => conditionOf(node, type)?.status === 'True');
}

const FIRST_FOUND = 'first-found';
const FAMILIES = [
  { method: 'IP_AUTODETECTION_METHOD', annotation: 'IPv4Address' },
  { method: 'IP6_AUTODETECTION_METHOD', annotation: 'IPv6Address' },
] as const;

function foreignAddress(node: KubeObject, key: string): readonly Evidence[] {
  const used = node.metadata.annotations?.[key]?.split('/')[0];
  const addresses = jsonAt(node.status, 'addresses');
  if (!used || !Array.isArray(addresses)) return [];
  const known = addresses.map((one) => textAt(one, 'address') ?? '');
  const canonical = canonicalAddress(used) ?? used;
  // A kubelet may know addresses of one family only: of the other it says nothing.
  const family = known.filter((one) => one.includes(':') === used.includes(':') && (isIPv4(one) || isIPv6(one)));
  if (used.includes(':') && family.length === 0) return [];
  if (known.some((one) => (canonicalAddress(one) ?? one) === canonical)) return [];
  return [evidenceOf(node, `its agent uses ${used}, Kubernetes has ${internalAddresses(node).join(', ')}`)];
}

const ARCHITECTURES = new Set(['amd64', 'arm64', 'ppc64le', 's390x']);
const CPU_LABEL = 'feature.node.kubernetes.io/cpu-cpuid.';

/** What node-feature-discovery shows of x86-64-v2, needed by the target. AVX proves it, as its defaults omit SSE. */
function cpuDoubt(node: KubeObject): string | undefined {
  const architecture = infoOf(node, 'architecture');
  if (architecture !== '' && !ARCHITECTURES.has(architecture)) return `no image for ${architecture}`;
  if (architecture !== 'amd64') return undefined;
  const features = cpuLabels(node);
  const proven = features.some((label) => /^(AVX|SSE42$|SSE4\.2$)/.test(label.slice(CPU_LABEL.length)));
  return features.length > 0 && !proven ? 'its labels show no x86-64-v2 feature' : undefined;
}

/** Without labels nobody says what a processor can: that is no pass. */
function undoubted(nodes: readonly KubeObject[]): Verdict {
  const untold = nodes.filter((node) => infoOf(node, 'architecture') === 'amd64' && cpuLabels(node).length === 0);
  if (untold.length === 0) return ok('processors are supported');
  return notApplicable(
    `${counted(untold.length, 'node')} of amd64 without processor labels: nothing tells whether they are of x86-64-v2. Start the target’s programs on each with preflight --probe-nodes all`,
  );
}

function cpuLabels({ metadata }: KubeObject): readonly string[] {
  return Object.keys(metadata.labels ?? {}).filter((label) => label.startsWith(CPU_LABEL));
}

function infoOf({ status }: KubeObject, field: 'kernelVersion' | 'architecture' | 'operatingSystem'): string {
  return textAt(status, 'nodeInfo', field) ?? '';
}

export function isWindows(node: KubeObject): boolean {
  return node.metadata.labels?.['kubernetes.io/os'] === 'windows' || infoOf(node, 'operatingSystem') === 'windows';
}

/** Major and minor of the oldest Linux kernel that the target is tested with (domain §13). */
export const OLDEST_KERNEL = [5, 10] as const;

/** The 4.18 of Red Hat 8 carries what is needed. */
function kernelTooOld(version: string): boolean {
  const [major, minor] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (major === undefined || minor === undefined || Number.isNaN(major) || Number.isNaN(minor)) return false;
  const [oldest, oldestMinor] = OLDEST_KERNEL;
  return (major < oldest || (major === oldest && minor < oldestMinor)) && !/\.el8/.test(version);
}
