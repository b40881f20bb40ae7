import type { KubeObject } from '../../kernel/object.ts';
import { parseImage } from '../../kernel/release.ts';
import { boundJob, RESTRICTED } from '../network-probe/index.ts';
import { PROBE_LABEL } from '../survey/index.ts';
import type { AgentNeeds, HostMount } from './agent-needs.ts';

/** What marks the Jobs and their pods. */
export const NODE_PROBE = { [PROBE_LABEL]: 'nodes' };
export const NODE_PROBES = `${PROBE_LABEL}=nodes`;

/** Names of Jobs begin with it, and so do those of their pods. */
export const JOB_PREFIX = 'netsvc-upgrade-node-';

export const AGENT = 'agent';

/** No image has it: a container that cannot start proves the pull. */
export const NO_PROGRAM = '/netsvc-upgrade-probe-runs-nothing';

const TOLD = '/dev/termination-log';

/**
 * Tells what it finds, and at last runs the program of the image, so that it ends as that one does. It writes nowhere but to its own message:
 * ports are read, never bound. Values are arguments, never text of the script.
 */
export const SCRIPT = `ports=$1 name=$2; shift 2
tell() { echo "$*" >>${TOLD}; }
for file in /proc/net/tcp /proc/net/tcp6; do
  [ -r "$file" ] || continue
  while read -r _ local _ state _; do
    [ "$state" = 0A ] || continue
    case " $ports " in *" \${local##*:} "*) tell "port \${local##*:}" ;; esac
  done <"$file"
done
while read -r line; do
  tail=\${line##* - }
  place=\${line#* * * * }; place=\${place%% *}
  options=\${tail##* }
  case ",$options," in *,ro,*) tell "ro $place" ;; esac
done </proc/self/mountinfo
if [ "$name" ]; then
  if command -v getent >/dev/null 2>&1; then
    if getent hosts "$name" >/dev/null 2>&1; then tell "name yes"; else tell "name no"; fi
  else tell "name untried"; fi
fi
tell done
if command -v "$1" >/dev/null 2>&1; then exec "$@"; fi
tell "program $1"`;

export interface ProbeParts {
  readonly namespace: string;
  /** Tells the Jobs of one probe from those of another. */
  readonly id: string;
  readonly node: string;
  readonly part: string;
  readonly needs: AgentNeeds | undefined;
  /** Of the target, the agent's among them. */
  readonly images: readonly string[];
  /** Names of Secrets in that namespace; none is mounted. */
  readonly pullSecrets: readonly string[];
  /** How programs say their version, by the last part of their image's name. */
  readonly versionCommands: Readonly<Record<string, readonly string[]>>;
  /** Seconds after which the cluster ends the Job by itself. */
  readonly endsAfter: number;
}

/** What an agent mounts as `…OrCreate`, or without a type, is mounted where it exists, and never created. */
export function typeOfProbe({ type, tried }: Pick<HostMount, 'type' | 'tried'>): string {
  if (tried === 'above') return 'Directory';
  if (type === '' || type === 'DirectoryOrCreate') return tried ? 'File' : 'Directory';
  if (type === 'FileOrCreate') return tried ? 'Directory' : 'File';
  return type;
}

/** On that node, built from nothing: what the agent needs of its host is all that it has. */
export function probeJob(parts: ProbeParts): KubeObject {
  const { namespace, id, node, part, needs, pullSecrets, endsAfter } = parts;
  const pod = {
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: needs && needs.tolerations.length > 0 ? needs.tolerations : [{ operator: 'Exists' }],
    ...(needs?.hostNetwork ? { hostNetwork: true } : {}),
    ...(needs?.dnsPolicy === undefined ? {} : { dnsPolicy: needs.dnsPolicy }),
    ...(pullSecrets.length > 0 ? { imagePullSecrets: pullSecrets.map((name) => ({ name })) } : {}),
    containers: [...containersOf(parts.images, needs)].map(([image, name]) =>
      needs && name === AGENT ? agentContainer(needs, parts) : imageContainer(image, name, parts),
    ),
    ...(needs ? { volumes: volumesOf(needs.mounts) } : {}),
  };
  return boundJob({ name: `${JOB_PREFIX}${id}-${part}`, namespace, labels: NODE_PROBE, node, endsAfter, pod });
}

/** Names of containers by image, that of the agent first. */
export function containersOf(images: readonly string[], needs: Pick<AgentNeeds, 'image'> | undefined): ReadonlyMap<string, string> {
  const others = images.filter((image) => image !== needs?.image);
  const named = others.map((image, index) => [image, `image-${index + 1}`] as const);
  return new Map([...(needs ? [[needs.image, AGENT] as const] : []), ...named]);
}

/** The pod alone, for the server to evaluate. */
export function podOf(job: KubeObject): KubeObject {
  const { template } = job.spec as { readonly template: { readonly metadata: object; readonly spec: object } };
  const { name, namespace = '' } = job.metadata;
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name, namespace }, spec: template.spec };
}

function agentContainer({ image, mounts, isPrivileged, resources, ports, resolves = '' }: AgentNeeds, { versionCommands }: ProbeParts) {
  const hex = ports.map((port) => port.toString(16).toUpperCase().padStart(4, '0')).join(' ');
  return {
    name: AGENT,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', SCRIPT, 'probe', hex, resolves, ...(versionCommands[parseImage(image).name] ?? ['true'])],
    resources,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: isPrivileged ? { privileged: true, readOnlyRootFilesystem: true } : RESTRICTED,
    volumeMounts: mounts.map(({ volume, mountPath, propagation }) => ({
      name: volume,
      mountPath,
      readOnly: true,
      ...(propagation === undefined ? {} : { mountPropagation: propagation }),
    })),
  };
}

function imageContainer(image: string, name: string, { versionCommands }: ProbeParts) {
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: versionCommands[parseImage(image).name] ?? [NO_PROGRAM],
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: { requests: { cpu: '1m', memory: '4Mi' }, limits: { cpu: '200m', memory: '128Mi' } },
    securityContext: RESTRICTED,
  };
}

function volumesOf(mounts: readonly HostMount[]) {
  const byName = new Map(mounts.map((one) => [one.volume, one]));
  return [...byName.values()].map((one) => ({ name: one.volume, hostPath: { path: one.path, type: typeOfProbe(one) } }));
}
