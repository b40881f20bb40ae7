import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import { sameMinor, sameRelease } from '../../kernel/release.ts';
import { allow, needs } from '../rights/index.ts';
import { containersOf, operatorRelease, readInstalled, rememberOf } from '../survey/index.ts';
import { type Controllers, controllersName, isOfOld, type OldImages, readControllers, readOldImages } from './controllers.ts';
import { backwards, REF } from './stage.ts';

/** A program of the new release, and whether it is the old one already. */
interface Program extends Controllers {
  readonly isOld: boolean;
  /** Of the controllers. */
  readonly old?: OldImages;
}

interface StopFacts {
  readonly installation: Installation;
  /** The operator first: while it runs, it starts the controllers again. None where there are none, or nobody knows their names. */
  readonly programs: readonly Program[];
}

/** Before names and labels are put back: while the new controllers run, they rename policies and write endpoints again (domain §7.2b). */
export const rollbackStopStage = backwards<StopFacts>({
  id: 'rollback-stop',
  title: 'Stop the new controllers',
  ref: REF,
  readOnly: false,
  needs: [
    needs.detection,
    needs.pinnedImages,
    () => allow(['get', 'patch'], K.Deployment, 'the new controllers, which are stopped first'),
    () => allow(['list'], K.Pod, 'the new controllers, which are stopped first'),
  ],
  traffic: 'untouched',
  converges: true,
  checks: [],
  async survey(sources, context) {
    const installation = await readInstalled(sources, context);
    const { operator } = installation;
    const controllers = controllersName(installation, context.profile);
    const names = [
      ...(operator ? [{ ...operator, container: context.profile.operator.deployment }] : []),
      ...(controllers ? [controllers] : []),
    ];
    const programs: Program[] = [];
    for (const name of names) {
      const found = await readControllers(sources.cluster, name);
      if (!found) continue;
      const old = name === controllers ? await readOldImages(sources.cluster, name, installation, context) : undefined;
      programs.push(
        old ? { ...found, isOld: isOfOld(found.image, old), old } : { ...found, isOld: isOldOperator(found, installation, context) },
      );
    }
    return { installation, programs };
  },
  plan({ installation, programs }, context) {
    if (programs.length === 0) return { skip: 'no controllers of the service are installed' };
    const open = programs.filter(({ isOld, replicas, pods }) => !isOld && (replicas > 0 || pods.length > 0));
    const names = programs.map(({ deployment }) => refText(refOf(deployment))).join(', ');
    if (open.length === 0) return { skip: `stopped, or of ${context.goal.release} already: ${names}` };
    return {
      actions: open.flatMap((one) => [...(one.replicas === 0 ? [] : [scaleDown(one)]), waitGone(one, context)]),
      remember: rememberOf(installation),
      notes: [
        'the controllers of the old release start when they are applied; until then nothing repairs host endpoints or frees addresses',
      ],
    };
  },
});

/** By its tag; where that tells nothing, by the agents. */
function isOldOperator({ deployment }: Controllers, { release: installed }: Installation, { profile, goal }: Context): boolean {
  const { release, line } = operatorRelease(deployment, profile) ?? {};
  if (release !== undefined) return sameRelease(release, goal.release);
  return line === undefined ? installed === goal.release : sameMinor(`${line}.0`, goal.release);
}

const PLACE = '/spec/replicas';

/** An id of its own for each. */
const nameOf = ({ deployment }: Controllers): string => deployment.metadata.name;

/** Only of the program that was read: the one of the old release must not be stopped. */
function scaleDown(program: Controllers): Action {
  const { deployment, replicas, image } = program;
  const { uid = '', namespace = '', name } = deployment.metadata;
  const index = containersOf(deployment).findIndex((one) => one.image === image);
  const isSame = index < 0 ? [] : [{ op: 'test', path: `/spec/template/spec/containers/${index}/image`, value: image } as const];
  return {
    id: `stop-${nameOf(program)}`,
    title: `scale Deployment/${namespace}/${name} from ${replicas} to 0`,
    ref: REF,
    undo: 'full',
    keep: { changes: [changeTo(deployment, { [PLACE]: 0 })] },
    effect: {
      type: 'patch-all',
      what: `Deployment/${namespace}/${name} scaled to 0`,
      patches: [
        {
          target: refOf(deployment),
          uid,
          patch: [...isSame, { op: 'test', path: PLACE, value: replicas }, { op: 'replace', path: PLACE, value: 0 }],
        },
      ],
    },
  };
}

/** A pod has 30 s to end unless its template says otherwise. */
const STOP_MS = 300_000;

function waitGone(program: Program, { options }: Context): Action {
  const { namespace = '', name } = program.deployment.metadata;
  const timeoutMs = options.timeoutMs ?? STOP_MS;
  return {
    id: `stopped-${nameOf(program)}`,
    title: `wait until no pod of Deployment/${namespace}/${name} is left`,
    ref: REF,
    undo: 'full',
    effect: {
      type: 'wait',
      until: { type: 'pods-gone', deployment: { namespace, name }, ...(program.old ? { except: program.old } : {}) },
      timeoutMs,
    },
  };
}
