import { command } from '../../kernel/argv.ts';
import { ok, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { failed, listed, PROGRAM, table } from '../survey/index.ts';
import type { JournalCheck, JournalFound } from './owner-facts.ts';

/** Said alike before anything works from the journal and at the end (§4.8/1). */
export function journalWhole({ lacking, elsewhere }: Pick<JournalFound, 'lacking' | 'elsewhere'>, { options }: Context): Verdict {
  // Another finding names that place.
  if (elsewhere && elsewhere.length > 0) return ok(`looked for in namespace ${listed(elsewhere)}`);
  if (lacking === undefined) return ok('the journal holds everything that is recorded as removed');
  const { objects, references, missing, parts } = lacking;
  const what = `${counted(references, 'owner reference')} of ${counted(objects, 'object')}`;
  const gone = missing === parts.length ? 'the journal is gone' : `the journal lacks ${missing} of ${counted(parts.length, 'part')}`;
  return failed(
    `${gone}: the run record says that ${what} are removed, and only the journal knows which`,
    `Restore the Secrets netsvc-upgrade-owners* of namespace ${options.stateNamespace} from a backup of the cluster, or use a local copy: --journal-dir DIR --accept NS-751. If there is neither, put the references back yourself, then give up the journal: ownerrefs forget --accept NS-753.`,
    { next: `${PROGRAM} explain NS-753`, exit: 'stale' },
  );
}

/** Of every stage that works from the journal. */
export const journalChecks: readonly JournalCheck[] = table({ category: 'follow-up', severity: 'error', ref: '§4.8/3' }, [
  /** A copy does not show whether another machine restored the references, or the user removed some for good (§4.8/3). */
  {
    id: 'NS-751',
    title: 'journal of owner references not only a copy',
    judge({ copy }) {
      if (copy === undefined) return ok();
      return failed(
        `the cluster has no journal of owner references, only this machine has a copy: ${copy}`,
        'If the journal in the cluster was lost, use the copy instead: --accept NS-751. If another machine finished that upgrade, move the folder away, or name another one with --journal-dir.',
        { next: `${PROGRAM} explain NS-751` },
      );
    },
  } /** Lock, run record and journal share a namespace: a command with another one sees no upgrade and takes another lock. */,
  {
    id: 'NS-752',
    title: 'no journal of owner references in another namespace',
    judge({ elsewhere }, { options }) {
      if (elsewhere === null) return ok('not known: this account may not list Secrets of other namespaces');
      const [first] = elsewhere ?? [];
      if (elsewhere === undefined || first === undefined) return ok();
      return failed(
        `owner references are recorded as removed in namespace ${listed(elsewhere)}, not in ${options.stateNamespace}`,
        `An upgrade was begun with another --state-namespace, and its lock and its run record are there as well: continue with ${command`--state-namespace ${first}`}. Accept it by namespace only if that upgrade is of another service.`,
        { next: command`kubectl netsvc-upgrade status --state-namespace ${first}`, evidence: elsewhere.map((text) => ({ text })) },
      );
    },
  },
  {
    id: 'NS-753',
    title: 'journal of owner references whole',
    ref: '§4.8/1',
    judge: journalWhole,
  },
]);
