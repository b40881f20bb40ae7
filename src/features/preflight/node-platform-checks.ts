import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { evidenceOf, failIfAny, PROGRAM, type PreflightCheck } from '../survey/index.ts';

interface NodeInfo {
  readonly kernelVersion?: string;
  readonly architecture?: string;
  readonly operatingSystem?: string;
}

function infoOf(node: KubeObject): NodeInfo {
  return (node as { status?: { nodeInfo?: NodeInfo } }).status?.nodeInfo ?? {};
}

export function isWindows(node: KubeObject): boolean {
  return node.metadata.labels?.['kubernetes.io/os'] === 'windows' || infoOf(node).operatingSystem === 'windows';
}

/** Kernel 5.10, or the 4.18 of Red Hat 8 that carries what is needed (domain §13). */
export function kernelTooOld(version: string): boolean {
  const [major, minor] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (major === undefined || minor === undefined || Number.isNaN(major) || Number.isNaN(minor)) return false;
  return (major < 5 || (major === 5 && minor < 10)) && !/\.el8/.test(version);
}

export const nodePlatformChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-424',
    title: 'kernels new enough',
    category: 'nodes',
    severity: 'warning',
    ref: 'domain §13',
    judge: (facts) => {
      const old = read(facts.nodes).filter((node) => !isWindows(node) && kernelTooOld(infoOf(node).kernelVersion ?? ''));
      return failIfAny(
        old.map((node) => evidenceOf(node, `kernel ${infoOf(node).kernelVersion}`)),
        'every kernel is 5.10 or newer',
        (names) => ({
          because: `${counted(old.length, 'node')} with a kernel older than 5.10: ${names}`,
          hint: 'Upgrade the kernel, or try the target on one such node first; the eBPF data plane will not work there.',
          next: 'kubectl get nodes -o wide',
        }),
      );
    },
  },
  {
    id: 'NS-425',
    title: 'processors supported',
    category: 'nodes',
    severity: 'warning',
    ref: 'domain §12/19',
    judge: (facts): Verdict => {
      const nodes = read(facts.nodes).filter((node) => !isWindows(node));
      const doubted = nodes.filter((node) => cpuDoubt(node) !== undefined);
      const hopeless = doubted.some((node) => !ARCHITECTURES.has(infoOf(node).architecture ?? ''));
      if (doubted.length === 0) return undoubted(nodes);
      return failIfAny(
        doubted.map((node) => evidenceOf(node, cpuDoubt(node))),
        '',
        (names) => ({
          because: `${counted(doubted.length, 'node')} whose processor may not run the target's images: ${names}`,
          hint: 'Give the machine a processor model of x86-64-v2 or newer; start the new agent image once on such a node to be sure.',
          next: command`kubectl describe node ${doubted[0]?.metadata.name ?? ''}`,
          severity: hopeless ? 'error' : 'warning',
        }),
      );
    },
  },
  {
    id: 'NS-426',
    title: 'no Windows nodes',
    category: 'nodes',
    severity: 'warning',
    ref: 'domain §12.1',
    judge: (facts) => {
      const windows = read(facts.nodes).filter(isWindows);
      return failIfAny(
        windows.map((node) => evidenceOf(node)),
        'no Windows nodes',
        (names) => ({
          because: `${counted(windows.length, 'Windows node')}, which this procedure does not cover: ${names}`,
          hint: 'Upgrade the agents on Windows by their own instructions right after this run; accept the nodes by name here.',
          next: 'kubectl get nodes -l kubernetes.io/os=windows -o wide',
        }),
      );
    },
  },
];

const ARCHITECTURES = new Set(['amd64', 'arm64', 'ppc64le', 's390x']);
const CPU_LABEL = 'feature.node.kubernetes.io/cpu-cpuid.';

/** What node-feature-discovery shows of x86-64-v2, needed by the target. AVX proves it, as its defaults omit SSE. */
function cpuDoubt(node: KubeObject): string | undefined {
  const { architecture } = infoOf(node);
  if (architecture !== undefined && !ARCHITECTURES.has(architecture)) return `no image for ${architecture}`;
  if (architecture !== 'amd64') return undefined;
  const features = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith(CPU_LABEL));
  const proven = features.some((label) => /^(AVX|SSE42$|SSE4\.2$)/.test(label.slice(CPU_LABEL.length)));
  return features.length > 0 && !proven ? 'its labels show no x86-64-v2 feature' : undefined;
}

/** Without labels nobody says what a processor can: that is no pass. */
function undoubted(nodes: readonly KubeObject[]): Verdict {
  const untold = nodes.filter((node) => infoOf(node).architecture === 'amd64' && !labelled([node]));
  if (untold.length === 0) return ok('processors are supported');
  return notApplicable(
    `${counted(untold.length, 'node')} of amd64 without processor labels: nothing tells whether they are of x86-64-v2. Start the target’s programs on each: ${PROGRAM} preflight --probe-images`,
  );
}

function labelled(nodes: readonly KubeObject[]): boolean {
  return nodes.some((node) => Object.keys(node.metadata.labels ?? {}).some((label) => label.startsWith(CPU_LABEL)));
}
