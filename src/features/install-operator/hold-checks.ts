import { type Command, command } from '../../kernel/argv.ts';
import { type Check, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { isOperated } from '../../kernel/installation.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { OperatorIgnores } from '../../kernel/operator-names.ts';
import { text } from '../../kernel/step.ts';
import { isAnnotatedByUser, isIgnored } from '../../kube/held.ts';
import { evidenceOf, failed, failIfAny, listed, type PreflightCheck, withInstallation } from '../survey/index.ts';
import { type HoldFacts, isTyphaHeld, typhaRefuses } from './hold.ts';
import { type AgentsHold, heldSets, refusesOlder } from './hold-agents.ts';

/** Of each evaluation of the order of agents and Typha. */
export const orderRow = {
  id: 'NS-251',
  title: 'agents and Typha replaced in a safe order',
  category: 'workloads',
  severity: 'error',
  ref: 'domain §0.2',
} as const;

const row = {
  id: 'NS-411',
  title: 'no component kept from the operator',
  category: 'workloads',
  severity: 'error',
  ref: 'domain §0.2',
} as const;

/** An annotation of the user's own: the operator would never upgrade that component, and it is not ours to remove. */
export const keptBefore: PreflightCheck = {
  ...row,
  judge: withInstallation((installation, { daemonSets, deployments, record }, context) => {
    const { operator } = context.profile;
    if (!isOperated(installation) || !operator.ignores)
      return notApplicable('no operator that can be kept from a component runs the service here');
    const ours = [...read(daemonSets), ...read(deployments)].filter(({ metadata }) => metadata.namespace === operator.workloadNamespace);
    const { typha, controllers } = operator;
    const keeps = context.options.until === 'agents';
    const held = [
      ...(keeps ? [controllers] : []),
      ...(typha && (keeps || typhaRefuses(context, installation, read(record))) ? [typha] : []),
    ];
    const isHeldLater = ({ kind, metadata: { name } }: KubeObject) => held.some((one) => kind === one.kind && name === one.name);
    return keptVerdict(ours, operator.ignores, isHeldLater);
  }),
};

/** Of what a stage is about to hold itself. */
export const keptNow: Check<{ readonly hold: HoldFacts | undefined }> = {
  ...row,
  judge({ hold }) {
    const ours = (hold?.all ?? []).filter(({ id, due }) => due || id === 'typha');
    const isDue = (object: KubeObject) => ours.some((one) => one.due && one.object === object);
    return hold && ours.length > 0
      ? keptVerdict(
          ours.map(({ object }) => object),
          hold.ignores,
          isDue,
        )
      : notApplicable('nothing is held here');
  },
};

/** The same of DaemonSets: one that a user has annotated never gets its older release. */
export const keptSets: Check<{ readonly agents: AgentsHold | undefined }> = {
  ...row,
  judge({ agents }, context) {
    return agents ? keptVerdict(agents.sets, agents.ignores, () => refusesOlder(context)) : notApplicable('nothing is held here');
  },
};

/** `isHeldLater`: of what this program has to annotate itself, which it does over no value of a user's. */
function keptVerdict(workloads: readonly KubeObject[], ignores: OperatorIgnores, isHeldLater: (one: KubeObject) => boolean): Verdict {
  const { annotation, value } = ignores;
  const annotated = workloads.filter((one) => isAnnotatedByUser(one, ignores));
  const kept = annotated.filter((one) => isIgnored(one, ignores));
  const unheld = annotated.filter((one) => !kept.includes(one) && isHeldLater(one));
  const [first] = [...unheld, ...kept];
  const evidence = [...unheld, ...kept].map((one) => evidenceOf(one, `${annotation}: ${one.metadata.annotations?.[annotation]}`));
  const next = first ? lookAt(first) : command`kubectl netsvc-upgrade preflight`;
  const remove = first ? removal(first, ignores) : '';
  if (unheld.length > 0)
    return failed(
      `a user has annotated ${listed(unheld.map((one) => refText(refOf(one))))} with ${annotation}. Only ${value} has a meaning there, and this program has to set it: it changes no annotation of a user's`,
      text`Find out who set it and why. Then remove it: ${remove}`,
      { evidence, final: true, next },
    );
  return failIfAny(evidence, 'the operator may change every component', (names) => ({
    because: `the operator never upgrades ${counted(kept.length, 'component')} that a user has annotated with ${annotation}: ${names}`,
    hint: text`Find out who set it and why. Then remove it, and the operator renders the component at once: ${remove}`,
    next,
  }));
}

function removal({ kind, metadata: { name, namespace = '' } }: KubeObject, { annotation }: OperatorIgnores): RepairCommand {
  return repairCommand`kubectl annotate ${kind.toLowerCase()} ${name} -n ${namespace} ${`${annotation}-`}`;
}

function lookAt({ kind, metadata: { name, namespace = '' } }: KubeObject): Command {
  return command`kubectl get ${kind.toLowerCase()} ${name} -n ${namespace} --show-managed-fields -o yaml`;
}

/** What `apply --undo` finds. */
export interface HoldUndone {
  readonly hold: HoldFacts | undefined;
  /** The operator that runs is of a release whose Typha refuses older agents, and not every agent is new yet. */
  readonly isNeeded: boolean;
  /** The operator that runs is of the target, and the controllers are held and not new yet. */
  readonly goesForward: boolean;
  readonly agents: AgentsHold | undefined;
  /** An older operator runs, and Typha is not old yet. */
  readonly areNeeded: boolean;
}

/** Released too early, Typha is replaced at once, and refuses the agents that are still old. */
export const neededNoMore: Check<HoldUndone> = {
  ...orderRow,
  judge({ hold, isNeeded, goesForward, agents, areNeeded }) {
    if (agents && areNeeded)
      return failed(
        'the older operator runs and Typha is not old yet: it replaces the agents at once when their hold is removed, and the newer Typha refuses them. They get no policy updates until it is old',
        'Resume the rollback instead: it releases them when Typha is old. Or accept this check by name, in a maintenance window.',
        {
          evidence: heldSets(agents).map((set) => ({ text: refText(refOf(set)) })),
          byName: true,
          next: command`kubectl netsvc-upgrade rollback`,
        },
      );
    const refusing = hold && isTyphaHeld(hold) && isNeeded ? namesOf(hold, 'typha') : [];
    if (hold && goesForward) return forward([...refusing, ...namesOf(hold, 'controllers')], refusing.length > 0);
    if (!hold || !isTyphaHeld(hold)) return notApplicable('Typha is not held');
    if (refusing.length === 0) return ok('no agent is refused by the Typha that the operator renders now');
    return failed(
      `the new operator runs and agents are still old: it replaces Typha at once when the hold is removed, and ${REFUSED}`,
      'Resume the run instead: it releases Typha when every agent is upgraded. Or accept this check by name, in a maintenance window.',
      { evidence: refusing, byName: true, next: command`kubectl netsvc-upgrade run` },
    );
  },
};

const REFUSED = 'that Typha refuses them. They get no policy updates until each is replaced';

const namesOf = ({ all }: HoldFacts, id: 'typha' | 'controllers') =>
  all.filter((one) => one.id === id).map(({ object }) => ({ text: refText(refOf(object)) }));

/** After `--until agents`: what is released is replaced by the operator of the target. */
function forward(evidence: readonly { readonly text: string }[], areRefused: boolean): Verdict {
  const agents = areRefused ? `. It replaces Typha too while agents are old, and ${REFUSED}` : '';
  return failed(
    `the new operator runs and the controllers are old: it replaces them at once when the hold is removed, which is the rest of the upgrade and no undo${agents}`,
    text`Continue instead, or go back: ${command`kubectl netsvc-upgrade rollback`}. Or accept this check by name.`,
    { evidence, byName: true, next: command`kubectl netsvc-upgrade commit` },
  );
}
