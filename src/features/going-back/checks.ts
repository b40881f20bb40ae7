import { type Check, type Evidence, notApplicable, type Reading, read, type Verdict } from '../../kernel/check.ts';
import { type Command, command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Installation } from '../../kernel/installation.ts';
import { groupOf, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import { isOlder } from '../../kernel/release.ts';
import { NO_RETURNS } from '../../kernel/undo.ts';
import { failIfAny, managedChecks, showByCli, showPoliciesByCli, table } from '../survey/index.ts';
import { namingOf } from './former-names.ts';
import { type HiddenIn, readsOwnMetadata } from './own-metadata.ts';
import type { NameProblem, NamesJudged } from './policy-names.ts';

/** What the checks of names look at. */
export interface NameFacts {
  /** Undefined where a key-value store is not asked any more. */
  readonly names: Reading<NamesJudged | undefined>;
}

/** What the checks of labels look at. */
export interface LabelsJudged {
  /** Objects with something that old readers do not see. */
  readonly found: Reading<readonly HiddenIn[]>;
}

/** What is stored in the API, or in a key-value store as the CLI shows it. */
export interface InStore extends NameFacts {
  /** Policies of a user in tiers that the old release does not have. */
  readonly tiered: Reading<readonly NameProblem[] | undefined>;
  /** Blocks of addresses that the old release cannot read; in a key-value store their pools. */
  readonly newBlocks: Reading<readonly NameProblem[] | undefined>;
}

/** What stands against going back, before anything is written. */
export interface BackFacts extends InStore, TablesJudged {
  readonly installation: Installation;
  /** What the old release does not act upon; undefined where it is not asked. */
  readonly unread: Reading<readonly NameProblem[] | undefined>;
}

/** What the check of eBPF tables looks at. */
export interface TablesJudged {
  /** What has agents in eBPF mode; undefined where agents of both releases keep connections in the same tables. */
  readonly tables: Reading<readonly NameProblem[] | undefined>;
}

const evidence = ({ object, detail }: NameProblem): Evidence => ({ text: refText(object), object, detail });

const kindsText = (problems: readonly { readonly object: Pick<ObjectRef, 'apiVersion' | 'kind'> }[], { profile }: Context): string =>
  [...new Set(problems.map(({ object }) => `${object.kind.toLowerCase()}.${profile.crdGroup}`))].join(',');

/** In a key-value store: kubectl does not show these. */
const isBehindCli = ([first]: readonly NameProblem[], { profile }: Context): boolean =>
  first !== undefined && groupOf(first.object.apiVersion) === profile.apiGroup;

function showCommand(problems: readonly NameProblem[], context: Context, ...more: readonly string[]): Command {
  return isBehindCli(problems, context) ? showPoliciesByCli(context) : command`kubectl get ${kindsText(problems, context)} -A ${more}`;
}

/** `bgpfilter.crd.projectcalico.org`, each once. */
const resourcesText = (problems: readonly NameProblem[]): string =>
  [...new Set(problems.map(({ object: { apiVersion, kind } }) => `${kind.toLowerCase()}.${groupOf(apiVersion)}`))].join(',');

export const nameChecks: readonly Check<NameFacts>[] = table({ category: 'resources', severity: 'error', ref: 'domain §7.2c' }, [
  {
    id: 'NS-762',
    title: 'policies have names for the old release',
    judge({ names }, context): Verdict {
      if (!namingOf(context.goal.release, context.profile)) return notApplicable(STORED_NAMES);
      const judged = read(names);
      if (!judged) return notApplicable(BACK);
      const { unnameable } = judged;
      const { release } = context.goal;
      const verdict = failIfAny(unnameable.map(evidence), 'the old release finds every stored policy by a name', (list) => ({
        because: `${counted(unnameable.length, 'policy has', 'policies have')} no name that ${release} could ask for: ${list}`,
        hint: isBehindCli(unnameable, context)
          ? `Store each again with ${context.profile.cli.program} of ${release}, as the page says: it stores under the name that it asks for.`
          : 'Create each of them under another name, check that it works, then delete this one.',
        next: showCommand(unnameable, context),
      }));
      return final(verdict);
    },
  },
  {
    id: 'NS-763',
    title: 'no two policies under one former name',
    judge({ names }, context): Verdict {
      if (!namingOf(context.goal.release, context.profile)) return notApplicable(STORED_NAMES);
      const judged = read(names);
      if (!judged) return notApplicable(BACK);
      const { conflicts } = judged;
      const verdict = failIfAny(conflicts.map(evidence), 'no policy stands in the place of another', (list) => ({
        because: `${counted(conflicts.length, 'policy differs', 'policies differ')} from the one that has its former name: ${list}`,
        hint: 'Compare both, and delete the one that is not wanted. Both are in force now; the old release can have only one of them.',
        next: showCommand(conflicts, context, '-o', 'yaml'),
      }));
      return final(verdict);
    },
  },
]);

const STORED_NAMES = 'this release finds policies by their stored names';
const BACK = 'the agents are of this release already; the key-value store was read before';

/** Nobody can accept it: policies would be lost, or mean something else. */
function final(verdict: Verdict): Verdict {
  return verdict.status === 'failed' ? { ...verdict, final: true } : verdict;
}

export const labelChecks: readonly Check<LabelsJudged>[] = table({ category: 'resources', severity: 'error', ref: 'domain §7.2c' }, [
  {
    id: 'NS-764',
    title: 'old release can see every label',
    judge({ found }, context): Verdict {
      if (!readsOwnMetadata(context.goal.release, context.profile)) return notApplicable('this release reads labels where they are stored');
      const invalid = read(found).filter(({ hidden }) => hidden.invalid.length > 0);
      const offenders = invalid.map(({ object, hidden }) => ({
        text: refText(refOf(object)),
        object: refOf(object),
        detail: `labels ${hidden.invalid.join(', ')}`,
      }));
      const resources = [...new Set(invalid.map(({ resource }) => resource))].join(',');
      return failIfAny(offenders, 'Kubernetes takes every label', (list) => ({
        because: `${counted(invalid.length, 'object has', 'objects have')} labels that Kubernetes refuses, and ${context.goal.release} would not see them: ${list}`,
        hint: 'Give these objects labels of another form, and their selectors with them; or accept it: selectors by these labels then miss the objects.',
        next: command`kubectl get ${resources} -A -o yaml`,
      }));
    },
  },
]);

/** Asked again right before the agents are replaced: somebody may switch eBPF mode on meanwhile. */
export const noNewTables: Check<TablesJudged> = {
  id: 'NS-766',
  title: 'no agent keeps connections in tables of eBPF',
  category: 'resources',
  severity: 'error',
  ref: 'domain §7.2c',
  judge({ tables }, { goal: { release } }): Verdict {
    const found = read(tables);
    if (found === undefined) return notApplicable('agents of both releases keep connections in the same tables, or are old already');
    const verdict = failIfAny(found.map(evidence), 'no agent is in eBPF mode', (list) => ({
      because: `agents are in eBPF mode, and those of ${release} refuse the tables of newer ones: ${list}`,
      hint: NO_RETURNS.tables.long,
      next: command`kubectl netsvc-upgrade explain NS-766`,
    }));
    return final(verdict);
  },
};

const storedChecks: readonly Check<Pick<BackFacts, 'tiered' | 'newBlocks' | 'unread'>>[] = table(
  { category: 'resources', severity: 'error', ref: 'domain §7.2c' },
  [
    {
      id: 'NS-760',
      title: 'old release knows the tiers of all policies',
      judge({ tiered }, context): Verdict {
        const { olderReaders } = context.profile;
        const { release } = context.goal;
        if (!olderReaders || !isOlder(release, olderReaders.tiersSince)) return notApplicable('this release knows tiers');
        const found = read(tiered);
        if (!found) return notApplicable(BACK);
        const verdict = failIfAny(found.map(evidence), 'no policy is in a tier of its own', (list) => ({
          because: `${counted(found.length, 'policy is', 'policies are')} in tiers, which ${release} does not know: ${list}`,
          hint: 'Move what they do to policies of the default tier, with an order that keeps their effect, then delete them.',
          next: showCommand(found, context),
        }));
        return final(verdict);
      },
    },
    {
      id: 'NS-761',
      title: 'old release can read all blocks of addresses',
      judge({ newBlocks }, context): Verdict {
        const blocks = context.profile.olderReaders?.newBlocks;
        const { release } = context.goal;
        if (!blocks || !isOlder(release, blocks.since)) return notApplicable('this release reads every block');
        const found = read(newBlocks);
        if (!found) return notApplicable(BACK);
        const isBehind = isBehindCli(found, context);
        const verdict = failIfAny(found.map(evidence), 'no block of another kind holds addresses', (list) => ({
          because: isBehind
            ? `${counted(found.length, 'pool gives', 'pools give')} addresses to ${blocks.use}, which ${release} does not give: ${list}`
            : `${counted(found.length, 'block holds', 'blocks hold')} addresses for ${blocks.use}, which ${release} does not give: ${list}`,
          hint: `Take the addresses from the ${blocks.use} (another provider, or delete these), and wait until the blocks are empty${isBehind ? '. Then delete the pools' : ''}.`,
          next: command`kubectl get services -A -o wide`,
        }));
        return final(verdict);
      },
    },
    {
      id: 'NS-765',
      title: 'old release acts upon all that is stored',
      judge({ unread }, context): Verdict {
        const { release } = context.goal;
        const found = read(unread);
        if (found === undefined) return notApplicable(`every release acts upon the same, or ${BACK}`);
        const verdict = failIfAny(found.map(evidence), `${release} defines every stored object and field`, (list) => ({
          because: `${counted(found.length, 'object has', 'objects have')} what ${release} does not act upon: ${list}`,
          hint: 'Do what they do by other means, then delete or change them; or accept each by its name: it stays stored, and has no such effect.',
          next: isBehindCli(found, context)
            ? showByCli(context, found[0]?.object.kind.toLowerCase() ?? '')
            : command`kubectl get ${resourcesText(found)} -A -o yaml`,
        }));
        return verdict.status === 'failed' ? { ...verdict, byName: true, eachByName: true } : verdict;
      },
    },
  ],
);

export const backChecks: readonly Check<BackFacts>[] = [...managedChecks, ...storedChecks, noNewTables, ...nameChecks];
