import { type Command, command } from '../../kernel/argv.ts';
import { notApplicable, ok } from '../../kernel/check.ts';
import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { intentWords } from '../../kernel/intent.ts';
import { failed, listed, table } from '../survey/index.ts';
import type { LeftAlone, RestoreCheck, RestoreJudged } from './owner-facts.ts';
import { manifestVerdict, SEARCHED, searchedAgain } from './owner-references-checks.ts';
import { journalChecks } from './owners-checks.ts';

const IDLE = 'no reference is recorded as removed';

function unlessIdle(judge: RestoreCheck['judge']): RestoreCheck['judge'] {
  return (facts, context) => (facts.idle ? notApplicable(IDLE) : judge(facts, context));
}

function evidenceOf(left: readonly LeftAlone[]) {
  return left.map(({ object, text, detail }) => ({ text, object, detail }));
}

const searchedBefore: RestoreCheck = { ...SEARCHED, judge: searchedAgain };

const RELEASED =
  'release the hold so that the controllers rename them, then put all references back: ownerrefs restore waits for the new names.';

function released(facts: RestoreJudged): string {
  if (facts.unread.length > 0)
    return `Do not release the hold yet: ${listed(facts.unread.map(({ kind }) => kind))} could not be searched. Objects of these kinds that name the policies are deleted when the policies are renamed. Fix NS-741 first.`;
  if (!isNamedElsewhere(facts)) return `Nothing else names them: ${RELEASED}`;
  return `Other objects that name them are deleted when they are renamed. Remove those references first (ownerrefs strip), then ${RELEASED}`;
}

/** Something that `ownerrefs strip` removes still names policies that wait for their new names. */
function isNamedElsewhere({ namingHeld, dangling }: RestoreJudged): boolean {
  return namingHeld > 0 || dangling.some(({ isStripped }) => isStripped);
}

const EXPLAINED = command`kubectl netsvc-upgrade explain NS-743`;

/** The hold is released only when no reference that a search finds would break. */
function releaseStep(facts: RestoreJudged): { readonly next: Command; readonly fix?: RepairCommand } {
  const { hold, unread } = facts;
  // Also what the user has accepted by name as not searched.
  if (unread.length > 0) return { next: command`kubectl netsvc-upgrade ownerrefs list` };
  if (isNamedElsewhere(facts)) return { next: command`kubectl netsvc-upgrade ownerrefs strip` };
  if (hold === undefined) return { next: EXPLAINED };
  const { kind, name, field } = hold;
  const patch = field.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), 'Enabled');
  const resource = `${kind.plural}.${kind.group}`;
  return {
    fix: repairCommand`kubectl patch ${resource} ${name} --type=merge -p ${JSON.stringify(patch)}`,
    next: command`kubectl get ${resource} ${name} -o yaml`,
  };
}

/** No hold to release and no new names to wait for: what the controllers would do is a manual step (domain §7.2b). */
function byHand({ crdGroup, policyRenaming }: Context['profile']): string {
  const { waitsFor = '', prefix = '' } = policyRenaming ?? {};
  return `The controllers wait for DaemonSet ${waitsFor}, which the agents here are not, and never rename them. For each policy: remove references to the stored ${prefix}NAME (group ${crdGroup}), which would be deleted with it. Create the policy from what the API shows as ${prefix}NAME, then delete that one. Then put its references back, and accept it by name: its UID is another one now (NS-746). To leave them off for good: ownerrefs forget --accept NS-748.`;
}

const GIVEN_UP = 'What is to stay off is given up with ownerrefs forget --accept NS-748; the archive keeps every entry.';

/** What ends the journal, by what is left: the words behind `ownerrefs`, and why. */
const WAY_ON = {
  back: [['restore'], `Put them back first; the journal is what they are put back from. ${GIVEN_UP}`],
  before: [
    ['restore', '--undo'],
    `If you decided against the upgrade, put them back as they were; if not, the journal is needed after it. ${GIVEN_UP}`,
  ],
  dead: [['strip'], `Remove them and put them back, or correct them yourself: NS-749 names them. ${GIVEN_UP}`],
  off: [
    ['list'],
    `ownerrefs restore does not put them back; the finding beside each says why. Fix the object or its owner, or add the reference yourself. To leave off what one object lacks: --accept NS-748=SUBJECT. ${GIVEN_UP}`,
  ],
} as const;

/** Something is off, and all of it is what `ownerrefs restore` leaves off. */
export function onlyStaysOff({ stayOff, outstanding, dangling, unreadRecorded }: RestoreJudged): boolean {
  return stayOff.length > 0 && stayOff.length === outstanding && dangling.length === 0 && unreadRecorded.length === 0;
}

function wayOn(facts: RestoreJudged): keyof typeof WAY_ON {
  const { outstanding, asBefore, unreadRecorded } = facts;
  if (onlyStaysOff(facts)) return 'off';
  if (unreadRecorded.length === 0 && outstanding === 0) return 'dead';
  return asBefore ? 'before' : 'back';
}

export const restoreChecks: readonly RestoreCheck[] = table({ category: 'follow-up', severity: 'warning', ref: '§4.8/3' }, [
  ...journalChecks,
  searchedBefore,
  {
    id: 'NS-746',
    title: 'owners have the UIDs computed for them',
    severity: 'error',
    judge: unlessIdle(({ otherOwners, someAsExpected }) => {
      if (otherOwners.length === 0) return ok('every owner has the UID that it is expected to have');
      return failed(
        `${counted(otherOwners.length, 'owner')} ${otherOwners.length === 1 ? 'has' : 'have'} another UID than expected: ${listed(otherOwners.map(({ text }) => text))}`,
        someAsExpected
          ? `Somebody deleted and created ${otherOwners.length === 1 ? 'this owner' : 'these owners'} again. All other references are put back. For each: --resolve OWNER=new gives the references to the one that is there now, OWNER=drop leaves them off for good.`
          : 'An old API server may still answer: finish its upgrade. Or somebody deleted the owner and created it again: --resolve OWNER=new if it is the right one, OWNER=drop to leave its references off for good. With --undo, the upgrade has changed UIDs already: omit --undo.',
        {
          evidence: otherOwners,
          severity: someAsExpected ? 'warning' : 'error',
          next: someAsExpected ? command`kubectl netsvc-upgrade ownerrefs list` : command`kubectl netsvc-upgrade wait`,
        },
      );
    }),
  },
  {
    id: 'NS-744',
    title: 'owners of removed references still there',
    judge: unlessIdle(({ ownerGone }) => {
      if (ownerGone.length === 0) return ok('every recorded owner is there');
      return failed(
        `the owners of ${counted(ownerGone.length, 'reference')} no longer exist: ${listed(ownerGone.map(({ text }) => text))}`,
        'These references stay off: with a UID that no longer exists the object would be deleted. Delete the objects yourself if nothing needs them.',
        { evidence: evidenceOf(ownerGone), next: command`kubectl netsvc-upgrade ownerrefs list` },
      );
    }),
  },
  /** The garbage collector asks for an owner by its name: one that does not answer to it counts as gone. */
  {
    id: 'NS-743',
    title: 'owners found by their names',
    judge: unlessIdle((facts, { profile, intent }) => {
      const { unaddressed, neverRenamed } = facts;
      if (unaddressed.length === 0) return ok('every owner is found by its name');
      const because = `${counted(unaddressed.length, 'reference')} stay off, for the API server does not find their owners, or the objects themselves, by name: ${listed(unaddressed.map(({ text }) => text))}`;
      if (intentWords(intent).goesBack) {
        const hint = 'These policies are not stored under the names that the old release asks for: the journal keeps the references.';
        return failed(because, hint, { next: command`kubectl netsvc-upgrade ownerrefs list`, evidence: evidenceOf(unaddressed) });
      }
      return failed(because, `These policies are stored under their old names. ${neverRenamed ? byHand(profile) : released(facts)}`, {
        ...(neverRenamed ? { next: EXPLAINED } : releaseStep(facts)),
        evidence: evidenceOf(unaddressed),
      });
    }),
  },
  {
    id: 'NS-745',
    title: 'objects unchanged since strip',
    judge: unlessIdle(({ changed }) => {
      if (changed.length === 0) return ok('every recorded object is as it was left');
      return failed(
        `${counted(changed.length, 'reference')} cannot be put back as recorded: ${listed(changed.map(({ text }) => text))}`,
        'What somebody changed meanwhile is not overwritten: check each, and edit metadata.ownerReferences where needed. What could not be read stays in the journal: let this account read it, then restore again.',
        { evidence: evidenceOf(changed), next: command`kubectl netsvc-upgrade ownerrefs restore --dry-run=server` },
      );
    }),
  },
  {
    id: 'NS-742',
    title: 'applied manifests without old UIDs',
    judge: unlessIdle(({ manifests }) => manifestVerdict(evidenceOf(manifests))),
  },
  {
    id: 'NS-747',
    title: 'finalizers of owners may be updated',
    judge: unlessIdle(({ finalizers }) => {
      if (finalizers.length === 0) return ok('this account may set blockOwnerDeletion for these owners');
      return failed(
        `this account may not update the finalizers of ${listed(finalizers)}`,
        'Where the cluster enforces it (OwnerReferencesPermissionEnforcement), references with blockOwnerDeletion are refused: grant update on them.',
        {
          evidence: finalizers.map((text) => ({ text })),
          next: command`kubectl auth can-i update ${finalizers[0] ?? ''} --subresource=finalizers`,
        },
      );
    }),
  },
  /** References that appeared while others were off: they would die like those. */
  {
    id: 'NS-749',
    title: 'no dangling ownerReferences',
    severity: 'error',
    ref: '§7/1',
    judge: unlessIdle(({ dangling }) => {
      if (dangling.length === 0) return ok('every reference names an owner that garbage collection finds');
      const stripped = dangling.filter(({ isStripped }) => isStripped);
      return failed(
        `${counted(dangling.length, 'reference')} name an owner that garbage collection does not find: ${listed(dangling.map(({ text }) => text))}`,
        [
          'Garbage collection takes these objects at its next start at the latest.',
          ...(stripped.length === 0 ? [] : ['Remove what the upgrade broke: it is recorded, and put back later.']),
          ...(stripped.length === dangling.length
            ? []
            : [`Correct ${stripped.length === 0 ? 'them' : 'the others'} in metadata.ownerReferences, or accept them by name.`]),
        ].join(' '),
        { next: command`kubectl netsvc-upgrade ownerrefs ${stripped.length === 0 ? 'list' : 'strip'}`, evidence: evidenceOf(dangling) },
      );
    }),
  },
]);

export const forgetChecks: readonly RestoreCheck[] = [
  ...journalChecks,
  searchedBefore /** The journal is kept for as long as it may be needed. */,
  {
    id: 'NS-748',
    title: 'nothing left in the journal of owner references',
    category: 'follow-up',
    severity: 'warning',
    ref: '§4.8/3',
    judge(facts, { options }) {
      const { idle, outstanding, stayOff, dangling, unreadRecorded } = facts;
      if (idle) return notApplicable(IDLE);
      if (outstanding === 0 && dangling.length === 0 && unreadRecorded.length === 0)
        return ok('every recorded reference is back, and none is dead');
      const [words, hint] = WAY_ON[wayOn(facts)];
      const severity = options.forgetOwners ? 'error' : 'warning';
      const dead =
        dangling.length === 0 ? '' : `; ${counted(dangling.length, 'reference')} name an owner that garbage collection does not find`;
      const unread = unreadRecorded.length === 0 ? '' : `; ${listed(unreadRecorded)} could not be read`;
      return failed(`${counted(outstanding, 'object')} still lack references${dead}${unread}: the journal is kept`, hint, {
        next: command`kubectl netsvc-upgrade ownerrefs ${words}`,
        severity,
        evidence: evidenceOf([...stayOff, ...dangling]),
        leavesOutAccepted: true,
      });
    },
  },
];
