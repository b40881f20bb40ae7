import { command } from '../../kernel/argv.ts';
import type { Evidence, Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { refText } from '../../kernel/object.ts';
import { type JournalEntry, refOf } from '../../kernel/owner-journal.ts';
import { writerText } from '../../kube/reference-writer.ts';
import { failed, listed, PROGRAM } from '../survey/index.ts';
import type { OwnersJudged, PausableController } from './owner-facts.ts';
import type { OwnedFate, ReferenceFate } from './owner-fate.ts';
import { byKey, cameBack } from './owner-strip.ts';

/** A reference that the upgrade leaves with a UID that nobody has any more, and its object. */
export interface Breaking {
  readonly owned: OwnedFate['owned'];
  readonly fate: ReferenceFate;
}

/** Undefined where nothing was searched. */
export function breakingIn({ references }: OwnersJudged): readonly Breaking[] | undefined {
  return references?.objects.flatMap(({ owned, fates }) => fates.filter(({ breaks }) => breaks).map((fate) => ({ owned, fate })));
}

/** Those of them that were off once. */
export function returned(breaking: readonly Breaking[], recorded: readonly JournalEntry[]): readonly Breaking[] {
  const journal = byKey(recorded);
  return breaking.filter(({ owned, fate }) => cameBack(owned, fate.reference, journal));
}

/** NS-701 where they are still there. */
export function broken(breaking: readonly Breaking[], { recorded, controllers = [] }: OwnersJudged): Verdict {
  const back = returned(breaking, recorded);
  const owners = [...new Set(breaking.map(({ fate }) => `${fate.reference.kind}/${fate.reference.name}`))];
  const evidence = breaking.map((one) => evidenceOf(one, back.includes(one)));
  const fact = `${counted(breaking.length, 'reference')} to ${listed(owners)} would dangle after the upgrade: garbage collection would delete the objects`;
  if (back.length === 0)
    return failed(fact, 'Remove them first: they are recorded, and put back with the new UIDs.', {
      next: `${PROGRAM} ownerrefs strip`,
      evidence,
    });
  const came =
    back.length === breaking.length
      ? `${back.length === 1 ? 'it was' : 'they were'} removed and came back`
      : `${back.length} of them ${back.length === 1 ? 'was' : 'were'} removed and came back`;
  return failed(`${fact}; ${came}`, `${whoPutBack(back)} ${pauseText(controllers)} ${AFTERWARDS}`, {
    next: pauseStep(controllers),
    evidence,
  });
}

const AFTERWARDS =
  'Then run the same command again: it removes them once more. Start the controller again after ownerrefs restore, not before.';

/** As far as the cluster tells. */
function whoPutBack(back: readonly Breaking[]): string {
  const managers = [...new Set(back.flatMap(({ fate }) => fate.writtenBy?.manager ?? []))];
  if (managers.length === 0) return 'A controller puts them back: pause it.';
  if (managers.length === 1) return `Field manager ${managers[0]} put them back: pause that controller.`;
  return `Field managers ${listed(managers)} put them back: pause these controllers.`;
}

function pauseText(controllers: readonly PausableController[]): string {
  if (controllers.length === 0) return 'Scale its Deployment to 0, or suspend its reconciliation.';
  if (controllers.length === 1) return `${nameOf(controllers)} goes by that name: scale it to 0.`;
  return `These go by that name: ${nameOf(controllers)}. Scale the right one to 0.`;
}

function nameOf(controllers: readonly PausableController[]): string {
  return listed(controllers.map(({ kind, namespace, name, replicas }) => `${kind} ${namespace}/${name} (${counted(replicas, 'replica')})`));
}

/** Lists the workloads with their images. */
export const PAUSABLE = 'kubectl get deployments,statefulsets --all-namespaces -o wide';

/** What somebody may paste: the pause itself where only one workload can be meant. */
function pauseStep([only, ...more]: readonly PausableController[]): string {
  if (only === undefined || more.length > 0) return PAUSABLE;
  return command`kubectl -n ${only.namespace} scale ${`${only.kind.toLowerCase()}/${only.name}`} --replicas=0`;
}

function evidenceOf({ owned, fate }: Breaking, isBack: boolean): Evidence {
  const { reference } = fate;
  const object = refOf(owned.object);
  const role = reference.controller ? ', its controller' : '';
  const by = fate.writtenBy ? `, by ${writerText(fate.writtenBy)}` : '';
  const came = isBack ? `; was removed and is back${by}` : '';
  const detail = `owner ${reference.apiVersion} ${reference.kind}/${reference.name}${role}: ${textOf(fate)}${came}`;
  return { text: refText(object), object, detail };
}

function textOf({ fate, nameAfter }: ReferenceFate): string {
  if (nameAfter !== undefined) return `not found by this name: the new API server calls the policy ${nameAfter}`;
  if (fate === 're-created') return 'UID changes when the policy is stored under its new name';
  if (fate === 'unaddressed') return 'not found by this name: the policy stays stored under its old one';
  if (fate === 'misread') return 'the new API server shows this reference with another UID';
  if (fate === 'unknown') return 'UID after the upgrade not known';
  return 'UID changes with the API server';
}
