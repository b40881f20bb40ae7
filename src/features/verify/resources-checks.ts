import { type Command, command } from '../../kernel/argv.ts';
import { notApplicable, ok, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { isKeyValue } from '../../kernel/installation.ts';
import { acceptsSubject } from '../../kernel/judge.ts';
import { groupOf, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { journalWhole } from '../ownerrefs/index.ts';
import { failed, failIfAny, listed, showPoliciesByCli, table } from '../survey/index.ts';
import type { VerifyCheck } from './survey.ts';

export const resourcesChecks: readonly VerifyCheck[] = table({ category: 'result', severity: 'error' }, [
  {
    id: 'NS-306',
    title: 'no temporary policy after the upgrade',
    severity: 'warning',
    ref: '§4.4/7',
    judge(facts, context) {
      const left = read(facts.temporaryPolicies);
      const evidence = left.map((policy) => ({ text: refText(refOf(policy)), object: refOf(policy) }));
      return failIfAny(evidence, 'no temporary policy', (names) => ({
        because: `${names} still allows all traffic`,
        hint: 'Review what only it allows, add policies for that, then delete it.',
        next: isKeyValue({ datastore: read(facts.datastore) }) ? showPoliciesByCli(context) : showCommand(left[0]),
      }));
    },
  },
  /** A dangling owner UID gets its dependents deleted, at the latest when the garbage collector restarts (domain §7.3/5). */
  {
    id: 'NS-307',
    title: 'owner references name existing objects',
    ref: '§7/1',
    judge(facts, { options }) {
      const all = read(facts.owners);
      // A kind accepted as unsearched before the upgrade is accepted as unsearched here.
      const unread = all.unread.flatMap(({ kind, because }) =>
        acceptsSubject(options, 'NS-741', kind) ? [] : [{ text: kind, detail: because }],
      );
      const { references, dangling } = all;
      // Named in every finding: accepting an object by name does not accept what could not be searched.
      const incomplete = `owner references could not all be followed: ${listed(unread.map(({ text }) => text))}`;
      if (dangling.length === 0 && unread.length > 0) {
        return failed(
          incomplete,
          'Let this account list these kinds, or repair the API behind them, then verify again; or accept them by name.',
          { next: command`kubectl netsvc-upgrade ownerrefs list`, evidence: unread },
        );
      }
      if (dangling.length === 0) return ok(`${counted(references, 'owner reference')} to objects of the service, none without its owner`);
      const mute = dangling.filter(({ isMute }) => isMute);
      const lost = dangling.map(({ object, text, detail }) => ({ text, object, detail }));
      const names = listed(lost.map(({ text }) => text));
      return failed(
        `${counted(lost.length, 'owner reference')} to objects that ${lostWhy(lost.length, mute.length)}: ${names}${unread.length > 0 ? `; ${incomplete}` : ''}`,
        [
          'Garbage collection deletes these objects, at the next start of kube-controller-manager at the latest.',
          ...(mute.length === dangling.length ? [] : [CORRECTED]),
          ...(mute.length === 0 ? [] : [TAKEN_OFF]),
        ].join(' '),
        { evidence: [...lost, ...unread], next: command`kubectl netsvc-upgrade ownerrefs ${mute.length === 0 ? 'list' : 'strip'}` },
      );
    },
  },
  /** For an upgrade stage by stage: `run` puts them back before it verifies, and evaluates the rest at the journal's end (NS-748). */
  {
    id: 'NS-311',
    title: 'owner references put back',
    ref: '§4.8/3',
    judge(facts) {
      const { objects } = read(facts.stillOff);
      if (objects === 0) return ok('no owner reference waits to be put back');
      return failed(
        `the owner references of ${counted(objects, 'object')} were removed, and have not been put back`,
        'They are recorded in the cluster: put them back, then verify again. What cannot go back is named then: accept this check, or end the journal (ownerrefs forget --accept NS-748).',
        { next: command`kubectl netsvc-upgrade ownerrefs restore` },
      );
    },
  },
  /** A journal that is gone leaves nothing that could be found off. */
  {
    id: 'NS-753',
    title: 'journal of owner references whole',
    ref: '§4.8/1',
    judge: (facts) => journalWhole(read(facts.stillOff)),
  },
  /** The newer v3 API server serves until the last waves of a rollback: who writes by it meanwhile writes for its own release. */
  {
    id: 'NS-767',
    title: 'old release sees what was written meanwhile',
    ref: 'domain §7.2c',
    judge({ missed }, { goal: { release } }) {
      const found = read(missed);
      if (found === undefined) return notApplicable('no newer API server has served meanwhile');
      const evidence = found.map(({ object, detail }) => ({ text: refText(object), object, detail }));
      return failIfAny(evidence, `${release} sees all labels and names`, (list) => ({
        because: `${counted(found.length, 'object was', 'objects were')} written meanwhile so that ${release} misses labels or names: ${list}`,
        hint: 'The agents are old now: run the rollback again, which puts labels and names where they look.',
        next: command`kubectl netsvc-upgrade rollback`,
      }));
    },
  },
]);

function showCommand(policy: KubeObject | undefined): Command {
  if (policy === undefined) return command`kubectl netsvc-upgrade policy`;
  return command`kubectl get ${`${policy.kind.toLowerCase()}.${groupOf(policy.apiVersion)}`} ${policy.metadata.name} -o yaml`;
}

const CORRECTED = 'Put the owner’s new UID into metadata.ownerReferences, or take the entry out, now.';
const TAKEN_OFF =
  'Remove what names policies that are stored under their old names: it is recorded, and put back once they have their new ones (NS-743).';

function lostWhy(all: number, mute: number): string {
  if (mute === 0) return 'no longer exist';
  return mute === all ? 'are not found by their names' : 'no longer exist, or are not found by their names';
}
