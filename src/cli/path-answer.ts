import { type Stand, stepText, testedText, type Way, type WayStep } from '../features/tested-way/index.ts';
import { type Command, command } from '../kernel/command.ts';
import { counted } from '../kernel/counted.ts';
import { EXIT } from '../kernel/fault.ts';
import { type InstallPath, isOperated } from '../kernel/installation.ts';
import type { Profile } from '../kernel/profile.ts';
import { isOlder } from '../kernel/release.ts';
import { oneLine, visible } from '../kernel/visible.ts';
import type { Palette } from '../report/colour.ts';
import { columns } from '../report/columns.ts';
import { type CarriedFlag, commandHere } from './carried.ts';
import { nextOf, OUTPUT_VERSION, type UpgradeWay, type WayStepDocument } from './documents.ts';
import type { OutputFormat } from './flags.ts';

/** A place on the way to a target. */
export interface Question {
  readonly profile: Profile;
  readonly start: Stand;
  readonly goal: string;
  readonly path: InstallPath;
  readonly carried: readonly CarriedFlag[];
  /** Null where no cluster was asked. */
  readonly cluster: UpgradeWay['cluster'];
}

const KUBERNETES_PAGE = 'https://kubernetes.io/docs/tasks/administer-cluster/cluster-upgrade/';

export function documentOf(way: Way, question: Question): UpgradeWay {
  const { profile, start, goal, cluster } = question;
  const steps = 'because' in way ? [] : way.steps.map((step) => stepDocument(step, question));
  const exit = 'because' in way ? 'blocked' : 'done';
  return {
    apiVersion: OUTPUT_VERSION,
    kind: 'UpgradeWay',
    cluster,
    profile: profile.name,
    target: goal,
    exit: { code: exit, number: EXIT[exit] },
    from: standDocument(start),
    fromTested: way.isStartTested,
    ...('because' in way ? { because: way.because } : {}),
    steps,
    ...nextOf(commandHere(firstOf(steps), question.carried)),
  };
}

const standDocument = ({ release, minor }: Stand) => ({ release, kubernetes: `1.${minor}` });

function stepDocument(step: WayStep, { profile, path, carried }: Question): WayStepDocument {
  const { what, from, to, tested } = step;
  const isOurs = what === 'service' && isPerformed(to.release, profile, path);
  const run = isOurs ? commandHere(command`kubectl netsvc-upgrade run --release ${to.release}`, carried) : undefined;
  const page = what === 'service' ? (tested.upgrade ?? null) : KUBERNETES_PAGE;
  return {
    what,
    from: standDocument(from),
    to: standDocument(to),
    tested: tested.kubernetes,
    source: tested.source ?? null,
    command: run?.plain ?? null,
    argv: run?.argv ?? null,
    page: isOurs ? null : page,
  };
}

/** This program goes there: it has the sums of its files, and knows how its operator ends an upgrade. */
function isPerformed(release: string, { testedLines, operator, defaultRelease }: Profile, path: Question['path']): boolean {
  const isDefault = release === defaultRelease;
  const hasSums = isDefault || testedLines.some((line) => line.newest === release && line.hasSums);
  const since = isOperated({ path }) ? operator.end?.since : undefined;
  return hasSums && (since === undefined || !isOlder(release, since));
}

function firstOf(steps: readonly WayStepDocument[]): Command {
  const [first] = steps;
  if (first?.command) return command`kubectl netsvc-upgrade preflight --release ${first.to.release}`;
  return command`kubectl netsvc-upgrade explain NS-002`;
}

export function textOf(document: UpgradeWay, way: Way, { start, goal, path, cluster }: Question, { piece, whole }: Palette): string {
  const at = `${start.release} on Kubernetes 1.${start.minor}`;
  const asked = cluster ? [[`context "${cluster.context}"`, cluster.server].map(piece).join('   ')] : [];
  const untested = way.isStartTested
    ? []
    : [`Upstream did not test ${at} itself: ${way.start.line} was tested with Kubernetes ${testedText(way.start)}.`];
  const told =
    'because' in way
      ? [`No tested way from ${at} to ${goal}: ${way.because}.`]
      : [
          `${at} → ${goal}, ${path} path: ${countText(way.steps)}`,
          ...columns([HEAD, ...way.steps.map((step, index) => rowOf(step, index, document))]),
        ];
  const closing = [...untested, 'Nothing was changed by this command.', `Next: ${whole(document.next)}`];
  return [...asked, ...told, ...closing].map((line) => `${oneLine(line)}\n`).join('');
}

/** The document for programs. */
export async function structured(document: UpgradeWay, format: OutputFormat): Promise<string> {
  if (format === 'yaml') return (await import('./yaml-text.ts')).yamlText(document);
  return visible(`${JSON.stringify(document, undefined, 2)}\n`);
}

const HEAD = ['STEP', 'UPGRADE', 'TESTED WITH KUBERNETES', 'HOW'];

function countText(steps: readonly WayStep[]): string {
  if (steps.length === 0) return 'nothing to do';
  return `${counted(steps.length, 'upgrade')}, and upstream tested each state after it`;
}

function rowOf(step: WayStep, index: number, { steps }: UpgradeWay): readonly string[] {
  const { command: ours, page } = steps[index] ?? {};
  return [
    String(index + 1),
    stepText(step),
    `${step.tested.line}: ${step.tested.kubernetes.join(' to ')}`,
    ours ?? page ?? 'by upstream’s page',
  ];
}
