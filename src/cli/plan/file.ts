import { readFile } from 'node:fs/promises';
import { command } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { firstOf } from '../../kernel/counted.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { maskValue } from '../../kernel/hidden.ts';
import { continues, isOfIntent, type RunRecord } from '../../kernel/run-record.ts';
import { text } from '../../kernel/step.ts';
import type { BasisObject, PlanDocument } from '../documents.ts';
import { artifactDifferences, byKey, type Compared, fieldsText, keyOf, nameOf, planDifferences } from './differences.ts';
import { anotherPlace, isPlanOfOurs, parsePlan, planPlace } from './shape.ts';

const makeAgain = (file: string) => text`make a new one: ${command`kubectl netsvc-upgrade plan --out ${file}`}`;

/** A plan as it was read from its file. */
export interface SavedPlan {
  readonly file: string;
  readonly document: PlanDocument;
}

/**
 * The digest is what is compared, so the file, which is passed on, has no credentials. Written whole or not at all, for its owner only,
 * also over an older plan with wider permissions.
 */
export async function savePlan(file: string, document: PlanDocument): Promise<void> {
  // Once more: the file may have come while the cluster was read.
  const place = await planPlace(file);
  try {
    const { writeDurably } = await import('../../adapters/durable-write.ts');
    await writeDurably(place, Buffer.from(`${JSON.stringify(maskValue(document), undefined, 2)}\n`), 0o600);
  } catch (thrown) {
    throw new Fault(
      'failed',
      `the plan could not be written: ${messageOf(thrown)}`,
      ['name a file in a folder that you may write to: --out FILE'],
      thrown,
    );
  }
}

/** How much of a list of differences the user reads. */
const SHOWN = 20;

/** Fails with `stale` unless the saved plan is exactly what would be done now; names what is not. `record` is of the run in the cluster. */
export function confirmSaved(
  { file, document: saved }: SavedPlan,
  now: PlanDocument,
  record: RunRecord | undefined,
  context: Context,
): void {
  // What was agreed to is compared with the new one.
  const again = makeAgain(anotherPlace(file));
  if (saved.cluster.uid !== now.cluster.uid) {
    throw new Fault('stale', `${file} was made for another cluster (${saved.cluster.context}, ${saved.cluster.uid})`, [again]);
  }
  if (saved.target !== now.target) throw new Fault('stale', `${file} leads to ${saved.target}, this command to ${now.target}`, [again]);
  const goesOn = isBegun(record, saved, context);
  const differences = goesOn ? differencesSince(saved, now) : planDifferences(saved, now);
  const isSame = goesOn || saved.digest === now.digest;
  if (differences.length === 0 && isSame) return;
  const begun =
    continues(record, context) && !goesOn ? ['the unfinished run was not begun with this plan: leave --plan-file out to finish it'] : [];
  throw new Fault('stale', `${file} is stale: ${staleText(differences)}`, [...begun, again, 'compare the two, then run the new one']);
}

/** A run to the same target on this cluster was begun with this plan: what it did, finished or interrupted, is no difference. */
function isBegun(record: RunRecord | undefined, saved: PlanDocument, context: Context): boolean {
  return isOfIntent(record, context) && record.plan === saved.digest;
}

function staleText(differences: readonly string[]): string {
  if (differences.length === 0) return 'the cluster or an artifact has changed since it was made';
  return firstOf(differences, SHOWN, '\n  ');
}

/** Throws Fault('usage') for a file that cannot be read or holds no plan; before the cluster is asked anything. */
export async function loadPlan(file: string): Promise<SavedPlan> {
  const content = await readFile(file, 'utf8').catch((thrown: unknown) => {
    const missing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    const fact = missing ? `--plan-file ${file} does not exist` : `--plan-file ${file}: ${messageOf(thrown)}`;
    throw new Fault('usage', fact, [makeAgain(missing ? file : anotherPlace(file))], thrown);
  });
  // The next step must not write over what is no plan: it may be the only copy of something else.
  const again = isPlanOfOurs(content) ? [makeAgain(file)] : [...meantFor(content, file), makeAgain(anotherPlace(file))];
  return { file, document: parsePlan(content, file, again) };
}

/** The flag that takes such a file, if it is YAML of Kubernetes. */
function meantFor(said: string, file: string): readonly string[] {
  const kinds = [...said.matchAll(/^kind: *["']?(\w+)/gm)].map(([, kind]) => kind);
  if (kinds.length === 0 || !/^apiVersion:/m.test(said)) return [];
  return [
    kinds.every((kind) => kind === 'Config')
      ? `a kubeconfig is given as --kubeconfig ${file}`
      : `a manifest is given as --upgrade-file ${file}`,
  ];
}

/** The differences for an interrupted run of the saved plan: its patches may differ, as they continue from where it is. */
export function differencesSince(saved: Compared, now: Compared): readonly string[] {
  const before = byKey(saved);
  const objects = now.basis.objects.filter(hasState).flatMap((object) => {
    const then = before.get(keyOf(object));
    if (!then) return [`${nameOf(object)} is not in the plan`];
    return isOwnDoing(then, object)
      ? []
      : [`${nameOf(object)} has changed since the plan, and not as planned${fieldsText(saved, now, object)}`];
  });
  return [...artifactDifferences(saved, now), ...objects, ...otherCommands(saved, now)];
}

/** Untouched so far, as planned, or in no need of anything. */
function isOwnDoing(then: BasisObject, now: BasisObject): boolean {
  if (now.before === then.before) return now.change === then.change || now.change === 'unchanged';
  return now.change === 'unchanged' || (now.before !== undefined && now.before === then.after);
}

const hasState = ({ before, after }: BasisObject) => before !== undefined || after !== undefined;

function otherCommands(saved: Compared, now: Compared): readonly string[] {
  const before = new Map(saved.basis.actions.map((action) => [`${action.stage}/${action.id}`, action.does]));
  const commands = now.basis.actions.filter(({ type }) => type === 'exec').map(({ stage, id, does }) => ({ id: `${stage}/${id}`, does }));
  return commands.filter(({ id, does }) => before.has(id) && before.get(id) !== does).map(({ id }) => `action ${id} does something else`);
}
