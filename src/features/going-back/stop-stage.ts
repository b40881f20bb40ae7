import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { hasFullManifest, type Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import { sameRelease } from '../../kernel/release.ts';
import { allow, needs } from '../rights/index.ts';
import { containersOf, readInstalled, rememberOf } from '../survey/index.ts';
import { type Controllers, controllersName, readControllers } from './controllers.ts';
import { backwards, REF } from './stage.ts';

interface StopFacts {
  readonly installation: Installation;
  /** Undefined where there are none, or nobody knows their name. */
  readonly controllers: Controllers | undefined;
}

/** Before names and labels are put back: while the new controllers run, they rename policies and write endpoints again (domain §7.2b). */
export const rollbackStopStage = backwards<StopFacts>({
  id: 'rollback-stop',
  title: 'Stop the new controllers',
  ref: REF,
  readOnly: false,
  needs: [
    needs.detection,
    () => allow(['get', 'patch'], K.Deployment, 'the new controllers, which are stopped first'),
    () => allow(['list'], K.Pod, 'the new controllers, which are stopped first'),
  ],
  traffic: 'untouched',
  converges: true,
  checks: [],
  async survey(sources, context) {
    const installation = await readInstalled(sources, context);
    const name = hasFullManifest(installation) ? controllersName(installation, context.profile) : undefined;
    return { installation, controllers: name && (await readControllers(sources.cluster, name)) };
  },
  plan({ installation, controllers }, context) {
    if (!hasFullManifest(installation)) return { skip: 'an operator runs the controllers here' };
    if (!controllers) return { skip: 'no controllers of the service are installed' };
    const { release, replicas, pods, deployment } = controllers;
    if (release !== undefined && sameRelease(release, context.goal.release))
      return { skip: `${refText(refOf(deployment))} is of ${context.goal.release} already` };
    if (replicas === 0 && pods.length === 0) return { skip: `${refText(refOf(deployment))} is stopped` };
    const scaled = replicas === 0 ? [] : [scaleDown(controllers)];
    return {
      actions: [...scaled, waitGone(controllers, context)],
      remember: rememberOf(installation),
      notes: [
        'the controllers of the old release start when they are applied; until then nothing repairs host endpoints or frees addresses',
      ],
    };
  },
});

const PLACE = '/spec/replicas';

/** Only of the controllers that were read: those of the old release must not be stopped. */
function scaleDown({ deployment, replicas, image }: Controllers): Action {
  const { uid = '', namespace = '', name } = deployment.metadata;
  const index = containersOf(deployment).findIndex((one) => one.image === image);
  const isSame = index < 0 ? [] : [{ op: 'test', path: `/spec/template/spec/containers/${index}/image`, value: image } as const];
  return {
    id: 'stop',
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

function waitGone({ deployment }: Controllers, { options }: Context): Action {
  const { namespace = '', name } = deployment.metadata;
  const timeoutMs = options.timeoutMs ?? STOP_MS;
  return {
    id: 'stopped',
    title: `wait until no pod of Deployment/${namespace}/${name} is left`,
    ref: REF,
    undo: 'full',
    effect: { type: 'wait', until: { type: 'pods-gone', deployment: { namespace, name } }, timeoutMs },
  };
}
