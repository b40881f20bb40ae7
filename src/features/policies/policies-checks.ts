import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairsInTurn } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { type Datastore, isKeyValue } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses } from '../../kernel/release.ts';
import { text } from '../../kernel/step.ts';
import { isOfDefaultTier, policyName, storedMetadata } from '../../kube/stored-metadata.ts';
import {
  evidenceOf,
  failIfAny,
  gitOpsOwners,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  showPoliciesByCli,
  sourceRelease,
  table,
  withInstallation,
  withResources,
} from '../survey/index.ts';
import { isRenamePending, neverRenames, POLICY_PLURALS, waitsInVain } from './stored-policies.ts';
import { temporaryPolicies } from './survey.ts';

const storedPolicies = (facts: PreflightFacts) => POLICY_PLURALS.flatMap((plural) => objectsOf(facts, plural));

function isRollbackOpen({ record }: PreflightFacts): boolean {
  const run = 'value' in record ? record.value : undefined;
  return run?.intent.kind === 'rollback' && run.finishedAt === undefined;
}

export const policiesChecks: readonly PreflightCheck[] = table({ category: 'follow-up', severity: 'warning' }, [
  {
    id: 'NS-503',
    title: 'no policy stored under two names',
    category: 'resources',
    severity: 'error',
    ref: 'domain §12/8',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      if (!profile.policyRenaming) return notApplicable('this service stores policies under one name');
      const key = (policy: KubeObject) => `${policy.kind}|${policy.metadata.namespace ?? ''}|${policyName(policy, profile)}`;
      const policies = storedPolicies(facts).filter(isOfDefaultTier);
      const keys = policies.map(key);
      const twins = policies.filter((_policy, index) => keys.indexOf(keys[index] ?? '') !== keys.lastIndexOf(keys[index] ?? ''));
      const evidence = twins.map((policy) => evidenceOf(policy, `is policy ${policyName(policy, profile)}`));
      // It creates the copy before it deletes the other: killed in between it leaves both, and settles that itself.
      const then = isRollbackOpen(facts)
        ? {
            hint: 'A rollback that has stopped may have left both: finish it first. It settles what it began.',
            next: command`kubectl netsvc-upgrade rollback`,
          }
        : {
            hint: 'Compare them and delete the one that is out of date: the upgrade keeps one and drops the other, even if they differ.',
            next: command`kubectl get ${POLICY_PLURALS.slice(0, 2)
              .map((plural) => `${plural}.${profile.crdGroup}`)
              .join(',')} -A`,
          };
      return failIfAny(evidence, 'every policy is stored once', (names) => ({
        because: `${counted(twins.length, 'stored policy', 'stored policies')} share a name with another one: ${names}`,
        ...then,
      }));
    }),
  },
  {
    id: 'NS-706',
    title: 'no temporary policy left',
    ref: '§9/6',
    judge: withInstallation(({ datastore }, facts, context): Verdict => {
      const name = context.profile.temporaryPolicy;
      const evidence = temporaryPoliciesIn(facts, datastore, context.profile).map((policy) => evidenceOf(policy));
      return failIfAny(evidence, `no policy ${name}`, (names) => ({
        because: `the temporary policy of an earlier upgrade is still there and allows all traffic: ${names}`,
        hint: 'Find out what only it allows, add policies for that, then delete it; the upgrade does not need it.',
        // With the CLI that has just answered.
        next: isKeyValue({ datastore }) ? showPoliciesByCli(context) : command`kubectl netsvc-upgrade policy`,
      }));
    }),
  },
  {
    id: 'NS-707',
    title: 'stored policies keep their names',
    ref: 'domain §0.6b',
    judge: withInstallation((installation, facts, context): Verdict => {
      const { profile, goal, options } = context;
      const since = profile.policyRenaming?.since;
      const source = sourceRelease(installation, facts, context);
      if (since === undefined || !crosses(source, goal.release, since)) return notApplicable('this upgrade renames no policies');
      const never = waitsInVain(installation, profile);
      const isBehindCli = isKeyValue(installation);
      // The CLI alone can rename them there.
      if (never !== undefined)
        return ok(`stored policies keep their names: ${never}${isBehindCli ? ' (the page of NS-707 has how to rename them)' : ''}`);
      if (isBehindCli)
        return ok(`policies in the key-value store will be renamed and keep their UIDs; a rollback needs their former names (NS-762)`);
      const pending = pendingRenames(facts, profile);
      if (pending.length === 0) return ok('every policy is already stored under its own name');
      const many = counted(pending.length, 'stored policy', 'stored policies');
      if (options.holdPolicyMigration) return ok(`${many} keep their names: the renaming is held back`);
      return ok(`${many} will be renamed and get new UIDs`);
    }),
  },
]);

/** Policies whose stored name will change. */
function pendingRenames(facts: PreflightFacts, profile: Profile): readonly KubeObject[] {
  return storedPolicies(facts).filter((policy) => isRenamePending(policy, profile));
}

/** In key-value mode as the service's CLI lists them. */
function temporaryPoliciesIn(facts: PreflightFacts, datastore: Datastore, profile: Profile): readonly KubeObject[] {
  if (isKeyValue({ datastore })) return read(facts.inStore)?.temporaryPolicies ?? [];
  return temporaryPolicies(objectsOf(facts, 'globalnetworkpolicies'), profile);
}

export const policiesInGitChecks: readonly PreflightCheck[] = [
  /** A delivery tool would create a renamed policy a second time under its old name, or delete the new one. */
  {
    id: 'NS-710',
    title: 'renamed policies not held by GitOps',
    category: 'follow-up',
    severity: 'error',
    ref: 'domain §0.6b',
    judge: withResources((installation, facts, context): Verdict => {
      const { profile, goal, options } = context;
      const since = profile.policyRenaming?.since;
      if (since === undefined || !crosses(sourceRelease(installation, facts, context), goal.release, since))
        return notApplicable('this upgrade renames no policies');
      if (neverRenames(installation, profile) !== undefined || options.holdPolicyMigration)
        return ok('no policy is renamed by this upgrade');
      const pending = pendingRenames(facts, profile);
      const held = pending.flatMap((policy) => gitOpsOwners([asGiven(policy, profile)]).map((owner) => ({ policy, owner })));
      const commands = [...new Set(held.flatMap(({ owner }) => owner.command ?? []))];
      const evidence = held.map(({ policy, owner }) => evidenceOf(policy, `${owner.name}: name it ${policyName(policy, profile)} in Git`));
      return failIfAny(evidence, 'no policy that will be renamed is held by a GitOps tool', (names) => ({
        because: `${counted(held.length, 'policy', 'policies')} of a GitOps tool will be stored under another name: ${names}. The next sync creates each a second time under its old name, or deletes it`,
        hint: text`Stop the sync first. In Git, give each policy its new name (${command`kubectl netsvc-upgrade plan --for-git DIR`} writes them), and resume the sync after the upgrade. Or hold the renaming back with --until controllers.`,
        ...(commands.length > 0 ? { fix: repairsInTurn(commands) } : {}),
        next: command`kubectl netsvc-upgrade explain NS-710`,
      }));
    }),
  },
];

/** With the labels and annotations that it was given through the v3 API, where tools leave their marks. */
function asGiven(policy: KubeObject, { apiGroup }: Profile): KubeObject {
  const { labels, annotations } = storedMetadata(policy, apiGroup);
  return { ...policy, metadata: { ...policy.metadata, labels, annotations } };
}
