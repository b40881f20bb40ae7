import { removalChecks } from '../checks/policy-removal.ts';
import type { Action } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import { type KubeObject, refOf } from '../core/object.ts';
import { type StagePlan, stage } from '../core/stage.ts';
import { storedMetadata } from '../core/stored-metadata.ts';
import { type PolicyFacts, readPolicyFacts } from './policy/facts.ts';

/** The temporary policy of upgrades from before v3.14: what only it allows, a person's review, removal when told by name (§4.4/7). */
export const policyStage = stage<PolicyFacts>({
  id: 'policy',
  title: 'Review and remove the temporary policy',
  ref: '§4.4/7',
  readOnly: false,
  optional: true,
  converges: true,
  checks: removalChecks,
  survey: readPolicyFacts,
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
    const actions = facts.installation.datastore === 'api' ? facts.found.map(removal) : [removalByCli(facts, context)];
    return { actions };
  },
});

function review({ stored }: PolicyFacts, { profile }: Context): Action {
  const name = profile.temporaryPolicy;
  const instruction =
    `review the traffic logs of ${name} (stored as ${stored.join(' and ')}), add the global policies that are needed, ` +
    `then delete it: kubectl netsvc-upgrade policy --delete=${name}`;
  const effect = { type: 'ask', instruction, awaited: true } as const;
  return { id: 'review', title: `${name} allows all traffic: review`, ref: '§4.4/7', undo: 'full', effect };
}

/** Stored objects are deleted as they were read. */
function removal(policy: KubeObject, index: number): Action {
  return {
    id: `delete-${index + 1}`,
    title: `delete the temporary policy ${policy.metadata.name}`,
    ref: '§4.4/7',
    undo: 'full',
    keep: { policy },
    effect: { type: 'delete', target: refOf(policy) },
  };
}

/**
 * In key-value mode only the CLI can. It lists a policy by its own name and deletes it by the stored one, which has the tier's name
 * before it if an older client wrote it, and there may be both (cli notes 1.7): both are deleted, and the policies listed again.
 */
function removalByCli({ found, call }: PolicyFacts, { profile }: Context): Action {
  const { temporaryPolicy: name, policyRenaming, cli } = profile;
  const [policy, ...others] = found;
  const { program, args } = 'missing' in call ? { program: cli.program, args: [] } : call;
  const names = [name, ...(policyRenaming ? [`${policyRenaming.prefix}${name}`] : [])];
  const run = { tool: 'netsvcctl', args: ['delete', 'globalnetworkpolicy', ...names, '--skip-not-exists', ...args] } as const;
  return {
    id: 'delete-1',
    title: `delete the temporary policy ${name}`,
    ref: '§4.5/6',
    undo: others.length > 0 ? 'partial' : 'full',
    keep: { policy, ...(others.length > 0 ? { others } : {}) },
    effect: { type: 'exec', program, run },
  };
}

function undoPlan({ kept, found, call }: PolicyFacts, context: Context): StagePlan {
  const policies = kept.map(({ content }) => (content as { readonly policy?: KubeObject }).policy).filter((one) => one !== undefined);
  const [policy] = policies;
  if (!policy) return { skip: 'no removal of the temporary policy was recorded on this cluster' };
  if (found.length > 0) return { skip: 'the temporary policy is there' };
  if ('missing' in call) return { skip: `the service’s CLI cannot be used: ${call.missing}` };
  const run = { tool: 'netsvcctl', args: ['create', '-f', '-', ...call.args], stdin: JSON.stringify(served(policy, context)) } as const;
  const title = `create the temporary policy ${context.profile.temporaryPolicy} again`;
  return { actions: [{ id: 'recreate', title, ref: '§4.4/7', undo: 'full', effect: { type: 'exec', program: call.program, run } }] };
}

/** Under its own name, as the v3 API takes it. */
function served(policy: KubeObject, { profile }: Context): KubeObject {
  const { labels, annotations } = storedMetadata(policy, profile.apiGroup);
  return {
    apiVersion: `${profile.apiGroup}/v3`,
    kind: 'GlobalNetworkPolicy',
    metadata: { name: profile.temporaryPolicy, labels, annotations },
    spec: policy.spec,
  };
}
