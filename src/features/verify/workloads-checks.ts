import { type Command, command } from '../../kernel/argv.ts';
import { notApplicable, ok, read } from '../../kernel/check.ts';
import { ownCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { intentWords } from '../../kernel/intent.ts';
import { refText } from '../../kernel/object.ts';
import { ageBeside } from '../../kernel/release.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import { failed, failIfAny, listed, table } from '../survey/index.ts';
import type { ServiceImage, VerifyCheck, VerifyFacts } from './survey.ts';

/** The agents among the workloads of the service. */
export const agentsIn = (rollouts: readonly RolloutProgress[]): RolloutProgress | undefined =>
  rollouts.find(({ target }) => target.kind === 'DaemonSet' && target.neverEmpty);

/** `1 of 3 agents has it and is ready`; empty once all have it. */
export function agentsText({ rollouts }: Pick<VerifyFacts, 'rollouts'>): string {
  const agents = 'value' in rollouts ? agentsIn(rollouts.value) : undefined;
  if (!agents?.pods.some(({ phase }) => phase === 'old')) return '';
  const ready = agents.pods.filter(({ phase }) => phase === 'new').length;
  return `${ready} of ${counted(agents.desired, 'agent')} ${ready === 1 ? 'has it and is' : 'have it and are'} ready`;
}

/** The command that replaces the pods that are still old. */
export function continued({ onward: by }: Pick<VerifyFacts, 'onward'>, intent: Context['intent']): Command {
  return ownCommand(by === 'held' || by === 'stopped' ? 'commit' : intentWords(intent).resumedBy);
}

function onward(
  { onward: by }: VerifyFacts,
  { intent }: Context,
  hint: string,
  next: Command,
): { readonly hint: string; readonly next: Command } {
  return by ? { hint: ONWARD[by], next: continued({ onward: by }, intent) } : { hint, next };
}

const ONWARD: Readonly<Record<NonNullable<VerifyFacts['onward']>, string>> = {
  held: 'Their DaemonSet is held by a run that is not finished: no agent is replaced until you continue.',
  stopped: 'The run has stopped on purpose, with --until: what it left old is not upgraded until you continue.',
  run: 'The new release is not applied to all of them, and no wait changes that.',
};

const evidence = ({ pod, container, image }: ServiceImage) => ({ text: pod, detail: `${container}: ${image}` });

export const workloadsChecks: readonly VerifyCheck[] = table({ category: 'result', severity: 'error', ref: '§4.4/3' }, [
  {
    id: 'NS-302',
    title: 'every pod on the target release',
    judge(facts, context) {
      const { goal } = context;
      const images = read(facts.images);
      if (!images.some(({ isCli }) => !isCli)) {
        return failed('no pod of the service was found', 'Check --profile and the install path.', {
          next: command`kubectl netsvc-upgrade preflight`,
        });
      }
      const { old = [], newer = [], untold = [] } = Object.groupBy(images, (one) => ageBeside(one.release, goal.release));
      const others = [...old, ...newer, ...untold];
      if (others.length === 0) return ok(`all ${counted(images.length, 'container')} of the service are of ${goal.release}`);
      const groups = [
        {
          is: `older than ${goal.release}`,
          of: old,
          hint: 'See why it did not roll; what has a manifest of its own (API server, CSI driver, CLI pods) is upgraded with that.',
        },
        {
          is: `newer than ${goal.release}`,
          of: newer,
          hint: 'See who upgraded it, or whether --release names too old a release: the service runs as one release.',
        },
        { is: 'whose image does not tell its release', of: untold, hint: `Compare the digests with those of ${goal.release}.` },
      ].filter(({ of }) => of.length > 0);
      const because = groups.map(({ is, of }) => `${counted(of.length, 'container')} ${is}: ${listed(of.map(({ pod }) => pod))}`);
      const isHarmless = [...old, ...newer].every(({ isCli }) => isCli);
      const { hint, next } = onward(facts, context, groups[0]?.hint ?? '', nextFor(old));
      return failed(`of the service, ${because.join('; ')}`, hint, {
        next,
        evidence: others.map(evidence),
        ...(isHarmless ? { severity: 'warning' } : {}),
      });
    },
  },
  {
    id: 'NS-303',
    title: 'rollout complete',
    judge(facts, context) {
      const rollouts = read(facts.rollouts);
      if (rollouts.length === 0)
        return failed('no workload of the service was found', 'Check --profile and the install path.', {
          next: command`kubectl netsvc-upgrade preflight`,
        });
      const open = rollouts.filter(({ done }) => !done);
      const evidence = open.map(({ target, pending }) => ({ text: refText(target), detail: pending }));
      return failIfAny(evidence, `${counted(rollouts.length, 'workload')} rolled out and ready`, (names) => ({
        because: [`the rolling update is not complete: ${names}`, ...facts.reasons].join('; '),
        ...onward(facts, context, 'Wait for it; it names the node and the reason.', command`kubectl netsvc-upgrade wait`),
      }));
    },
  },
  {
    id: 'NS-304',
    title: 'nothing of the old release left on workloads',
    ref: 'domain §6.4',
    judge(facts) {
      const left = read(facts.leftovers);
      if (left === undefined) return notApplicable('no full manifest on this install path');
      const evidence = left.map(({ object, names }) => ({ text: object, detail: names.join(', ') }));
      return failIfAny(evidence, 'no container, variable or volume of the old release is left', (names) => ({
        because: `${names} still ${left.length === 1 ? 'has' : 'have'} parts of the old release`,
        hint: 'Apply again: it removes them by patches.',
        next: command`kubectl netsvc-upgrade apply`,
      }));
    },
  },
  {
    id: 'NS-305',
    title: 'no CRD left behind',
    severity: 'warning',
    ref: 'domain §0.8',
    judge(facts) {
      const crds = read(facts.leftBehind);
      const used = crds.filter(({ objects }) => objects > 0);
      if (used.length === 0) return ok(crds.length === 0 ? 'no CRD is left behind' : emptyText(crds.map(({ name }) => name)));
      const evidence = used.map(({ name, objects }) => ({ text: `CustomResourceDefinition/${name}`, detail: counted(objects, 'object') }));
      return failIfAny(evidence, '', (which) => ({
        because: `objects that the new release no longer enforces: ${which}`,
        hint: 'Convert them to what replaces their kind first: deleting a CRD deletes its objects.',
        next: command`kubectl get ${used[0]?.name ?? ''} -A`,
      }));
    },
  },
]);

function nextFor(old: readonly ServiceImage[]): Command {
  if (old.length === 0) return command`kubectl netsvc-upgrade status`;
  return old.every(({ isCli }) => isCli) ? command`kubectl netsvc-upgrade cli` : command`kubectl netsvc-upgrade wait`;
}

/** No command that deletes them: an object may have been made since. */
function emptyText(names: readonly string[]): string {
  return `left behind, without objects: ${names.join(', ')}. Deleting a CRD deletes its objects: check again before you do that there are none`;
}
