import { type Command, command } from '../../kernel/argv.ts';
import { type Check, type Evidence, ok, type Reading, read } from '../../kernel/check.ts';
import { agoText, counted } from '../../kernel/counted.ts';
import { unlockOnce } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { continueCommand, intentWords } from '../../kernel/intent.ts';
import { accessText } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { continues, resumedBackwards } from '../../kernel/run-record.ts';
import { text } from '../../kernel/step.ts';
import { pathOf } from '../install/index.ts';
import { type AccessAnswer, failed, failIfAny, installationIn, type PreflightCheck, table } from '../survey/index.ts';

/** What an account may do of what a run asks of it. */
export interface AccessFacts {
  readonly access: Reading<readonly AccessAnswer[]>;
  /** Undefined where it could not be told. */
  readonly installation: Installation | undefined;
  /** The command that is to be performed. */
  readonly of: 'run' | 'rollback';
}

export const rightsCheck: Check<AccessFacts> = {
  id: 'NS-009',
  title: 'permissions that the plan needs',
  category: 'access',
  severity: 'error',
  ref: 'domain §13',
  judge: ({ access, installation, of }, { profile, goal }) => {
    const answers = read(access);
    const denied = answers.filter((answer) => !answer.allowed);
    const evidence = denied.map(({ request, why }): Evidence => ({ text: accessText(request), detail: why }));
    return failIfAny(evidence, `${counted(answers.length, 'permission')} needed by the plan, all granted`, (names) => ({
      because: `${counted(denied.length, 'permission')} missing: ${names}`,
      hint: 'Use an account that has them, or let an administrator grant them. The next command prints the roles as a manifest; its first lines say how to bind them.',
      next: rolesFor(of, installation, profile, goal.release),
      ...(denied.some((answer) => answer.required) ? {} : { severity: 'warning' as const }),
    }));
  },
};

export const accessChecks: readonly PreflightCheck[] = table({ category: 'access', severity: 'error', ref: 'house rule 4' }, [
  {
    ...rightsCheck,
    judge: ({ access, detection }, context) => rightsCheck.judge({ access, installation: installationIn(detection), of: 'run' }, context),
  },
  {
    id: 'NS-011',
    title: 'no other run holds the lock',
    isNeverWaived: true,
    judge: (facts, { startedAt: now }) => {
      const holder = read(facts.lockHolder);
      if (holder === undefined) return ok('no other run holds the lock');
      const { identity, acquiredAt, renewedAt } = holder;
      const detail = `held since ${acquiredAt}, last renewed ${renewedAt}`;
      const brief = `taken ${agoText(acquiredAt, now)}, last renewed ${agoText(renewedAt, now)}`;
      return failed(`another run holds the lock: ${identity}`, text`Wait for it to end; ${unlockOnce()}`, {
        next: command`kubectl netsvc-upgrade status --watch`,
        exit: 'locked',
        evidence: [{ text: identity, detail, brief }],
      });
    },
  },
  {
    id: 'NS-012',
    title: 'no unfinished run to another release',
    leavesRun: true,
    judge: (facts, context) => {
      const { goal, clusterUid, startedAt: now } = context;
      const record = read(facts.record);
      if (!record) return ok('no earlier run is recorded');
      if (record.clusterUid !== clusterUid) {
        return failed(
          'the run record belongs to another cluster',
          'Look whether the cluster was restored from a backup, then remove the record.',
          { next: command`kubectl netsvc-upgrade status` },
        );
      }
      const { intent, startedAt } = record;
      if (record.finishedAt !== undefined) return ok(`last run to ${intent.to}: ${record.outcome ?? 'finished'}`);
      if (continues(record, context)) return ok(`continues the run to ${intent.to}, begun ${agoText(startedAt, now)}`);
      return failed(
        `${intentWords(intent).run} to ${intent.to} is unfinished, and this one goes to ${goal.release}`,
        resumedBackwards(record, context)
          ? 'Finish the rollback. Or accept this check by name to go forward again: the changes that the upgrade carried are kept.'
          : 'Finish it first: only its own record explains what it left behind.',
        { next: continueCommand(intent) },
      );
    },
  },
]);

/** Prints the roles for what is installed; a rollback writes the objects of the old release. */
function rolesFor(of: AccessFacts['of'], installation: Installation | undefined, { name }: Profile, release: string): Command {
  const flags = installation ? pathOf(installation).roleFlags(installation) : [];
  return command`kubectl netsvc-upgrade permissions --for ${of} --profile ${name} ${flags} ${of === 'rollback' ? ['--release', release] : []}`;
}
