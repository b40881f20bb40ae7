import { command } from '../../kernel/argv.ts';
import { type Check, type CheckId, type Evidence, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { jsonAt } from '../../kernel/json.ts';
import { isOfGroup } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { conditionOf } from '../../kube/pod-facts.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  installationIn,
  type PreflightCheck,
  type PreflightFacts,
  replacesApi,
  sourceRelease,
  table,
} from '../survey/index.ts';
import { findWay, isTested, minorNumber, stepText, testedLine, testedText } from '../tested-way/index.ts';

const VERSION = command`kubectl version`;

export const serverChecks: readonly PreflightCheck[] = table({ category: 'kubernetes', severity: 'warning', ref: 'domain §13' }, [
  {
    id: 'NS-001',
    title: 'API server reachable',
    severity: 'error',
    isNeverWaived: true,
    judge: ({ server }, { server: url }) => {
      if ('value' in server) return ok(`server reachable, Kubernetes ${server.value.gitVersion}`);
      return failed(`${url} did not answer: ${server.unread}`, 'Check the context, the network and your credentials.', { next: VERSION });
    },
  },
  {
    id: 'NS-002',
    title: 'Kubernetes version suits the target release',
    severity: 'error',
    judge: judgeVersion,
  },
  {
    id: 'NS-006',
    title: 'clocks of this machine and the server agree',
    ref: 'domain §12/11',
    judge: judgeClocks,
  },
  {
    id: 'NS-007',
    title: 'discovery complete',
    ref: 'domain §12/22',
    judge: (facts, context) => {
      const { apiGroup } = context.profile;
      const { kinds, failed: groups } = read(facts.discovery);
      const isReplaced = groups.every((group) => group === apiGroup) && apiReplaced(facts, context);
      const evidence = groups.map((group): Evidence => ({ text: `APIGroup/${group}` }));
      return failIfAny(evidence, `${counted(kinds.length, 'kind')} discovered`, (names) => ({
        because: `${counted(groups.length, 'API group')} cannot be discovered: ${names}`,
        hint: 'Repair the API service behind it: what it serves can be neither checked nor deleted meanwhile.',
        next: command`kubectl get apiservices`,
        ...(groups.includes(apiGroup) ? { severity: 'error' as const } : {}),
        ...(isReplaced ? ON_ITS_WAY : {}),
      }));
    },
  },
  {
    id: 'NS-008',
    title: 'aggregated APIs available',
    ref: 'domain §12/22',
    judge: (facts, context) => {
      const { apiGroup } = context.profile;
      const down = read(facts.apiServices).filter((service) => isDown(service, apiGroup));
      const evidence = down.map((service) => evidenceOf(service, saidOf(service)));
      return failIfAny(evidence, 'every aggregated API is available', (names) => ({
        because: `${counted(down.length, 'aggregated API')} not available: ${names}`,
        hint: down.some((service) => isOwn(service, apiGroup))
          ? 'Find out why its server is not available: the command below says it, then look at the pods of that server. Never remove the APIService: the service’s v3 resources are read through it.'
          : 'Repair or remove it: garbage collection and the deletion of namespaces wait for it.',
        next: command`kubectl describe apiservice ${down[0]?.metadata.name ?? ''}`,
        ...(down.some((service) => isOwn(service, apiGroup)) ? { severity: 'error' as const } : {}),
        ...(down.every((service) => isOwn(service, apiGroup)) && apiReplaced(facts, context) ? ON_ITS_WAY : {}),
      }));
    },
  },
  {
    id: 'NS-013',
    title: 'no namespace stuck in Terminating',
    ref: 'domain §12/6',
    judge: (facts, context) => {
      const stuck = read(facts.namespaces).filter(({ metadata }) => facts.now - Date.parse(metadata.deletionTimestamp ?? '') > STUCK_MS);
      const old = context.profile.operator.end?.api.oldNamespace;
      const isReplaced = stuck.every(({ metadata }) => metadata.name === old) && apiReplaced(facts, context);
      const evidence = stuck.map((namespace) => evidenceOf(namespace, `since ${namespace.metadata.deletionTimestamp}`));
      return failIfAny(evidence, 'no namespace is stuck in Terminating', (names) => ({
        because: `${counted(stuck.length, 'namespace')} Terminating for more than 5 minutes: ${names}`,
        hint: 'Find what holds it before the upgrade adds another cause.',
        next: command`kubectl get namespace ${stuck[0]?.metadata.name ?? ''} -o jsonpath={.status.conditions}`,
        ...(isReplaced ? ON_ITS_WAY : {}),
      }));
    },
  },
]);

/** The same two for a rollback, which has no preflight: it writes by the same clocks, and the old release runs on this Kubernetes again. */
export const serverChecksBack: readonly Check<ServerFacts>[] = [
  { ...ofId('NS-002'), judge: judgeVersionBack },
  { ...ofId('NS-006'), judge: judgeClocks },
];

type ServerFacts = Pick<PreflightFacts, 'server' | 'clockSkewMs'>;

function ofId(id: CheckId): PreflightCheck {
  const found = serverChecks.find((one) => one.id === id);
  if (!found) throw new Error(`there is no check ${id}`);
  return found;
}

function judgeClocks({ clockSkewMs }: Pick<ServerFacts, 'clockSkewMs'>): Verdict {
  const skew = Math.abs(read(clockSkewMs));
  const seconds = Math.round(skew / 1000);
  if (skew <= TOLERATED_SKEW_MS) return ok(`clocks differ by ${seconds} s`);
  return failed(
    `the clocks of this machine and of the API server differ by ${seconds} s`,
    'Synchronise both clocks: locks, tokens and certificates depend on the time.',
    { next: command`date -u`, severity: skew > TOKEN_SKEW_MS ? 'error' : 'warning' },
  );
}

/** CRDs never go back, so no floor of theirs counts. The old release ran here, mostly on this very version. */
function judgeVersionBack({ server }: Pick<ServerFacts, 'server'>, { profile, goal: { release } }: Context): Verdict {
  const { gitVersion: version, minor: said } = read(server);
  const line = testedLine(profile, release);
  if (line && isTested(line, minorNumber(said))) return ok(`Kubernetes ${version} is tested with ${release}`);
  return failed(
    line
      ? `Kubernetes ${version} is not among the versions that ${release} was tested with (${testedText(line)})`
      : `which versions of Kubernetes ${release} was tested with is not known here`,
    `If ${release} ran on this cluster before the upgrade with this Kubernetes, it runs on it again. If Kubernetes was upgraded since, try the rollback on a cluster of the same version first.`,
    { next: VERSION, severity: 'warning' },
  );
}

function judgeVersion(facts: PreflightFacts, context: Context): Verdict {
  const { gitVersion: version, minor: said } = read(facts.server);
  const { profile, goal } = context;
  const minor = minorNumber(said);
  if (Number.isNaN(minor))
    return failed(`the server's version ${version} cannot be read`, 'Check what answers at this address.', { next: VERSION });
  const line = testedLine(profile, goal.release);
  if (!line)
    return failed(
      `which versions of Kubernetes ${goal.release} was tested with is not known here`,
      'Read its page of requirements, and try the upgrade on a cluster of the same version first.',
      { next: VERSION, severity: 'warning' },
    );
  if (line.floor !== undefined && minor < minorNumber(line.floor))
    return failed(
      `Kubernetes ${version} is older than ${line.floor}: it refuses a CRD of ${goal.release}`,
      [
        `Upgrade Kubernetes to ${line.floor} or later first; the release was tested with ${testedText(line)}.`,
        ...wayHint(facts, context),
      ].join(' '),
      { next: PATH },
    );
  if (isTested(line, minor)) return ok(`Kubernetes ${version} is tested with ${goal.release}`);
  return failed(
    `Kubernetes ${version} is not among the versions that ${goal.release} was tested with (${testedText(line)})`,
    ['Try the upgrade on a cluster of the same version first, or go the tested way.', ...wayHint(facts, context)].join(' '),
    { next: PATH, severity: 'warning' },
  );
}

const PATH = command`kubectl netsvc-upgrade path`;

/** The shortest way on which every state was tested, in one line; nothing where what is installed is not known. */
function wayHint(facts: PreflightFacts, context: Context): readonly string[] {
  const installation = installationIn(facts.detection);
  const release = installation && sourceRelease(installation, facts, context);
  const start = release === undefined ? undefined : { release, minor: minorNumber(read(facts.server).minor) };
  const way = start && findWay(context.profile, start, context.goal.release);
  if (!way) return [];
  return 'because' in way
    ? [`There is no tested way from here: ${way.because}.`]
    : [`The tested way: ${way.steps.map(stepText).join(', ')}.`];
}

const TOLERATED_SKEW_MS = 30_000;
const TOKEN_SKEW_MS = 300_000;

/** One that says nothing has just been made; of the service's own API it must be known. */
function isDown(service: KubeObject, apiGroup: string): boolean {
  const available = conditionOf(service, 'Available')?.status;
  return available === undefined ? isOwn(service, apiGroup) && jsonAt(service.spec, 'service') !== undefined : available !== 'True';
}

function saidOf(service: KubeObject): string | undefined {
  const available = conditionOf(service, 'Available');
  return available ? available.message : 'does not say whether it is available';
}

/** `v3.projectcalico.org` */
function isOwn({ metadata }: KubeObject, apiGroup: string): boolean {
  return isOfGroup(metadata.name, apiGroup);
}

/** The unfinished run to the target has applied it: its own API server is replaced meanwhile. */
function apiReplaced({ record }: Pick<PreflightFacts, 'record'>, context: Context): boolean {
  return 'value' in record && replacesApi(record.value, context);
}

const ON_ITS_WAY = {
  hint: 'This run replaces the API server of the service. Continue it: it waits for the new one.',
  next: command`kubectl netsvc-upgrade run`,
  expected: true,
} as const;

const STUCK_MS = 300_000;
