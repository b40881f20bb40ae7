import type { Action, KeptChanges } from '../../kernel/action.ts';
import { command } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import { stage } from '../../kernel/stage.ts';
import { cliWrite } from '../service-cli/index.ts';
import { removalChecks } from './removal-checks.ts';
import { type PolicyFacts, readPolicyFacts, type SearchOwned } from './survey.ts';
import { storedNames, undoPlan } from './undo.ts';

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
    undoneBy: 'policy --undo',
    optional: true,
    converges: true,
    checks: removalChecks,
    survey: (sources, context) => readPolicyFacts(sources, context, searchOwned),
    plan(facts, context) {
      if (context.options.undo) return undoPlan(facts, context);
      const { temporaryPolicy } = context.profile;
      if (facts.found.length === 0) return { skip: `there is no policy ${temporaryPolicy}` };
      const told = context.options.deletePolicy;
      if (told === undefined) return { actions: [review(facts, context)] };
      if (told !== temporaryPolicy) {
        throw new Fault('usage', `--delete=${told}: the temporary policy is called ${temporaryPolicy}`, [
          `write --delete=${temporaryPolicy}`,
        ]);
      }
      const actions =
        facts.installation.datastore === 'api'
          ? facts.found.map((_, index) => removal(facts.found, index))
          : [removalByCli(facts, context)];
      return { actions };
    },
  });

function review({ stored }: PolicyFacts, { profile }: Context): Action {
  const name = profile.temporaryPolicy;
  const instruction =
    `review the traffic logs of ${name} (stored as ${stored.join(' and ')}), add the global policies that are needed, ` +
    `then delete it: ${command`kubectl netsvc-upgrade policy --delete=${name}`}`;
  const effect = { type: 'ask', instruction, awaited: true, next: 'kubectl netsvc-upgrade policy' } as const;
  return { id: 'review', title: `${name} allows all traffic: review`, ref: '§4.4/7', undo: 'full', effect };
}

/** Stored objects are deleted as they were read. Of two the other is kept with each: a later run may delete it, and the undo is of both. */
function removal(found: readonly KubeObject[], index: number): Action {
  const [policy, ...others] = [...found.slice(index), ...found.slice(0, index)] as [KubeObject, ...KubeObject[]];
  return {
    id: `delete-${index + 1}`,
    title: `delete the temporary policy ${policy.metadata.name}`,
    ref: '§4.4/7',
    undo: 'full',
    keep: kept([policy, ...others]),
    effect: { type: 'delete', target: refOf(policy) },
  };
}

function kept(found: readonly KubeObject[]): KeptChanges {
  return { changes: found.map((one) => changeTo(one, { '': undefined })) };
}

/**
 * In key-value mode only the CLI can remove it, by its stored name, which older clients prefix: both are deleted, then listed again (cli
 * notes 1.7). Of two, both come back, maybe under each other's name.
 */
function removalByCli({ found, cli }: PolicyFacts, { profile }: Context): Action {
  const { temporaryPolicy: name } = profile;
  if ('missing' in cli) {
    const id = cli.doubt ? 'NS-725' : 'NS-723';
    throw new Fault('blocked', `the temporary policy cannot be removed: ${cli.missing}`, [`leave --accept ${id} out, and follow its hint`]);
  }
  return {
    id: 'delete-1',
    title: `delete the temporary policy ${name}`,
    ref: '§4.5/6',
    undo: found.length > 1 ? 'partial' : 'full',
    keep: kept(found),
    effect: cliWrite(cli, ['delete', 'globalnetworkpolicy', ...storedNames(profile), '--skip-not-exists']),
  };
}
