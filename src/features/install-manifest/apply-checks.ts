import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, type Reading, read } from '../../kernel/check.ts';
import { agoText, counted } from '../../kernel/counted.ts';
import type { Conflict, Edit, EditOutcome } from '../../kernel/edit.ts';
import { maskAt } from '../../kernel/hidden.ts';
import { refText } from '../../kernel/object.ts';
import type { PlannedObject, TakenChange } from '../../kernel/plan.ts';
import type { CarriedEdits } from '../../manifest/carried-file.ts';
import { flagsOfPace } from '../canary/index.ts';
import { noNewTables, type TablesJudged } from '../going-back/index.ts';
import { noneLeft, type OwnersJudged, ownersSearched } from '../ownerrefs/index.ts';
import { noneAtZero, type ReplicasJudged } from '../rollout/index.ts';
import { failed, failIfAny, type SourceJudged, sameFile, sourceChecks, table } from '../survey/index.ts';
import type { EditSurvey } from './edits.ts';
import type { Target } from './identity.ts';
import { type StoreJudged, storeChecks } from './kvstore-checks.ts';
import { podsRefused, refusesPods } from './pods-admitted-checks.ts';
import { noteEvidence } from './target-checks.ts';

/** What the target is evaluated by. */
export interface TargetJudged extends SourceJudged, StoreJudged, ReplicasJudged {
  readonly previews: readonly { readonly planned: PlannedObject }[];
  readonly edits: Reading<Pick<EditSurvey, 'edits' | 'conflicts' | 'bases' | 'doubt'>>;
  /** What others set and the upgrade would write over: of objects whose defaults are not known, and since the run began. */
  readonly untold: readonly TakenChange[];
  readonly target: Pick<Target, 'sha256' | 'file' | 'url'> & { readonly carried?: Pick<CarriedEdits, 'files'> };
}

const text = (value: unknown): string => {
  const plain = value === undefined ? '(absent)' : typeof value === 'string' ? value : JSON.stringify(value);
  return plain.length > 120 ? `${plain.slice(0, 117)}…` : plain;
};

const conflictEvidence = ({ field, ref, path, because, ...values }: Conflict): Evidence => {
  if (ref.kind === 'Secret') return { text: field, object: ref, detail: `value not shown; ${because}` };
  const shown = (value: unknown) => text(maskAt(path, value));
  const sides = { base: shown(values.base), mine: shown(values.mine), theirs: shown(values.theirs), because };
  const detail = `was: ${sides.base}, yours: ${sides.mine}, the target's: ${sides.theirs}; ${because}`;
  return { text: field, object: ref, detail, sides };
};

function editsText(edits: readonly Edit[], isCertain: boolean): string {
  const own = edits.filter(({ outcome }) => outcome !== 'left');
  const counts = [...Map.groupBy(own, ({ outcome }) => outcome)].map(([outcome, some]) => `${some.length} ${OUTCOMES[outcome]}`);
  const left = edits.length > own.length ? `; ${counted(edits.length - own.length, 'field')} of controllers left to them` : '';
  const found = isCertain ? `${counted(own.length, 'change')} of yours` : counted(own.length, 'difference');
  return `${own.length === 0 ? 'nothing of yours differs from the release' : `${found}: ${counts.join(', ')}`}${left}`;
}

const OUTCOMES: Readonly<Record<EditOutcome, string>> = {
  kept: 'carried',
  already: 'in the target already',
  obsolete: 'without a place in the target',
  conflict: 'to be decided',
  target: 'as the target has it',
  left: 'left to its writer',
};

const NOT_MERGED = 'nothing is merged: your own file is applied, or everything is as the target has it';

const NO_CHOICE =
  'Give the manifest that was installed, unedited, with --base FILE. Or decide each difference (NS-201), and accept this one.';

const UNTOLD = 'Make the change in a copy of the target manifest and give it with --upgrade-file. Or accept by name what may be lost.';
const UNTOLD_BACK = 'Accept by name those that may be lost, and set the others again after the rollback.';
/** The file differs from the one that the run began with (NS-206). */
const SINCE_BEGUN =
  'They were set after this run had begun. Accept by name those that may be lost, and set the others again after the run. Or make the change in a copy of upgrade.yaml, and resume with --upgrade-file FILE --accept NS-206.';

function takenEvidence({ ref, path, mine, theirs, manager, time }: TakenChange, now: Date): Evidence {
  const shown = (value: unknown) => text(maskAt(path, value));
  const what = ref.kind === 'Secret' ? 'value not shown' : `yours: ${shown(mine)}, after the upgrade: ${shown(theirs)}`;
  const by = `${what}, set by ${manager}`;
  const when = time === undefined ? { detail: by } : { detail: `${by} at ${time}`, brief: `${by} ${agoText(time, now)}` };
  return { text: `${refText(ref)} ${path}`.trim(), object: ref, ...when };
}

export const nothingRefusedNow: Check<Pick<TargetJudged, 'previews'>> = {
  id: 'NS-202',
  title: 'server accepts every object right before the apply',
  category: 'manifest',
  severity: 'error',
  ref: '§4.4/2',
  judge({ previews }, context) {
    const all = previews.map(({ planned }) => planned);
    const refused = all.filter(({ change }) => change === 'refused');
    const [flag] = refused.some(({ ref }) => ref.kind === 'DaemonSet') ? flagsOfPace(context) : [];
    const podless = all.filter(refusesPods);
    if (refused.length === 0 && podless.length > 0) return podsRefused(podless);
    return failIfAny(refused.map(noteEvidence), `the server accepts all ${counted(previews.length, 'object')}`, (names) => ({
      because: `the server refuses ${counted(refused.length, 'object')}: ${names}`,
      hint: [
        'Fix the reason given below; kubectl would skip it and leave the upgrade half done.',
        ...(flag === undefined ? [] : [`Or leave --${flag} out: it is kept only where the dry run of the DaemonSet is answered.`]),
      ],
      // Without its answer the DaemonSet would replace all agents at its own pace.
      ...(flag === undefined ? {} : { final: true }),
      next: command`kubectl netsvc-upgrade plan -o wide`,
    }));
  },
};

const OF_INSTALLED = 'Give the release’s own manifest, unedited, with --base: your edited one would hide every change.';
const FINISHED = 'Or give your finished target with --upgrade-file.';
/** A rollback has neither flag: it compares with the release that it leaves, whose manifest the upgrade had. */
const OF_LEFT = 'Name a place that has the manifest of the release that is left with --manifest-url.';

export const baseKnown: Check<TargetJudged> = {
  id: 'NS-205',
  title: 'manifest of the installed release known',
  category: 'manifest',
  severity: 'error',
  ref: '§4.4/1',
  judge({ edits, installation }, { goal: { takesBack } }) {
    if ('value' in edits) {
      const { bases, doubt } = read(edits);
      if (bases.length === 0) return notApplicable(NOT_MERGED);
      // Another release's stands in, or may: that is the next check's.
      if (doubt) return notApplicable(`compared with the manifest of ${bases[0]}; NS-207 says why it may not be the installed release's`);
      return ok(`your changes are found by comparing with the manifest of ${bases[0]}`);
    }
    return failed(
      `your changes cannot be told from the release's own text: ${edits.unread}`,
      [
        ...(takesBack ? [OF_LEFT] : [OF_INSTALLED, FINISHED]),
        'Or read every field that differs in the plan, and accept this check by name.',
      ].join(' '),
      {
        next: command`kubectl netsvc-upgrade plan -o wide`,
        exit: 'conflicts',
        byName: true,
        evidence: [{ text: installation.release ?? installation.path }],
      },
    );
  },
};

/** What the checks of `apply` look at. */
export interface ApplyJudged extends TargetJudged, OwnersJudged {}

const ofTarget: readonly Check<TargetJudged>[] = table({ category: 'manifest', severity: 'error', ref: '§7/4' }, [
  nothingRefusedNow,
  /** A run continues with the very file that it began with (exit 7). */
  {
    id: 'NS-206',
    title: 'target unchanged since the run began',
    ref: '§4.1',
    judge: ({ record, target }) => sameFile(record, target),
  },
  baseKnown,
  /** Which release the edits are identified by is no guess of ours. */
  {
    id: 'NS-207',
    title: 'release for finding your changes is certain',
    ref: '§4.4/1',
    judge({ edits }) {
      if ('unread' in edits) return notApplicable('not known without the installed manifest (NS-205)');
      const { doubt, bases } = edits.value;
      const [base, alike] = bases;
      if (base === undefined) return notApplicable(NOT_MERGED);
      if (doubt === undefined) return ok(alike === undefined ? `${base}` : `${base}; ${alike}, whose text is nearer, would give the same`);
      const { because, choices } = doubt;
      return failed(
        because,
        choices.length > 0 ? `Say which release was installed: ${choices.map((one) => `--base ${one}`).join(' or ')}.` : NO_CHOICE,
        {
          next:
            choices.length > 0
              ? command`kubectl netsvc-upgrade plan --base ${choices.at(-1)}`
              : command`kubectl netsvc-upgrade plan -o wide`,
          exit: 'conflicts',
        },
      );
    },
  },
  /** What the user changed must not be written over silently (§4.4/1, §7/4). */
  {
    id: 'NS-201',
    title: 'your changes are carried into the target',
    byField: true,
    judge(facts, { goal }) {
      if ('unread' in facts.edits) return notApplicable('not known without the installed manifest (NS-205)');
      const { edits, conflicts, bases, doubt } = facts.edits.value;
      const compared = bases[0] === undefined ? '' : `, compared with ${bases[0]}`;
      return failIfAny(conflicts.map(conflictEvidence), `${editsText(edits, doubt === undefined)}${compared}`, () => ({
        because: doubt
          ? `${counted(conflicts.length, 'difference')} to decide: each may be yours or the release's own (NS-207)`
          : `${counted(conflicts.length, 'change')} of yours to decide: the release or the cluster has something else there`,
        hint: goal.takesBack
          ? 'Decide each with --resolve FIELD=mine|theirs; --accept takes the value of the older release.'
          : 'Decide each with --resolve FIELD=mine|theirs, or give your finished file with --upgrade-file; --accept takes the target’s value.',
        next: command`kubectl netsvc-upgrade plan -o wide`,
        exit: 'conflicts',
      }));
    },
  },
  /** Without the server's defaults a change in the cluster looks like a default: what would be overwritten is named. */
  {
    id: 'NS-208',
    title: 'changes in the cluster can be told',
    judge({ untold: taken }, { startedAt, goal }) {
      const told = taken.some(({ time }) => time !== undefined) ? SINCE_BEGUN : UNTOLD;
      const evidence = taken.map((one) => takenEvidence(one, startedAt));
      return failIfAny(evidence, 'every change in the cluster can be told from the server’s defaults', () => ({
        because: `${counted(taken.length, 'field')} that others set in the cluster would be written over`,
        hint: goal.takesBack ? UNTOLD_BACK : told,
        next: command`kubectl netsvc-upgrade plan -o wide`,
        exit: 'conflicts',
      }));
    },
  },
  noneAtZero,
]);

/** Of every path whose target is a manifest. */
export const targetChecks: readonly Check<ApplyJudged>[] = [...sourceChecks, ...ofTarget, ownersSearched, noneLeft];

export const applyChecks: readonly Check<ApplyJudged & TablesJudged>[] = [...targetChecks, ...storeChecks, noNewTables];

/** What `apply` will stop at and the preflight does not evaluate by checks of its own. */
export const checksAhead: readonly Check<TargetJudged>[] = [...ofTarget, ...storeChecks];
