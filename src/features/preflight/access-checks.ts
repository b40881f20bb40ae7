import { accessText } from '../../kernel/access-text.ts';
import { command } from '../../kernel/argv.ts';
import { type Evidence, ok, type Reading, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { Detection } from '../../kernel/installation.ts';
import type { AccessAnswer } from '../survey/index.ts';
import { failed, failIfAny, PROGRAM, preflightCheck } from '../survey/index.ts';

export const permissions = preflightCheck('NS-009', {
  category: 'access',
  severity: 'error',
  ref: 'domain §13',
  judge: (facts) => {
    const answers = read(facts.access);
    const denied = answers.filter((answer) => !answer.allowed);
    return failIfAny(denied.map(denial), `all ${answers.length} permissions that the plan needs`, (names) => ({
      because: `${counted(denied.length, 'permission')} missing: ${names}`,
      hint: `Use an account that has them, or grant them; ${rolesFor(facts.detection)}.`,
      next: `kubectl auth can-i --list`,
      ...(denied.some((answer) => answer.required) ? {} : { severity: 'warning' as const }),
    }));
  },
});

/** The file that holds what the path asks for. */
function rolesFor(detection: Reading<Detection>): string {
  const path = 'value' in detection && detection.value.type === 'found' ? detection.value.installation.path : undefined;
  if (path === 'operator' || path === 'chart') return `docs/rbac-paths.yaml holds what run needs on the ${path} path`;
  return 'docs/rbac.yaml holds a ClusterRole for each command';
}

function denial({ request, why }: AccessAnswer): Evidence {
  return { text: accessText(request), detail: why };
}

export const stateNamespace = preflightCheck('NS-010', {
  category: 'access',
  severity: 'error',
  ref: 'house rule 4',
  judge: (facts, { options }) => {
    const namespace = read(facts.namespaces).find((one) => one.metadata.name === options.stateNamespace);
    if (!namespace) {
      return failed(
        `the state namespace ${options.stateNamespace} does not exist`,
        'Create it, or name another with --state-namespace: the lock and the record of the run live there.',
        { next: command`kubectl create namespace ${options.stateNamespace}` },
      );
    }
    if (!namespace.metadata.deletionTimestamp) return ok(`state namespace ${options.stateNamespace} exists`);
    return failed(`the state namespace ${options.stateNamespace} is being deleted`, 'Name another with --state-namespace.', {
      next: 'kubectl get namespaces',
    });
  },
});

export const lockFree = preflightCheck('NS-011', {
  category: 'access',
  severity: 'error',
  ref: 'house rule 4',
  judge: (facts) => {
    const holder = read(facts.lockHolder)?.identity;
    if (holder === undefined) return ok('no other run holds the lock');
    return failed(`another run holds the lock: ${holder}`, 'Wait for it to end; release the lock only if that run is gone for good.', {
      next: `${PROGRAM} unlock`,
      exit: 'locked',
      evidence: [{ text: holder }],
    });
  },
});

export const recordFits = preflightCheck('NS-012', {
  category: 'access',
  severity: 'error',
  ref: 'house rule 4',
  judge: (facts, { options, clusterUid }) => {
    const record = read(facts.record);
    if (!record) return ok('no earlier run is recorded');
    if (record.clusterUid !== clusterUid) {
      return failed(
        'the run record belongs to another cluster',
        'Look whether the cluster was restored from a backup, then remove the record.',
        {
          next: `${PROGRAM} status`,
        },
      );
    }
    if (record.finishedAt !== undefined) return ok(`last run to ${record.target}: ${record.outcome ?? 'finished'}`);
    if (record.target === options.release) return ok(`continues the run to ${record.target} begun at ${record.startedAt}`);
    return failed(
      `a run to ${record.target} is unfinished, and this one goes to ${options.release}`,
      `Finish it first: only its own record explains what it left behind.`,
      { next: command`kubectl netsvc-upgrade run --release ${record.target}` },
    );
  },
});
