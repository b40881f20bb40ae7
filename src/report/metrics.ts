import type { Finding } from '../kernel/check.ts';
import type { PodPhase } from '../kernel/rollout.ts';
import { oneLine } from '../kernel/visible.ts';

/** What is known of a run at one moment. Moments are seconds since the epoch, lengths are seconds. */
export interface RunMetrics {
  /** `from`, `to`, `run`: what is known of them. */
  readonly info: Readonly<Record<string, string>>;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** Absent while the command is at work. */
  readonly exit?: number;
  /** The whole upgrade came to its end, or there was nothing to do. */
  readonly finished: boolean;
  readonly step?: { readonly step: number; readonly of: number };
  readonly stages: ReadonlyMap<string, { readonly state: StageState; readonly seconds?: number }>;
  /** Pods by workload. */
  readonly pods: ReadonlyMap<string, Readonly<Record<PodPhase, number>>>;
  /** Absent before checks were evaluated. */
  readonly findings?: Partial<Readonly<Record<Finding['outcome'], number>>>;
}

export type StageState = 'running' | 'done' | 'skipped' | 'failed' | 'held';

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One metric with what it means; all are gauges. */
type Family = readonly [name: string, help: string, samples: readonly Sample[]];

/** The run in the text format of Prometheus, version 0.0.4; without times of samples, which node_exporter's textfile collector refuses. */
export function metricsText(run: RunMetrics): string {
  return familiesOf(run)
    .filter(([, , samples]) => samples.length > 0)
    .map(([name, help, samples]) => {
      const full = `netsvc_upgrade_${name}`;
      const lines = samples.map(({ labels, value }) => `${full}${labelsText(labels)} ${value}`);
      return `# HELP ${full} ${escaped(help)}\n# TYPE ${full} gauge\n${lines.join('\n')}\n`;
    })
    .join('');
}

function familiesOf({ info, startedAt, updatedAt, exit, finished, step, stages, pods, findings }: RunMetrics): readonly Family[] {
  const every = [...stages];
  const rows = Object.entries(findings ?? {});
  const counts = [...pods].flatMap(([workload, phases]) => Object.entries(phases).map(([phase, value]) => ({ workload, phase, value })));
  return [
    ['info', 'The upgrade: releases and the id of the run. Always 1.', [{ labels: info, value: 1 }]],
    ['running', '1 while the command is at work. It is still 1 if the command was killed.', [one(exit === undefined ? 1 : 0)]],
    ['finished', '1 if the whole upgrade has come to its end.', [one(finished ? 1 : 0)]],
    ['exit_code', 'Exit code of the command. Absent while it is at work.', exit === undefined ? [] : [one(exit)]],
    ['start_time_seconds', 'When the command began, since the epoch.', [one(startedAt)]],
    ['last_update_time_seconds', 'When this file was written, since the epoch.', [one(updatedAt)]],
    ['step', 'The step of the plan that was begun last.', step ? [one(step.step)] : []],
    ['steps', 'Steps of the plan.', step ? [one(step.of)] : []],
    ['stage_state', 'State of each stage that was begun. Always 1.', every.map(([stage, { state }]) => labelled({ stage, state }, 1))],
    [
      'stage_duration_seconds',
      'What each stage took that is done.',
      every.flatMap(([stage, { seconds }]) => (seconds === undefined ? [] : [labelled({ stage }, seconds)])),
    ],
    ['rollout_pods', 'Pods of each rollout by phase.', counts.map(({ value, ...labels }) => labelled(labels, value))],
    ['findings', 'Evaluated checks by outcome.', rows.map(([outcome, value]) => labelled({ outcome }, value))],
  ];
}

const one = (value: number): Sample => ({ value });
const labelled = (labels: Readonly<Record<string, string>>, value: number): Sample => ({ labels, value });

function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  const texts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(oneLine(value)).replaceAll('"', '\\"')}"`);
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
}

/** As the format asks for it. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\');
}
