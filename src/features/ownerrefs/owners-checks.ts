import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { plainRef, refText } from '../../kernel/object.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { isPerson, writerText } from '../../kube/managed-fields.ts';
import { failed, failIfAny, listed, type PreflightCheck, table, withInstallation } from '../survey/index.ts';
import type { JournalCheck, JournalFound } from './owner-facts.ts';
import {
  isHarmless,
  KEY_VALUE,
  managersOf,
  NO_CHANGE,
  NONE_LEFT,
  NONE_TO_REMOVE,
  ownersOf,
  ownersSearched,
  PAUSABLE,
  type Removable,
  removableIn,
} from './owner-references-checks.ts';
import { mayRestore } from './owner-rights.ts';

export const ownersChecks: readonly PreflightCheck[] = [
  { ...ownersSearched, judge: withInstallation((_, { owners }, context) => ownersSearched.judge(read(owners), context)) },
  /** Owner references that are removed before the upgrade (§4.8, §7; domain §7). */
  {
    ...NONE_LEFT,
    judge: withInstallation((_, facts, context): Verdict => {
      const judged = read(facts.owners);
      const removable = removableIn(judged);
      if (removable === undefined) return notApplicable(NO_CHANGE);
      const isOff = isTakenOff(context);
      const managers = managersOf(removable).filter((manager) => !isPerson(manager));
      const warns = isHarmless(removable) ? !isOff : isOff && managers.length > 0;
      const risk = isHarmless(removable) ? KEY_VALUE : 'garbage collection would delete them after the upgrade';
      const because = `${counted(removable.length, 'object')}${namespacesOf(removable)} owned by ${ownersOf(removable)}: ${risk}`;
      const none = `${NONE_TO_REMOVE} (${counted(judged.references?.kinds ?? 0, 'kind')} searched)`;
      return failIfAny(removable.map(writtenEvidence), none, () => ({
        because: isOff ? `${because}; run removes these ownerReferences first and restores them with the new UIDs` : because,
        ...(isOff && warns ? mayComeBack(managers) : TAKE_OFF),
        ...(warns ? { severity: 'warning' as const } : { expected: isOff }),
      }));
    }),
  },
  { ...mayRestore, judge: ({ owners }, context) => mayRestore.judge(read(owners), context) },
];

const TAKE_OFF = {
  hint: 'Remove these references before the upgrade: they are recorded, and put back with the new UIDs. run does both.',
  next: command`kubectl netsvc-upgrade ownerrefs strip`,
};

/** A controller may write a removed reference again: that shows only then, and stops the run before any upgrade. */
function mayComeBack(managers: readonly string[]) {
  const [they, these] = managers.length === 1 ? ['it puts', 'that controller'] : ['they put', 'these controllers'];
  return {
    hint: `${managers.length === 1 ? 'Field manager' : 'Field managers'} ${listed(managers)} wrote these references. If ${they} them back, run stops before it upgrades anything. To avoid that, pause ${these} (scale the Deployment to 0) until ownerrefs restore is done.`,
    next: PAUSABLE,
  };
}

/** They are removed before anything is changed: by this run, or where nothing of the upgrade follows here, by the one to come. */
function isTakenOff({ chain }: Context): boolean {
  const later = chain?.later ?? [];
  return later.includes('ownerrefs-strip') || !later.some((id) => ['crds', 'apply'].includes(id));
}

function namespacesOf(removable: readonly Removable[]): string {
  const namespaces = new Set(removable.flatMap(({ owned: { object } }) => object.namespace ?? []));
  return namespaces.size === 0 ? '' : ` in ${counted(namespaces.size, 'namespace')}`;
}

function writtenEvidence({ owned, fate: { reference, writtenBy } }: Removable): Evidence {
  const object = plainRef(owned.object);
  const by = writtenBy ? `, written by ${writerText(writtenBy)}` : '';
  return { text: refText(object), object, detail: `owner ${reference.apiVersion} ${reference.kind}/${reference.name}${by}` };
}

/** Said alike before anything works from the journal and at the end (§4.8/1). */
export function journalWhole({ lacking }: JournalFound): Verdict {
  if (lacking === undefined) return ok('the journal holds everything that is recorded as removed');
  const { objects, references, missing, parts } = lacking;
  const what = `${counted(references, 'owner reference')} of ${counted(objects, 'object')}`;
  const gone = missing === parts.length ? 'the journal is gone' : `the journal lacks ${missing} of ${counted(parts.length, 'part')}`;
  return failed(
    `${gone}: the run record says that ${what} are removed, and only the journal knows which`,
    `Restore the Secrets netsvc-upgrade-owners* of namespace ${STATE_NAMESPACE} from a backup of the cluster. If there is none, take owner-references-*.json: the machine that removed them keeps this file beside the backup. Put the references in it back yourself, then give up the journal: ownerrefs forget --accept NS-753.`,
    { next: command`kubectl netsvc-upgrade explain NS-753`, exit: 'stale' },
  );
}

/** Of every stage that works from the journal. */
export const journalChecks: readonly JournalCheck[] = table({ category: 'follow-up', severity: 'error', ref: '§4.8/1' }, [
  { id: 'NS-753', title: 'journal of owner references whole', judge: journalWhole },
]);
