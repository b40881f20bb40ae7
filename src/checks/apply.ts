import { type Check, type Evidence, notApplicable, ok, type Reading, read } from '../core/check.ts';
import type { Edit } from '../core/edit.ts';
import type { Installation } from '../core/installation.ts';
import { refText } from '../core/object.ts';
import type { PlannedObject } from '../core/plan.ts';
import type { RunRecord } from '../core/run-record.ts';
import { counted, defineCheck, failed, failIfAny, PROGRAM } from './define.ts';

/** What the checks of `apply` look at. */
export interface ApplyJudged {
  readonly installation: Installation;
  readonly previews: readonly { readonly planned: PlannedObject }[];
  readonly edits: Reading<{ readonly edits: readonly Edit[]; readonly base: string }>;
  readonly target: { readonly sha256: string; readonly file: string; readonly url: string };
  readonly record: RunRecord | undefined;
}

const text = (value: unknown): string => {
  const plain = value === undefined ? '(absent)' : typeof value === 'string' ? value : JSON.stringify(value);
  return plain.length > 120 ? `${plain.slice(0, 117)}…` : plain;
};

const editEvidence = ({ ref, path, mine, theirs, manager }: Edit): Evidence => ({
  text: `${refText(ref)} ${path}`.trim(),
  object: ref,
  detail:
    ref.kind === 'Secret'
      ? 'value not shown'
      : `yours: ${text(mine)}, after the upgrade: ${text(theirs)}${manager ? `, set by ${manager}` : ''}`,
});

/** Without merging, what a person changed must not be written over in silence (§4.4/1, §7/4). */
export const editsKept: Check<ApplyJudged> = defineCheck('NS-201', {
  category: 'manifest',
  severity: 'error',
  ref: '§7/4',
  judge(facts) {
    if ('unread' in facts.edits) return notApplicable('not known without the installed manifest (NS-205)');
    const { edits, base } = facts.edits.value;
    const lost = edits.filter((edit) => edit.status === 'lost');
    const kept = edits.length - lost.length;
    return failIfAny(
      lost.map(editEvidence),
      `no edit would be lost (${counted(kept, 'edit')} kept or without a place, compared with ${base})`,
      () => ({
        because: `${counted(lost.length, 'edit')} of yours would be lost`,
        hint: 'Make them in a copy of the target manifest and give it with --upgrade-file; or accept by name what may go.',
        next: `${PROGRAM} plan -o wide`,
        exit: 'conflicts',
      }),
    );
  },
});

export const nothingRefusedNow: Check<Pick<ApplyJudged, 'previews'>> = defineCheck('NS-202', {
  category: 'manifest',
  severity: 'error',
  ref: '§4.4/2',
  judge({ previews }) {
    const refused = previews.map(({ planned }) => planned).filter(({ change }) => change === 'refused');
    const evidence = refused.map(({ ref, note }) => ({ text: refText(ref), object: ref, ...(note ? { detail: note } : {}) }));
    return failIfAny(evidence, `the server accepts all ${counted(previews.length, 'object')}`, (names) => ({
      because: `the server refuses ${counted(refused.length, 'object')}: ${names}`,
      hint: 'Mend the reason given below; kubectl would go on after it and leave the upgrade half done.',
      next: `${PROGRAM} plan -o wide`,
    }));
  },
});

export const pathSupported: Check<ApplyJudged> = defineCheck('NS-203', {
  category: 'installation',
  severity: 'error',
  ref: '§1/2',
  judge({ installation }) {
    if (installation.path === 'manifest') return ok('manifest install with the API datastore');
    if (installation.path === 'operator') return ok('operator install');
    return failed(
      `this is an installation by ${installation.path}: this version upgrades manifest installs with the API datastore and operator installs`,
      'Follow the procedure by hand for now; preflight and verify work on every path.',
    );
  },
});

export const baseKnown: Check<ApplyJudged> = defineCheck('NS-205', {
  category: 'manifest',
  severity: 'error',
  ref: '§4.4/1',
  judge({ edits }) {
    if ('value' in edits) return ok(`edits are told by the manifest of ${read(edits).base}`);
    return failed(
      `your edits cannot be told from the release's own text: ${edits.unread}`,
      'Give the release’s own manifest, unedited, with --base (your edited one would hide every edit), or your finished target with --upgrade-file.',
      { exit: 'conflicts' },
    );
  },
});

/** A run goes on with the very file that it began with (exit 7). */
export const targetUnchanged: Check<ApplyJudged> = defineCheck('NS-206', {
  category: 'manifest',
  severity: 'error',
  ref: '§4.1',
  judge({ record, target }) {
    const before = record?.finishedAt === undefined ? record?.digests[target.file] : undefined;
    if (before === undefined || before === target.sha256) return ok(`${target.file} sha256 ${target.sha256.slice(0, 12)}…`);
    return failed(
      `${target.url} is not the file that this run began with (sha256 ${target.sha256.slice(0, 12)}…, was ${before.slice(0, 12)}…)`,
      'Bring back the file of then, or accept the new one by name.',
      { exit: 'stale', next: `${PROGRAM} status` },
    );
  },
});

export const applyChecks: readonly Check<ApplyJudged>[] = [pathSupported, nothingRefusedNow, targetUnchanged, baseKnown, editsKept];
