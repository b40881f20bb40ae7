import type { Announce } from '../../engine/chain-outcome.ts';
import type { EnginePorts } from '../../kernel/effect-type.ts';
import { mask } from '../../kernel/hidden.ts';
import { intentWords } from '../../kernel/intent.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { oneLine } from '../../kernel/visible.ts';
import { eventOf, type NotifiedEvent, SAID } from './notices.ts';

const COMPONENT = 'kubectl-netsvc-upgrade';

/** Milliseconds that a run waits for an event, which is only information. */
const AT_MOST_MS = 5_000;

/** The server takes 1024 bytes and refuses more; a character takes four at most. */
const LONGEST_MESSAGE = 1000;
/** So that the event's name with its suffix is one that the server accepts. */
const LONGEST_NAME = 200;

/** What `kubectl describe` shows of an upgrade: its reason, and whether somebody should look. */
const REASONS: Readonly<Record<NotifiedEvent, readonly ['Normal' | 'Warning', string]>> = {
  started: ['Normal', 'NetsvcUpgradeStarted'],
  'soak-over': ['Normal', 'NetsvcUpgradeSoakOver'],
  'canary-held': ['Warning', 'NetsvcUpgradeStopped'],
  'canary-failed': ['Warning', 'NetsvcUpgradeStopped'],
  stuck: ['Warning', 'NetsvcUpgradeStopped'],
  stopped: ['Warning', 'NetsvcUpgradeStopped'],
  failed: ['Warning', 'NetsvcUpgradeFailed'],
  // Of one stage, by its own command: the upgrade is not over.
  'part-done': ['Normal', 'NetsvcUpgradeStageCompleted'],
  done: ['Normal', 'NetsvcUpgradeCompleted'],
  interrupted: ['Warning', 'NetsvcUpgradeStopped'],
};

type Ports = Pick<EnginePorts, 'cluster' | 'clock' | 'operator'>;
type Agent = { readonly namespace: string; readonly name: string };
type What = readonly [type: string, reason: string];

/** Kubernetes Events of the agents' DaemonSet, at the start and the end of what a run writes. An account that may not make any makes none. */
export function clusterEvents(ports: Ports, agent: Agent): Announce {
  /** `Upgrade v3.27.5 → v3.32.1 failed at stage wait (run 20261121T020000Z-2c9e0000, by alice@host)`. */
  const textOf = ({ runId, intent }: RunRecord, said: string) =>
    `${intentWords(intent).title} ${intent.from ?? '(unknown release)'} → ${intent.to}${said} (run ${runId}, by ${ports.operator})`;
  return {
    begun: (record, stage, isResumed) =>
      tell(ports, agent, REASONS.started, textOf(record, ` ${isResumed ? 'resumed' : SAID.started} at stage ${stage}`)),
    ended(record, { exit, stoppedAt, message, stages }) {
      // Its reasons are those that somebody may filter by: a wait that took too long has failed, whatever kept it.
      const event = eventOf(exit, { isPart: record.finishedAt === undefined, isStuck: false });
      if (event === 'part-done') {
        const done = stages.findLast(({ state }) => state === 'done')?.id ?? '';
        return tell(ports, agent, REASONS[event], textOf(record, `: stage ${done} is done`));
      }
      const at = stoppedAt === undefined ? '' : ` at stage ${stoppedAt}`;
      const because = event === 'done' || message === undefined ? '' : `: ${message}`;
      return tell(ports, agent, REASONS[event], textOf(record, ` ${SAID[event]}${at}`) + because);
    },
  };
}

/** An event that cannot be sent changes neither how a run ends nor how long it takes. */
async function tell(ports: Ports, agent: Agent, what: What, text: string): Promise<void> {
  const limit = AbortSignal.timeout(AT_MOST_MS);
  const late = new Promise<void>((resolve) => {
    limit.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([create(ports, agent, what, text).catch(() => undefined), late]);
}

async function create({ cluster, clock, operator }: Ports, { namespace, name }: Agent, [type, reason]: What, text: string): Promise<void> {
  const { uid } = (await cluster.get(K.DaemonSet, name, namespace))?.metadata ?? {};
  if (uid === undefined) return;
  const now = clock.now();
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const event: KubeObject = {
    apiVersion: 'v1',
    kind: K.Event.kind,
    metadata: { name: `${name.slice(0, LONGEST_NAME)}.${now.getTime().toString(16)}.${reason.toLowerCase()}`, namespace },
    involvedObject: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name, uid },
    ...{ type, reason, message: shortened(mask(oneLine(text))) },
    ...{ source: { component: COMPONENT }, reportingComponent: COMPONENT, reportingInstance: operator },
    ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
  };
  await cluster.create(K.Event, event);
}

function shortened(text: string): string {
  let kept = text;
  while (Buffer.byteLength(kept) > LONGEST_MESSAGE) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return kept === text ? text : `${kept}…`;
}
