import type { Announce, ChainOutcome } from '../../engine/chain-outcome.ts';
import type { EnginePorts } from '../../kernel/effect-type.ts';
import { withoutCredentials } from '../../kernel/hidden.ts';
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
  stopped: ['Warning', 'NetsvcUpgradeStopped'],
  failed: ['Warning', 'NetsvcUpgradeFailed'],
  done: ['Normal', 'NetsvcUpgradeCompleted'],
  interrupted: ['Warning', 'NetsvcUpgradeStopped'],
};
/** Of one stage, by its own command: the upgrade is not over. */
const STAGE_COMPLETED = ['Normal', 'NetsvcUpgradeStageCompleted'] as const;

/** Kubernetes Events of the agents' DaemonSet, at the start and the end of what a run writes. An account that may not make any makes none. */
export class ClusterEvents implements Announce {
  readonly #ports: Pick<EnginePorts, 'cluster' | 'clock' | 'operator'>;
  readonly #agent: { readonly namespace: string; readonly name: string };

  constructor(ports: Pick<EnginePorts, 'cluster' | 'clock' | 'operator'>, agent: { readonly namespace: string; readonly name: string }) {
    this.#ports = ports;
    this.#agent = agent;
  }

  begun(record: RunRecord, stage: string, isResumed: boolean): Promise<void> {
    return this.#tell(REASONS.started, this.#textOf(record, ` ${isResumed ? 'resumed' : SAID.started} at stage ${stage}`));
  }

  ended(record: RunRecord, { exit, stoppedAt, message, stages }: ChainOutcome): Promise<void> {
    const event = eventOf(exit);
    if (event === 'done' && record.finishedAt === undefined) {
      const done = stages.findLast(({ state }) => state === 'done')?.id ?? '';
      return this.#tell(STAGE_COMPLETED, this.#textOf(record, `: stage ${done} is done`));
    }
    const at = stoppedAt === undefined ? '' : ` at stage ${stoppedAt}`;
    const because = event === 'done' || message === undefined ? '' : `: ${message}`;
    return this.#tell(REASONS[event], this.#textOf(record, ` ${SAID[event]}${at}`) + because);
  }

  /** `Upgrade v3.27.5 → v3.32.1 failed at stage wait (run 20261121T020000Z-2c9e0000, by alice@host)`. */
  #textOf({ runId, source = '(unknown release)', target }: RunRecord, said: string): string {
    return `Upgrade ${source} → ${target}${said} (run ${runId}, by ${this.#ports.operator})`;
  }

  /** An event that cannot be sent changes neither how a run ends nor how long it takes. */
  async #tell(what: readonly [type: string, reason: string], text: string): Promise<void> {
    const limit = AbortSignal.timeout(AT_MOST_MS);
    const late = new Promise<void>((resolve) => {
      limit.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.#create(what, text).catch(() => undefined), late]);
  }

  async #create([type, reason]: readonly [type: string, reason: string], text: string): Promise<void> {
    const { cluster, clock, operator } = this.#ports;
    const { namespace, name } = this.#agent;
    const { uid } = (await cluster.get(K.DaemonSet, name, namespace))?.metadata ?? {};
    if (uid === undefined) return;
    const now = clock.now();
    const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
    const event: KubeObject = {
      apiVersion: 'v1',
      kind: K.Event.kind,
      metadata: { name: `${name.slice(0, LONGEST_NAME)}.${now.getTime().toString(16)}.${reason.toLowerCase()}`, namespace },
      involvedObject: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name, uid },
      ...{ type, reason, message: shortened(withoutCredentials(oneLine(text))) },
      ...{ source: { component: COMPONENT }, reportingComponent: COMPONENT, reportingInstance: operator },
      ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
    };
    await cluster.create(K.Event, event);
  }
}

function shortened(text: string): string {
  let kept = text;
  while (Buffer.byteLength(kept) > LONGEST_MESSAGE) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return kept === text ? text : `${kept}…`;
}
