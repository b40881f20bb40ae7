import { removingCommand } from '../../kernel/command.ts';
import { counted, timeText } from '../../kernel/counted.ts';
import { type Around, type EffectTypes, type EnginePorts, whole } from '../../kernel/effect-type.ts';
import { Fault, messageOf, Outdated } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { text } from '../../kernel/step.ts';
import { PROBE_LABEL } from '../survey/index.ts';
import { isProbed, type ProbedImage, probedImages, probeText, RESULTS } from './image-probe.ts';

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'probe-images': ProbeImages;
  }
}

export const imageEffects: Pick<EffectTypes, 'probe-images'> = {
  'probe-images': {
    does: 'writes',
    isFixed: false,
    perform: async (ports, effect, around) => ({ detail: await probeImages(ports, effect, around) }),
    async dryRun({ cluster }, { daemonSet }) {
      await cluster.dryRunCreate(K.DaemonSet, daemonSet);
      return { detail: 'not created (dry run)' };
    },
    text: ({ daemonSet, images, timeoutMs }) =>
      `create ${probeText(daemonSet)} with ${counted(images.length, 'image')}, watch its pods for at most ${timeText(timeoutMs)}, then delete it`,
    mask: whole,
    digest: whole,
  },
};

/**
 * Pods on every node that pull these images and at most print a program's version; always deleted again. The nodes' answers are written to
 * the work folder, marked with `run`.
 */
interface ProbeImages {
  readonly type: 'probe-images';
  readonly daemonSet: KubeObject;
  readonly images: readonly string[];
  readonly run: string;
  readonly release: string;
  readonly timeoutMs: number;
}

const APART_MS = 2_000;

/**
 * Creates the probe, watches it until every node has told every image or the time is up, writes down what they said, and deletes it
 * whatever happens. Throws Fault('interrupted') if the user stops it.
 */
async function probeImages(ports: EnginePorts, effect: ProbeImages, around: Around): Promise<string> {
  await mayDelete(ports, effect.daemonSet);
  const created = await create(ports, effect.daemonSet);
  try {
    const results = await watched(ports, effect, around);
    await ports.work.write(RESULTS, JSON.stringify({ run: effect.run, release: effect.release, results }));
    const pulled = results.filter(({ state }) => state === 'pulled').length;
    return `${pulled} of ${results.length} pulled`;
  } finally {
    await remove(ports, created, around);
  }
}

/** What could not be deleted afterwards is not created. */
async function mayDelete({ cluster }: EnginePorts, { metadata: { namespace } }: KubeObject): Promise<void> {
  const { group, plural: resource } = K.DaemonSet;
  const [allowed] = await cluster.reviewAccess([{ verb: 'delete', group, resource, ...(namespace ? { namespace } : {}) }]);
  if (allowed) return;
  throw new Fault('failed', `this account may not delete DaemonSets in ${namespace ?? 'any namespace'}: the probe would stay there`, [
    WITHOUT,
  ]);
}

const WITHOUT = 'leave --probe-images out, or give the account the rights of docs/reference/permissions.md';

async function create({ cluster }: EnginePorts, daemonSet: KubeObject): Promise<KubeObject> {
  try {
    return await cluster.create(K.DaemonSet, daemonSet);
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    if (thrown.status === 409) throw new Outdated(`${probeText(daemonSet)} is there already`);
    throw new Fault('failed', `the server does not take ${probeText(daemonSet)}: ${messageOf(thrown)}`, [WITHOUT], thrown);
  }
}

async function watched({ cluster, clock }: EnginePorts, effect: ProbeImages, around: Around): Promise<readonly ProbedImage[]> {
  const { daemonSet, images, timeoutMs } = effect;
  const { namespace } = daemonSet.metadata;
  const until = clock.now().getTime() + timeoutMs;
  const scope = { labelSelector: `${PROBE_LABEL}=images`, ...(namespace ? { namespace } : {}) };
  for (;;) {
    const [pods, nodes] = await Promise.all([cluster.list(K.Pod, scope), cluster.list(K.Node)]);
    const results = probedImages(pods, nodes.filter(isProbed), images, clock.now().getTime());
    const untold = results.filter(({ state }) => state === 'untold');
    const [first] = untold;
    around.report(results.length - untold.length, results.length, 'images reported by nodes', first && `${first.node}: ${first.because}`);
    if (untold.length === 0 || clock.now().getTime() >= until) return results;
    if (around.stop.aborted)
      throw new Fault('interrupted', 'stopped while the nodes pull; the probe is deleted', ['start it again with the same command']);
    await clock.sleep(APART_MS, around.stop).catch(() => undefined);
  }
}

/** What cannot be deleted is said with the command that does it: the next probe finds it by its label, too. */
async function remove({ cluster }: EnginePorts, daemonSet: KubeObject, { warn }: Around): Promise<void> {
  const { name, namespace = '' } = daemonSet.metadata;
  try {
    await cluster.remove(K.DaemonSet, refOf(daemonSet));
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return;
    warn(
      text`${probeText(daemonSet)} could not be deleted (${messageOf(thrown)}): ${removingCommand`kubectl delete daemonset ${name} -n ${namespace}`}`,
    );
  }
}
