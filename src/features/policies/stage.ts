import type { Action, KeptChanges } from '../../kernel/action.ts';
import { command, commandLine } from '../../kernel/argv.ts';
import { repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import { stage } from '../../kernel/stage.ts';
import { text } from '../../kernel/step.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { servedObject } from '../../kube/stored-metadata.ts';
import { manifestText } from '../../manifest/manifest.ts';
import { restorable } from '../../manifest/prepare.ts';
import { allow, needs } from '../rights/index.ts';
import { cliWrite } from '../service-cli/index.ts';
import { backupFolder } from '../survey/index.ts';
import { removalChecks } from './removal-checks.ts';
import { type PolicyFacts, readPolicyFacts, type SearchOwned, storedNames } from './survey.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** The temporary policy that the user told to delete, by name. */
    readonly deletePolicy?: string;
  }
}

/** The temporary policy of upgrades from before v3.14: what only it allows, the user's review, removal when it is named (§4.4/7). */
export const policyStage = (searchOwned: SearchOwned) =>
  stage<PolicyFacts>({
    id: 'policy',
    title: 'Review and remove the temporary policy',
    ref: '§4.4/7',
    readOnly: false,
    needs: [
      needs.detection,
      needs.storedResources,
      needs.endpointProfiles,
      ({ crdGroup: group }) => allow(['delete', 'get', 'list'], { group, plural: 'globalnetworkpolicies' }, 'the temporary policy'),
    ],
    undoneBy: 'copy',
    optional: true,
    converges: true,
    checks: removalChecks,
    survey: (sources, context) => readPolicyFacts(sources, context, searchOwned),
    plan(facts, context) {
      const { temporaryPolicy } = context.profile;
      if (facts.found.length === 0) return { skip: `there is no policy ${temporaryPolicy}` };
      const told = context.options.deletePolicy;
      if (told === undefined) return { actions: [review(facts, context)] };
      if (told !== temporaryPolicy) {
        throw new Fault('usage', `--delete=${told}: the temporary policy is called ${temporaryPolicy}`, [
          `write --delete=${temporaryPolicy}`,
        ]);
      }
      const removals = facts.installation.datastore === 'api' ? facts.found.map(removal) : [removalByCli(facts, context)];
      return { actions: [copy(facts, context), ...removals], notes: facts.found.map(shown) };
    },
  });

function review({ stored }: PolicyFacts, { profile }: Context): Action {
  const name = profile.temporaryPolicy;
  const reviewed = `review the traffic logs of ${name} (stored as ${stored.join(' and ')}), add the global policies that are needed`;
  const instruction = text`${reviewed}, then delete it: ${repairCommand`kubectl netsvc-upgrade policy --delete=${name}`}`;
  const effect = { type: 'ask', instruction, awaited: true, next: command`kubectl netsvc-upgrade policy` } as const;
  return { id: 'review', title: `${name} allows all traffic: review`, ref: '§4.4/7', undo: 'full', effect };
}

/** What is about to go, for whoever confirms it. */
function shown({ metadata: { name }, spec }: KubeObject): string {
  return `${name}: ${JSON.stringify(spec ?? {})}`;
}

/** On this machine too: whoever wants the policy back applies this file, without knowing the run record. */
function copy({ found, installation, cli }: PolicyFacts, context: Context): Action {
  const { apiGroup, temporaryPolicy } = context.profile;
  const isStored = installation.datastore === 'api';
  const content = manifestText(found.map((one) => (isStored ? restorable(one) : servedObject(one, apiGroup))));
  const file = `${backupFolder(context)}/${temporaryPolicy}-${sha256Of(new TextEncoder().encode(content)).slice(0, 8)}.yaml`;
  const restoredBy =
    isStored || 'missing' in cli
      ? command`kubectl apply --server-side -f ${file}`.plain
      : commandLine({ tool: 'netsvcctl', args: ['apply', '-f', file, ...cli.args] }, cli.program);
  return {
    id: 'copy',
    title: `copy the temporary policy to ${file}`,
    ref: '§4.4/7',
    undo: 'full',
    effect: { type: 'copy-policy', file, content, restoredBy },
  };
}

/** Stored objects are deleted as they were read, and recorded first: there may be two. */
function removal(policy: KubeObject, index: number): Action {
  const { name, resourceVersion } = policy.metadata;
  return {
    id: `delete-${index + 1}`,
    title: `delete the temporary policy ${name}`,
    ref: '§4.4/7',
    undo: 'full',
    keep: kept([policy]),
    effect: { type: 'delete', target: refOf(policy), ...(resourceVersion ? { resourceVersion } : {}) },
  };
}

function kept(found: readonly KubeObject[]): KeptChanges {
  return { changes: found.map((one) => changeTo(one, { '': undefined })) };
}

/**
 * In key-value mode only the CLI can remove it, by its stored name, which older clients prefix: both are deleted, then listed again (cli
 * notes 1.7). The CLI knows no precondition, so the policies are read again right before.
 */
function removalByCli({ found, cli }: PolicyFacts, { profile }: Context): Action {
  const { temporaryPolicy } = profile;
  if ('missing' in cli) {
    const id = cli.doubt ? 'NS-725' : 'NS-723';
    throw new Fault('blocked', `the temporary policy cannot be removed: ${cli.missing}`, [`leave --accept ${id} out, and follow its hint`]);
  }
  const names = storedNames(profile);
  return {
    id: 'delete-1',
    title: `delete the temporary policy ${temporaryPolicy}`,
    ref: '§4.5/6',
    undo: 'full',
    keep: kept(found),
    effect: {
      ...cliWrite(cli, ['delete', 'globalnetworkpolicy', ...names, '--skip-not-exists']),
      onlyIf: { type: 'policies-as-read', cli, names, found },
    },
  };
}
