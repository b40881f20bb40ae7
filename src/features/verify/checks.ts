import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, type Reading, read, type Verdict } from '../../kernel/check.ts';
import { ownCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { intentWords } from '../../kernel/intent.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { lineOf } from '../../kernel/release.ts';
import { HELD_BY, heldBy } from '../../kube/held.ts';
import { pacedIn, rollingText } from '../../kube/paced.ts';
import { liveStrategyText } from '../canary/index.ts';
import { adviceFor, countedFaults, shown } from '../ipam/index.ts';
import { othersRunning } from '../rollout/index.ts';
import { ageOf, evidenceOf, failed, failIfAny, listed, table } from '../survey/index.ts';
import { resourcesChecks } from './resources-checks.ts';
import type { VerifyCheck, VerifyFacts, VersionAnswer } from './survey.ts';
import { agentsText, continued, workloadsChecks } from './workloads-checks.ts';

/** The CLI's own configuration file may send it to another cluster: then its answer is about that one. */
function elsewhere({ by, value = '' }: VersionAnswer, record: Reading<VersionAnswer>): Verdict | undefined {
  const own = 'value' in record ? record.value : undefined;
  if (own?.value === undefined || lineOf(own.value) === lineOf(value)) return undefined;
  return failed(
    `the CLI reports ${value} (${by}), this cluster's own record is ${own.value}: it may talk to another cluster`,
    'See which datastore its configuration file names; if it is this one, agents of both releases are running.',
    { next: command`kubectl netsvc-upgrade cli --dry-run=server` },
  );
}

function judged({ by, value = '' }: VersionAnswer, facts: VerifyFacts, { goal: { release }, intent }: Context): Verdict {
  const line = lineOf(value);
  // The first agent that is new reports it.
  const only = agentsText(facts);
  if (line !== undefined && line === lineOf(release)) return ok(`Cluster Version ${value} (${by})${only === '' ? '' : `; ${only}`}`);
  return failed(
    `Cluster Version is ${value}, not of ${lineOf(release) ?? release} (${by})`,
    `Continue the ${intentWords(intent).noun}; an agent of the other release that restarts sets the version back.`,
    { next: continued(facts, intent) },
  );
}

function onPath(clis: readonly { readonly file: string }[], one: string, many?: string): readonly string[] {
  return clis.length > 0 ? [`${counted(clis.length, one, many)} on PATH: ${listed(clis.map(({ file }) => file))}`] : [];
}

/** Everything that the operator writes, at one look; the wait holds it for a while. */
export const operatorDone: VerifyCheck = {
  id: 'NS-310',
  title: 'operator done',
  category: 'result',
  severity: 'error',
  ref: '§4.3/2',
  judge(facts) {
    const lags = read(facts.operator);
    if (lags === undefined) return notApplicable('no operator on this install path');
    const evidence = lags.map(({ subject, why }) => ({ text: subject, detail: why }));
    return failIfAny(evidence, 'the operator, the components and their API are all at the target', (names) => ({
      because: `the operator is not done (${counted(lags.length, 'sign')}): ${names}`,
      hint: 'Wait for it; it names what lags and a deaf or pinned operator.',
      next: command`kubectl netsvc-upgrade wait`,
    }));
  },
};

/** A hold that an interrupted run left: the operator never changes what is held, and its statuses say that all is well. */
const nothingHeld: VerifyCheck = {
  id: 'NS-313',
  title: 'nothing held by an interrupted run',
  category: 'result',
  severity: 'error',
  isNeverWaived: true,
  ref: 'domain §0.2',
  judge(facts, { intent }) {
    const all = read(facts.held);
    if (all === undefined) return notApplicable('nothing is held on this install path');
    // Of agents that are old yet, what replaces them is told.
    const agents = all.filter((one) => heldBy(one) === undefined && !pacedIn(one));
    if (agents.length > 0) return facts.onward ? notApplicable('the run is not finished') : strategyLeft(agents, intent);
    const held = all.filter((one) => !pacedIn(one));
    // Whatever releases a hold puts the pace back as well.
    if (held.length === 0 && all.length > 0) return paceLeft(all);
    const evidence = held.map((one) => evidenceOf(one, `${HELD_BY}: ${heldBy(one)}`));
    const resume = intentWords(intent).goesBack
      ? 'Resume the rollback, which releases it.'
      : 'Resume the run, which releases it. Or remove only the hold with the command below.';
    const told = held.every(({ kind }) => kind === K.ReplicaSet.kind)
      ? {
          by: (names: string) => `an interrupted run of this program left its hold on ${names}: kubectl rollout undo would restore it`,
          hint: 'Remove what is left of it with the command below. It changes nothing else.',
        }
      : {
          by: (names: string) => `an interrupted run of this program still holds ${names}: the operator does not change it`,
          hint: resume,
        };
    return failIfAny(evidence, 'this program holds nothing', (names) => ({
      because: told.by(names),
      hint: told.hint,
      next: command`kubectl netsvc-upgrade apply --undo`,
    }));
  },
};

/** Otherwise the run would be finished with it, and nothing would restore what was there before. */
function strategyLeft(all: readonly KubeObject[], intent: Context['intent']): Verdict {
  const evidence = all.map((one) => evidenceOf(one, liveStrategyText(one)));
  const because = `an interrupted run of this program left its update strategy on ${listed(evidence.map((one) => one.text))}`;
  const hint = 'Resume the run, which gives back the strategy that was there before.';
  return failed(because, hint, { evidence, next: ownCommand(intentWords(intent).resumedBy) });
}

/** The next upgrade would still be paced by it. */
function paceLeft(all: readonly KubeObject[]): Verdict {
  const evidence = all.map((one) => evidenceOf(one, `maxUnavailable ${rollingText(pacedIn(one)?.ours)} for a run alone`));
  const because = `an interrupted run of this program left its pace on ${listed(evidence.map((one) => one.text))}`;
  const hint = 'The command below puts back what was there before the run, unless somebody has changed it since. It changes nothing else.';
  return failed(because, hint, { evidence, next: command`kubectl netsvc-upgrade apply --undo` });
}

/** Agents that restart ask for their addresses again: what went wrong with that is seen in no pod and no log. */
const addressesAsBefore: VerifyCheck = {
  id: 'NS-314',
  title: 'address bookkeeping as before the upgrade',
  category: 'result',
  severity: 'error',
  ref: 'domain §12',
  judge({ ipam }, { profile }) {
    const compared = read(ipam);
    if (!compared) return notApplicable('no run kept here how the bookkeeping of addresses was before');
    const { blocks, added, uncompared } = compared;
    const rest = uncompared.length === 0 ? '' : `; too much was wrong before to compare: ${listed(uncompared)}`;
    return failIfAny(added, `${counted(blocks, 'block')}, nothing wrong that was right before the upgrade${rest}`, (names) => ({
      because: `since the upgrade began: ${countedFaults(added)}: ${names}${rest}`,
      hint: adviceFor(added, profile),
      next: shown(added, profile),
    }));
  },
};

/** What `verify` evaluates, in the order in which it is shown. */
export const verifyChecks: readonly VerifyCheck[] = table({ category: 'result' }, [
  /**
   * `v3.32.x` on the API path, `v3.32` on the key-value path: both count by the minor line (§4.4/5, §4.5/5, §9/3). The CLI's answer counts;
   * without it the cluster's own record does, with a warning.
   */
  {
    id: 'NS-301',
    title: 'cluster version reported',
    severity: 'error',
    ref: '§4.4/5',
    judge(facts, context) {
      const { cli, record } = facts.clusterVersion;
      const { goal, profile } = context;
      if ('by' in cli && cli.value !== undefined) return elsewhere(cli, record) ?? judged(cli, facts, context);
      const { program } = profile.cli;
      const why = 'by' in cli ? `${cli.by}: ${cli.because ?? 'it did not say'}` : `${program} was not asked: ${cli.notAsked}`;
      const own = 'value' in record ? record.value : { by: 'the API', because: record.unread };
      if (own.value === undefined) {
        return failed(
          `no cluster version: ${why}; ${own.by}: ${own.because ?? 'it has none'}`,
          'by' in cli
            ? `Let ${program} reach the datastore, and see that the agents run: each new one records its version.`
            : `Install ${program} ${goal.release} on PATH, and let it reach the datastore.`,
          { next: 'by' in cli ? command`${program} version` : command`kubectl netsvc-upgrade cli` },
        );
      }
      const verdict = judged(own, facts, context);
      if (verdict.status !== 'ok') return verdict;
      return failed(
        `${verdict.detail}; ${why}`,
        `This is about ${program} on your machine, not about the cluster. The command below installs that release of it where it can, and names each manual step.`,
        {
          severity: 'warning',
          leads: 'after',
          next: 'by' in cli ? command`${program} version` : command`kubectl netsvc-upgrade cli`,
        },
      );
    },
  },
  ...workloadsChecks,
  othersRunning,

  operatorDone,
  nothingHeld,

  ...resourcesChecks,
  addressesAsBefore,

  {
    id: 'NS-308',
    title: 'no older CLI first on PATH',
    severity: 'warning',
    ref: '§1/4',
    judge({ clis }, { goal }) {
      const { older = [], unknown = [] } = Object.groupBy(read(clis), ({ release }) => ageOf(release, goal.release));
      const because = [...onPath(older, 'older CLI'), ...onPath(unknown, 'CLI of unknown release', 'CLIs of unknown release')];
      const evidence = [...older, ...unknown].map(({ file, release }) => ({ text: file, detail: release ?? 'release unknown' }));
      return failIfAny(evidence, 'no older CLI on PATH', () => ({
        because: because.join('; '),
        hint:
          older.length > 0
            ? 'An older CLI must not be used any more: remove it here and on every other machine.'
            : 'See which release it is; if it is an older one, remove it here and on every other machine.',
        next: command`kubectl netsvc-upgrade cli`,
      }));
    },
  },
]);
