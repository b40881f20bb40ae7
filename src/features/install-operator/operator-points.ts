import { command } from '../../kernel/argv.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ComponentStatusName } from '../../kernel/operator-names.ts';
import { sameRelease } from '../../kernel/release.ts';
import type { OperatorLag, OperatorView } from './operator-causes.ts';
import { componentLags, podCause } from './operator-causes.ts';
import { ownImage, workloadLags } from './operator-workloads.ts';

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

const WANTED: Readonly<Record<string, string>> = { Available: 'True', Progressing: 'False', Degraded: 'False' };

/** Everything that still lags behind the target, causes before their symptoms; empty: all five points hold at this moment. */
export function operatorLags(view: OperatorView): readonly OperatorLag[] {
  const lags = [
    ...operatorLag(view),
    ...releaseLag(view),
    // What a status needs and the user has switched off does not come: the end is evaluated without it (NS-627).
    ...view.names.statuses.filter((name) => !lacked(name, view)).flatMap((name) => statusLags(name, view)),
    ...componentLags(view),
    ...apiLags(view),
  ];
  return lags.map((lag) => withCause(lag, view)).toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Causes come first: a pod that cannot start delays its workload, that the API and statuses, and those the release. */
function rankOf({ point, subject, why, command }: OperatorLag): number {
  if (command !== undefined && point !== 5) return 0;
  if (point === 1) return 1;
  if (subject.startsWith('APIService/')) return 2;
  if (why.startsWith(DEGRADED)) return 3;
  return { 4: 4, 3: 5, 5: 6, 2: 7 }[point];
}

const DEGRADED = 'Degraded is True';

function withCause(lag: OperatorLag, view: OperatorView): OperatorLag {
  if (lag.point !== 1 && lag.point !== 4) return lag;
  const { deployment, names, workloads } = view;
  const workload =
    lag.point === 1 ? deployment : workloads.find(({ kind, metadata }) => `${kind}/${names.workloads}/${metadata.name}` === lag.subject);
  const cause = workload && podCause(workload, view);
  return cause ? { ...lag, ...cause, why: `${lag.why} · ${cause.why}` } : lag;
}

function operatorLag({ deployment, names, target }: OperatorView): readonly OperatorLag[] {
  const subject = `Deployment/${names.deployment.namespace}/${names.deployment.name}`;
  if (!deployment) return [{ point: 1, subject, why: 'does not exist' }];
  const wanted = target.operatorImage;
  const own = ownImage(deployment, wanted);
  const lag = (image: string) => (image !== own || image === wanted ? '' : `runs ${image}, not ${wanted}`);
  const lags = own === undefined ? ['has no container'] : workloadLags(deployment, lag, true);
  return lags.map((why) => ({ point: 1, subject, why }));
}

function releaseLag({ installation, names, target }: OperatorView): readonly OperatorLag[] {
  const subject = 'Installation/default';
  if (!installation) return [{ point: 2, subject, why: 'does not exist' }];
  const reported = (installation.status as Readonly<Record<string, unknown>> | undefined)?.[names.versionField];
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
    const why = conditionLag(type, conditionsOf(status), generation);
    return why === '' ? [] : [{ point: 3 as const, subject, why }];
  });
}

/** The operator cannot make what the status is about: a resource that it needs is not there (domain §12/23). */
export function lacked({ needs }: ComponentStatusName, { resources }: Pick<OperatorView, 'resources'>): boolean {
  return needs !== undefined && !resources.some((one) => one.kind === needs.kind);
}

/** The conditions of a status: written one by one and in no fixed order, so each is found by its type. */
function conditionsOf(object: KubeObject): readonly Condition[] {
  return (object.status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
}

function conditionLag(type: string, conditions: readonly Condition[], generation: number | undefined): string {
  const condition = conditions.find((one) => one.type === type);
  if (!condition) return `has no condition ${type} yet`;
  const said = [condition.reason, condition.message].filter((text) => text !== undefined && text !== '').join(': ');
  if (condition.status !== WANTED[type]) return `${type} is ${condition.status ?? 'unknown'}${said === '' ? '' : ` (${said})`}`;
  if (generation === undefined || condition.observedGeneration === generation) return '';
  return `${type} is about generation ${condition.observedGeneration ?? 0}, the spec is at ${generation}`;
}

/** Degraded=True of a component status, or undefined. */
export function degradation(status: KubeObject): { readonly reason: string; readonly message: string } | undefined {
  const found = conditionsOf(status).find((one) => one.type === 'Degraded' && one.status === 'True');
  return found ? { reason: found.reason ?? '', message: found.message ?? '' } : undefined;
}

/** True while no status of the Installation is about its present generation: nobody has answered its last change. */
export function unanswered({ installation, statuses, names }: OperatorView): boolean {
  const about = new Set(names.statuses.filter((one) => one.generation === 'installation').map((one) => one.name));
  const seen = statuses.filter((one) => about.has(one.metadata.name)).flatMap(conditionsOf);
  return seen.length > 0 && seen.every((one) => (one.observedGeneration ?? 0) < (installation?.metadata.generation ?? 0));
}

/** True while the statuses there are say that all is well: nobody has begun anything. */
export function untouched({ statuses }: OperatorView): boolean {
  return statuses.flatMap(conditionsOf).every((one) => one.status === WANTED[one.type ?? '']);
}

function apiLags({ names, resources, apiService, oldApiNamespace }: OperatorView): readonly OperatorLag[] {
  const { kind, service, namespace, oldNamespace } = names.api;
  if (!resources.some((one) => one.kind === kind)) return [];
  const why = apiServiceLag(apiService, namespace);
  const lags: readonly OperatorLag[] =
    why === '' ? [] : [{ point: 5, subject: `APIService/${service}`, why, command: command`kubectl describe apiservice ${service}` }];
  return oldApiNamespace ? [...lags, { point: 5, subject: `Namespace/${oldNamespace}`, why: 'is still there' }] : lags;
}

function apiServiceLag(apiService: KubeObject | undefined, namespace: string): string {
  if (!apiService) return 'does not exist';
  const served = (apiService.spec as { readonly service?: { readonly namespace?: string } } | undefined)?.service?.namespace;
  if (served !== namespace) return `is served from ${served ?? 'nowhere'}, not from ${namespace}`;
  const available = conditionsOf(apiService).find((one) => one.type === 'Available');
  return available?.status === 'True' ? '' : `is not available (${available?.reason ?? 'no condition'})`;
}
