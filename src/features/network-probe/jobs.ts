import type { KubeObject } from '../../kernel/object.ts';
import { PROBE_LABEL } from '../survey/index.ts';
import { boundJob, RESTRICTED } from './bound-job.ts';

/** What marks the Jobs and their pods. */
export const NETWORK_PROBE = { [PROBE_LABEL]: 'network' };
export const NETWORK_PROBES = `${PROBE_LABEL}=network`;

/** The name that every cluster resolves. */
export const RESOLVED = 'kubernetes.default.svc';
const PORT = 8080;
export const CONTAINER = 'probe';
const TRIES = 5;

/** Exit codes of the client. */
export const CODES = { reached: 0, noName: 10, noAnswer: 20, neither: 30, noTools: 69 } as const;

/** Answers every connection with its second argument, on the port of its first. */
const LISTENER = `command -v nc >/dev/null || { echo 'the image has no nc'; exit ${CODES.noTools}; }
while :; do printf '%s\\n' "$2" | nc -l -p "$1" || sleep 1; done`;

/**
 * Resolves a name and asks an address for a known answer, for a while, as rules reach a node seconds after its agent is ready. The search
 * domain is appended, because some images' nslookup ignores it; values are arguments, never text of the script.
 */
const CLIENT = `name=$1 address=$2 port=$3 answer=$4 tries=$5 named='' joined='' got=''
for program in nc sleep; do command -v "$program" >/dev/null || { echo "the image has no $program"; exit ${CODES.noTools}; }; done
command -v getent >/dev/null || command -v nslookup >/dev/null || { echo 'the image has neither getent nor nslookup'; exit ${CODES.noTools}; }
resolve() {
  if command -v getent >/dev/null; then getent hosts "$name" >/dev/null 2>&1; return; fi
  whole=$name
  while read -r key rest; do
    if [ "$key" = search ]; then for domain in $rest; do case $domain in svc.*) whole=$name\${domain#svc}.; esac; done; fi
  done </etc/resolv.conf
  case $(nslookup "$whole" 2>&1) in *Name:*Address*) ;; *) return 1 ;; esac
}
while :; do
  [ "$named" ] || { resolve && named=yes; }
  [ "$joined" ] || { got=$(nc -w 3 "$address" "$port" </dev/null 2>&1); [ "$got" = "$answer" ] && joined=yes; }
  [ "$named" ] && [ "$joined" ] && exit ${CODES.reached}
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || break
  sleep 2
done
[ "$named" ] || echo "$name was not resolved"
[ "$joined" ] || echo "no answer from $address port $port: $got"
[ "$joined" ] && exit ${CODES.noName}
[ "$named" ] && exit ${CODES.noAnswer}
exit ${CODES.neither}`;

/** The cluster ends Jobs after this by itself, those of a killed run too, in seconds. */
const ENDS_AFTER = 240;

export interface ProbePlace {
  readonly namespace: string;
  readonly image: string;
  /** Tells the Jobs of one probe from those of another. */
  readonly id: string;
}

export interface Part extends ProbePlace {
  readonly node: string;
  /** `listener-1`. */
  readonly part: string;
}

export function listenerJob(part: Part): KubeObject {
  return job(part, [LISTENER, 'listener', String(PORT), part.id]);
}

export function clientJob(part: Part, address: string): KubeObject {
  return job(part, [CLIENT, 'client', RESOLVED, address, String(PORT), part.id, String(TRIES)]);
}

/** How the Jobs of connections differ. */
interface JobKind {
  readonly labels?: Readonly<Record<string, string>>;
  /** Seconds after which the cluster ends it by itself. */
  readonly endsAfter?: number;
  /** The pod has the network of the node, which the restricted level refuses. */
  readonly hostNetwork?: boolean;
}

/** A pod on that node which the restricted pod security level admits. */
export function job(
  { namespace, image, id, node, part }: Part,
  script: readonly string[],
  { labels = NETWORK_PROBE, endsAfter = ENDS_AFTER, hostNetwork = false }: JobKind = {},
): KubeObject {
  const container = {
    name: CONTAINER,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', ...script],
    resources: { requests: { cpu: '5m', memory: '8Mi' }, limits: { cpu: '200m', memory: '64Mi' } },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: RESTRICTED,
  };
  const pod = { ...(hostNetwork ? { hostNetwork } : {}), containers: [container] };
  return boundJob({ name: `netsvc-upgrade-probe-${id}-${part}`, namespace, labels, node, endsAfter, pod });
}
