import type { EngineEvent } from '../../kernel/event.ts';
import { EXIT, Fault, messageOf } from '../../kernel/fault.ts';
import { mask } from '../../kernel/hidden.ts';
import type { PodPhase, RolloutProgress } from '../../kernel/rollout.ts';
import { metricsText, type RunMetrics, type StageState } from '../../report/metrics.ts';
import type { OutputDocument } from '../documents.ts';
import { assertPlace, replaceForAll } from '../ending/file.ts';
import { toldOf } from '../ending/kinds.ts';
import type { RunFlags } from '../flags.ts';

/** While the run is at work the file is written this often. */
const EVERY_MS = 15_000;

interface MetricsDeps {
  now(): Date;
  every(ms: number, call: () => void): () => void;
  warn(text: string): void;
}

/** Mutable parts of what is told. */
interface State extends RunMetrics {
  readonly stages: Map<string, { state: StageState; seconds?: number }>;
  readonly pods: Map<string, Readonly<Record<PodPhase, number>>>;
}

/** The file of `--metrics-file`, kept true while a run is at work. What goes wrong is said once, and does not change how the run ends. */
export class Metrics {
  readonly #file: string;
  readonly #deps: MetricsDeps;
  readonly #stop: () => void;
  #state: State;
  #writing = Promise.resolve();
  #hasWarned = false;
  #isEnded = false;

  private constructor(file: string, deps: MetricsDeps) {
    this.#file = file;
    this.#deps = deps;
    const at = secondsOf(deps.now());
    this.#state = { info: {}, startedAt: at, updatedAt: at, finished: false, stages: new Map(), pods: new Map() };
    this.#stop = deps.every(EVERY_MS, () => void this.#write());
  }

  /** The first writing shows that the file can be written. Throws Fault('usage') if not. */
  static async open(file: string, deps: MetricsDeps): Promise<Metrics> {
    if (!file.endsWith('.prom'))
      throw new Fault('usage', `--metrics-file ${file}: node_exporter reads files with the suffix .prom alone`, [
        `name it so: --metrics-file ${file.replace(/(?<=[^/])\.\w*$/, '')}.prom`,
      ]);
    await assertPlace('--metrics-file', file);
    const metrics = new Metrics(file, deps);
    try {
      await replaceForAll(file, metrics.#text());
    } catch (thrown) {
      metrics.#stop();
      throw new Fault('usage', `--metrics-file ${file} cannot be written: ${messageOf(thrown)}`, [
        'name a file in a folder that you may write to',
      ]);
    }
    return metrics;
  }

  /** Names what is upgraded, as far as it is known. */
  know(info: Readonly<Record<string, string | undefined>>): void {
    const known = Object.entries(info).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    this.#state = { ...this.#state, info: { ...this.#state.info, ...Object.fromEntries(known) } };
  }

  observe(event: EngineEvent): void {
    if (event.type === 'probe' || event.type === 'network') return;
    const { stages, pods } = this.#state;
    const put = (state: StageState, seconds?: number) =>
      void stages.set(event.stage, { state, ...(seconds === undefined ? {} : { seconds }) });
    if (event.type === 'stage-started') put('running');
    if (event.type === 'stage-done') put('done', event.durationMs / 1000);
    if (event.type === 'stage-skipped') put('skipped');
    if (event.type === 'action-failed') put(event.held ? 'held' : 'failed');
    if (event.type === 'rollout') for (const one of event.progress) pods.set(workloadOf(one), phasesOf(one));
    if (event.type === 'action-started' && event.place) this.#state = { ...this.#state, step: event.place };
    if (event.type === 'stage-done' || event.type === 'action-failed') void this.#write();
  }

  /** `finished`: the upgrade has come to its end. */
  ended(document: OutputDocument, finished: boolean): Promise<void> {
    const tally = 'tally' in document ? document.tally : undefined;
    const { runId, from } = toldOf(document);
    this.know({ run: runId, from });
    return this.#end(document.exit.number, finished, tally);
  }

  /** The command ends without a document. */
  failed({ code }: Pick<Fault, 'code'>): Promise<void> {
    return this.#end(EXIT[code], false);
  }

  async #end(exit: number, finished: boolean, findings?: RunMetrics['findings']): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stop();
    this.#state = { ...this.#state, exit, finished, ...(findings ? { findings } : {}) };
    await this.#write();
  }

  #text(): string {
    return mask(metricsText({ ...this.#state, updatedAt: secondsOf(this.#deps.now()) }));
  }

  /** One after the other: the last state is the one that stays. */
  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      try {
        await replaceForAll(this.#file, this.#text());
      } catch (thrown) {
        if (!this.#hasWarned) this.#deps.warn(`the metrics could not be written to ${this.#file}: ${messageOf(thrown)}`);
        this.#hasWarned = true;
      }
    });
    return this.#writing;
  }
}

/** What `--metrics-file` names, before the cluster is asked anything. Undefined for a dry run, which says nothing of an upgrade. */
export async function openMetrics(flags: RunFlags, deps: MetricsDeps): Promise<Metrics | undefined> {
  const file = flags['metrics-file'];
  if (file === undefined || (flags['dry-run'] ?? 'none') !== 'none') return undefined;
  return Metrics.open(file, deps);
}

const secondsOf = (at: Date): number => Math.floor(at.getTime() / 1000);

const workloadOf = ({ target: { kind, namespace, name } }: RolloutProgress): string => `${kind}/${namespace}/${name}`;

function phasesOf({ pods }: RolloutProgress): Readonly<Record<PodPhase, number>> {
  const phases = { old: 0, updating: 0, new: 0, failed: 0 };
  for (const { phase } of pods) phases[phase] += 1;
  return phases;
}
