import { command } from '../../kernel/argv.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { ComponentStatusName } from '../../kernel/operator-names.ts';
import { sameRelease } from '../../kernel/release.ts';
import { isSameImage } from '../../kube/judge-pod.ts';
import { resumeOf } from '../../kube/judge-rollout.ts';
import { type Condition, conditionOf, conditionsOf } from '../../kube/pod-facts.ts';
import type { Lagging } from '../rollout/index.ts';
import { shapeOf } from '../survey/index.ts';
import {
  agentLags,
  componentLags,
  type OperatorLag,
  type OperatorView,
  operatorPod,
  otherLags,
  ownImage,
  podCause,
  typhaLags,
  workloadLags,
} from './operator-causes.ts';

/** An operator that has not answered for this long is named, in milliseconds; a new one waits about 20 s for the old one's lease. */
const DEAF_MS = 60_000;

/** Degraded is usual for half a minute of a healthy upgrade; from here on, in milliseconds, it is named. */
const DEGRADED_MS = 300_000;

/** What the user has to look at; the wait itself continues until its time limit. */
export interface OperatorTrouble {
  readonly type: 'deaf' | 'idle' | 'pinned' | 'degraded' | 'pod-failure';
  readonly subject: string;
  readonly why: string;
  /** Whose log tells more. */
  readonly pod?: Lagging;
}

/** What one look has to remember for the next: since when each state has lasted, by the view's clock. */
export type OperatorMemory = Readonly<Record<string, number>>;

export interface OperatorVerdict {
  /** Empty: everything is there. How long it has to stay is for the wait. */
  readonly lags: readonly OperatorLag[];
  readonly troubles: readonly OperatorTrouble[];
  /** Handed to the next call. */
  readonly memory: OperatorMemory;
  /** Of what is there: with another one it has to stay for the whole time again. */
  readonly mark?: string;
}

/** Evaluates the end of an operator's upgrade (§4.3/2), pure. No transition is needed: statuses may never leave green. */
export function operatorVerdict(view: OperatorView, before: OperatorMemory = {}, part: EndPart = 'all'): OperatorVerdict {
  const lags = operatorLags(view, part);
  const states = suspicions(view, lags);
  const memory = Object.fromEntries(states.map(({ key }) => [key, before[key] ?? view.now]));
  const lasted = (key: string) => view.now - (memory[key] ?? view.now);
  const troubles = states.flatMap(({ key, afterMs, trouble }) => (lasted(key) >= afterMs ? [trouble] : []));
  return { lags, troubles, memory };
}

/**
 * `agents`: the operator itself and every DaemonSet, those of Windows nodes too; `typha`: the operator and Typha; `api`: the operator and
 * where the v3 API is served from. `others`: all but Typha and the controllers. No status counts.
 */
export type EndPart = 'all' | 'agents' | 'typha' | 'api' | 'others';

const LAGS: Readonly<Record<EndPart, (view: OperatorView) => readonly OperatorLag[]>> = {
  all: (view) => [
    ...releaseLag(view),
    // What a status needs and the user has switched off does not come: the end is evaluated without it (NS-627).
    ...view.names.statuses.filter((name) => !lacked(name, view)).flatMap((name) => statusLags(name, view)),
    ...componentLags(view),
    ...apiLags(view),
  ],
  agents: agentLags,
  typha: typhaLags,
  api: (view) => apiLags(view),
  // The operator renders the API server in a loop of its own, whatever is held.
  others: (view) => [...otherLags(view), ...apiLags(view)],
};

interface Suspicion {
  readonly key: string;
  readonly afterMs: number;
  readonly trouble: OperatorTrouble;
}

function suspicions(view: OperatorView, lags: readonly OperatorLag[]): readonly Suspicion[] {
  const { deployment, target } = view;
  const subject = subjectOf(view);
  const image = deployment && ownImage(deployment, target.operatorImage);
  const points = new Set(lags.map(({ point }) => point));
  const begunNothing = !points.has(1) && releaseLag(view).length > 0 && untouched(view) && !unanswered(view);
  const pod = operatorPod(view);
  const own = (isSo: boolean, type: OperatorTrouble['type'], why: string): readonly Suspicion[] =>
    isSo ? [{ key: type, afterMs: DEAF_MS, trouble: { type, subject, why, ...(pod ? { pod } : {}) } }] : [];
  return [
    ...own(begunNothing, 'idle', IDLE),
    ...own(
      deployment !== undefined && !isSameImage(image ?? '', target.operatorImage),
      'pinned',
      `stays at ${image ?? 'no image'}: the new operator does not run`,
    ),
    ...own(lags.length > 0 && unanswered(view), 'deaf', 'does not answer: the Installation has changed and its status has not followed'),
    ...view.statuses.flatMap((status) => degradedSuspicion(status, view)),
  ];
}

const IDLE = 'runs, and has begun nothing: it waits for the lease of the old one, or for kinds that the server does not have';

const subjectOf = ({ names: { deployment } }: OperatorView): string => refText({ kind: 'Deployment', ...deployment });

function degradedSuspicion(status: KubeObject, view: OperatorView): readonly Suspicion[] {
  const found = conditionOf(status, 'Degraded');
  const name = view.names.statuses.find((one) => one.name === status.metadata.name);
  if (found?.status !== 'True' || (name && lacked(name, view))) return [];
  const { reason = '', message = '' } = found;
  const failed = reason === 'PodFailure';
  const subject = `${status.kind}/${status.metadata.name}`;
  const trouble = { type: failed ? 'pod-failure' : 'degraded', subject, why: `${reason}: ${message}` } as const;
  return [{ key: `${trouble.type} ${subject}`, afterMs: failed ? DEAF_MS : DEGRADED_MS, trouble }];
}

const WANTED: Readonly<Record<string, string>> = { Available: 'True', Progressing: 'False', Degraded: 'False' };

/** Everything that still lags behind the target, causes before their symptoms; empty: all five points hold at this moment. */
export function operatorLags(view: OperatorView, part: EndPart = 'all'): readonly OperatorLag[] {
  const lags = [...operatorLag(view), ...LAGS[part](view)];
  return lags.map((lag) => withCause(lag, view)).toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Causes come first: a pod that cannot start delays its workload, that the API and statuses, and those the release. */
function rankOf({ point, object, isDegraded, command }: OperatorLag): number {
  if (command !== undefined && point !== 5) return 0;
  if (point === 1) return 1;
  if (object?.kind === 'APIService') return 2;
  if (isDegraded) return 3;
  return { 4: 4, 3: 5, 5: 6, 2: 7 }[point];
}

function withCause(lag: OperatorLag, view: OperatorView): OperatorLag {
  if (lag.point !== 1 && lag.point !== 4) return lag;
  const { deployment, names, workloads } = view;
  const workload =
    lag.point === 1 ? deployment : workloads.find(({ kind, metadata }) => `${kind}/${names.workloads}/${metadata.name}` === lag.subject);
  if (!workload) return lag;
  const cause = podCause(workload, view);
  const { kind, metadata } = workload;
  const isPaused = shapeOf(workload).spec?.paused === true;
  return {
    ...lag,
    ...(cause ? { ...cause, why: `${lag.why} · ${cause.why}` } : {}),
    ...(isPaused ? { fix: resumeOf([kind.toLowerCase(), metadata.name, '-n', metadata.namespace ?? '']) } : {}),
  };
}

function operatorLag(view: OperatorView): readonly OperatorLag[] {
  const { deployment, target } = view;
  const subject = subjectOf(view);
  if (!deployment) return [{ point: 1, subject, why: 'does not exist' }];
  const wanted = target.operatorImage;
  const own = ownImage(deployment, wanted);
  const lag = (image: string) => (image !== own || isSameImage(image, wanted) ? '' : `runs ${image}, not ${wanted}`);
  const lags = own === undefined ? ['has no container'] : workloadLags(deployment, lag, true);
  return lags.map((why) => ({ point: 1, subject, why }));
}

function releaseLag({ installation, names, target }: OperatorView): readonly OperatorLag[] {
  const subject = 'Installation/default';
  if (!installation) return [{ point: 2, subject, why: 'does not exist' }];
  const reported = jsonAt(installation, 'status', names.versionField);
  return typeof reported === 'string' && sameRelease(reported, target.release)
    ? []
    : [{ point: 2, subject, why: `reports ${String(reported ?? 'no release')}, not ${target.release}` }];
}

function statusLags(name: ComponentStatusName, view: OperatorView): readonly OperatorLag[] {
  const own = view.resources.find((one) => one.kind === name.kind);
  if (name.generation === 'own' && !own) return [];
  const subject = `${view.names.statusKind}/${name.name}`;
  const status = view.statuses.find((one) => one.metadata.name === name.name);
  if (!status) return [{ point: 3, subject, why: 'does not exist yet' }];
  const generation = name.generation === 'none' ? undefined : (name.generation === 'own' ? own : view.installation)?.metadata.generation;
  return Object.keys(WANTED).flatMap((type) => {
    const condition = conditionOf(status, type);
    const why = conditionLag(type, condition, generation);
    const degraded = type === 'Degraded' && condition?.status === 'True' ? ({ isDegraded: true } as const) : {};
    return why === '' ? [] : [{ point: 3 as const, subject, why, ...degraded }];
  });
}

/** The operator cannot make what the status is about: a resource that it needs is not there (domain §12/23). */
function lacked({ needs }: ComponentStatusName, { resources }: Pick<OperatorView, 'resources'>): boolean {
  return needs !== undefined && !resources.some((one) => one.kind === needs.kind);
}

function conditionLag(type: string, condition: Condition | undefined, generation: number | undefined): string {
  if (!condition) return `has no condition ${type} yet`;
  const said = [condition.reason, condition.message].filter((text) => text !== undefined && text !== '').join(': ');
  if (condition.status !== WANTED[type]) return `${type} is ${condition.status ?? 'unknown'}${said === '' ? '' : ` (${said})`}`;
  if (generation === undefined || condition.observedGeneration === generation) return '';
  return `${type} is about generation ${condition.observedGeneration ?? 0}, the spec is at ${generation}`;
}

/** True while no status of the Installation is about its present generation: nobody has answered its last change. */
function unanswered({ installation, statuses, names }: OperatorView): boolean {
  const about = new Set(names.statuses.filter((one) => one.generation === 'installation').map((one) => one.name));
  const seen = statuses.filter((one) => about.has(one.metadata.name)).flatMap(conditionsOf);
  return seen.length > 0 && seen.every((one) => (one.observedGeneration ?? 0) < (installation?.metadata.generation ?? 0));
}

/** True while the statuses there are say that all is well: nobody has begun anything. */
function untouched({ statuses }: OperatorView): boolean {
  return statuses.flatMap(conditionsOf).every((one) => one.status === WANTED[one.type ?? '']);
}

function apiLags({ names, resources, apiService, oldApiNamespace }: OperatorView): readonly OperatorLag[] {
  const { kind, service, namespace, oldNamespace } = names.api;
  if (!resources.some((one) => one.kind === kind)) return [];
  const why = apiServiceLag(apiService, namespace);
  const object = { kind: 'APIService', name: service };
  const lags: readonly OperatorLag[] =
    why === ''
      ? []
      : [{ point: 5, object, subject: `APIService/${service}`, why, command: command`kubectl describe apiservice ${service}` }];
  return oldApiNamespace && oldNamespace !== namespace
    ? [...lags, { point: 5, subject: `Namespace/${oldNamespace}`, why: 'is still there' }]
    : lags;
}

function apiServiceLag(apiService: KubeObject | undefined, namespace: string): string {
  if (!apiService) return 'does not exist';
  const served = textAt(apiService.spec, 'service', 'namespace');
  if (served !== namespace) return `is served from ${served ?? 'nowhere'}, not from ${namespace}`;
  const available = conditionOf(apiService, 'Available');
  return available?.status === 'True' ? '' : `is not available (${available?.reason ?? 'no condition'})`;
}
