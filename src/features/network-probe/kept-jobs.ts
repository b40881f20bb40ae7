import type { KubeObject } from '../../kernel/object.ts';
import { PROBE_LABEL } from '../survey/index.ts';
import { CODES, job, type Part } from './jobs.ts';

/** What marks the Jobs of connections and their pods. */
const KEPT = { [PROBE_LABEL]: 'connections' };
export const KEPT_PROBES = `${PROBE_LABEL}=connections`;

/** Of a listener: two for each that connects, so that a new connection waits for no old one's end. */
const PORT = 8080;
const PORTS_EACH = 2;
/** A connection on which nothing comes for so long counts as broken: many clients give up then. Seconds. */
const SILENT_AFTER = 30;

/** Shared by both programs: what they need of the image, and how often something is sent. */
const NEEDS = `for program in nc sleep; do command -v "$program" >/dev/null || { echo "the image has no $program"; exit ${CODES.noTools}; }; done
beat=0.2; sleep "$beat" 2>/dev/null || beat=1`;

/** Sends a numbered line on each of its connections again and again, one connection a port. */
const LISTENER = `word=$1 port=$2 last=$3
${NEEDS}
feed() { n=0; while echo "$word $n"; do n=$((n + 1)); sleep "$beat"; done 2>/dev/null; }
serve() { while :; do feed | nc -l -p "$1" >/dev/null 2>&1; sleep "$beat"; done; }
while [ "$port" -le "$last" ]; do serve "$port" & port=$((port + 1)); done
wait`;

/**
 * Keeps a connection to each address and times the lines that come, by the node's own clock since its start (hundredths of a second).
 * Each report has all figures since the beginning, so that the last one is enough. Values are arguments, never text of the script.
 */
const HOLDER = `word=$1 silent=$2; shift 2
${NEEDS}
(echo x | { read -r -t 5 line && [ "$line" = x ]; }) 2>/dev/null || { echo 'the shell of the image has no read -t'; exit ${CODES.noTools}; }
[ -r /proc/uptime ] || { echo 'the image has no /proc/uptime'; exit ${CODES.noTools}; }
echo "beat $beat"
now() { read -r up _ </proc/uptime; now=\${up%.*}\${up#*.}; }
feed() { while echo; do sleep "$beat"; done 2>/dev/null; }
dial() {
  tries=0
  while :; do
    feed | nc "$1" $(($2 + tries % ${PORTS_EACH})) 2>&1 &
    echo "pid $!"
    wait $!
    echo; echo end
    tries=$((tries + 1))
    sleep "$beat"
  done
}
hold() {
  link=$1 joined=no broken=0 beats=0 longest=0 when=0 last=0 told=0 tell='' said='' quick=0 before=0 dialled=''
  dial "$2" "$3" | while :; do
    if read -r -t 1 got rest; then quick=0; else got=silence; fi
    now
    case $got in
      "$word")
        if [ "$last" -gt 0 ] && [ $((now - last)) -gt "$longest" ]; then longest=$((now - last)) when=$now; fi
        [ "$joined" = yes ] || tell=yes
        joined=yes last=$now beats=$((beats + 1)) ;;
      pid) dialled=$rest ;;
      end) [ "$joined" = no ] || { joined=no broken=$((broken + 1)) tell=yes; } ;;
      silence)
        if [ "$joined" = yes ] && [ $((now - last)) -ge "$silent" ]; then
          joined=no broken=$((broken + 1)) tell=yes
          kill "$dialled" 2>/dev/null
        fi
        if [ $((now - before)) -lt 50 ]; then quick=$((quick + 1)); [ "$quick" -lt 50 ] || exit; fi ;;
      '') ;;
      *) [ "$last" -gt 0 ] || [ "$got $rest" = "$said" ] || { said="$got $rest"; printf 'says %s %.100s\\n' "$link" "$said"; } ;;
    esac
    before=$now
    if [ "$tell" ] || [ $((now - told)) -ge 500 ]; then
      echo "link $link $now $joined $broken $beats $longest $when $last"
      told=$now tell=''
    fi
  done
}
while [ "$#" -ge 3 ]; do hold "$1" "$2" "$3" & shift 3; done
wait`;

interface KeptPart extends Part {
  /** Seconds until the cluster ends the Job by itself. */
  readonly endsAfter: number;
}

/** Answers as many others at a time. */
export function answeringJob({ endsAfter, ...part }: KeptPart, others: number): KubeObject {
  const last = PORT + others * PORTS_EACH - 1;
  return job(part, [LISTENER, 'answers', part.id, String(PORT), String(last)], { labels: KEPT, endsAfter });
}

/** One of the connections of a pod. */
export interface Dialled {
  /** Number of the connection in this probe. */
  readonly link: number;
  readonly address: string;
  /** Whose ports of the listener it uses. */
  readonly place: number;
}

export function keepingJob({ endsAfter, ...part }: KeptPart, dialled: readonly Dialled[], hostNetwork: boolean): KubeObject {
  const places = dialled.flatMap(({ link, address, place }) => [String(link), address, String(PORT + place * PORTS_EACH)]);
  return job(part, [HOLDER, 'keeps', part.id, String(SILENT_AFTER * 100), ...places], { labels: KEPT, endsAfter, hostNetwork });
}
