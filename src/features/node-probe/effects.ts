import { counted, timeText } from '../../kernel/counted.ts';
import { type Around, type EffectTypes, type EnginePorts, whole } from '../../kernel/effect-type.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { deniedText, sweep } from '../network-probe/index.ts';
import { RESULTS } from './image-probe.ts';
import { podOf, probeJob } from './job.ts';
import { type Probe, probeNodes } from './probe.ts';

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'probe-nodes': ProbeNodes;
  }
}

export const nodeProbeEffects: Pick<EffectTypes, 'probe-nodes'> = {
  'probe-nodes': {
    does: 'writes',
    isFixed: false,
    perform: async (ports, effect, around) => ({ detail: await performProbe(ports, effect, around) }),
    async dryRun({ cluster }, { probe }) {
      await cluster.dryRunCreate(K.Job, sample(probe));
      return { detail: 'not created (dry run)' };
    },
    text: ({ probe: { nodes, images, needs, namespace, timeoutMs } }) =>
      `create a Job in namespace ${namespace} on each of ${counted(nodes.length, 'node')} with ${counted(images.length, 'image')}${needs?.isPrivileged ? ', privileged' : ''}, watch its pod for at most ${timeText(timeoutMs)}, then delete it`,
    mask: whole,
    digest: whole,
  },
};

/** A Job on each of these nodes with the images of the target; always deleted again. What the nodes said is written to the work folder, marked with `run`. */
interface ProbeNodes {
  readonly type: 'probe-nodes';
  readonly probe: Probe;
  readonly run: string;
  readonly release: string;
}

const sample = (probe: Probe) => probeJob({ ...probe, id: 'dry-run', part: '1', node: probe.nodes[0] ?? 'any', endsAfter: 60 });

/** Throws Fault('failed') where no pod may be started, before the first is, and Fault('interrupted') if the user stops it. */
async function performProbe(ports: EnginePorts, { probe, run, release }: ProbeNodes, around: Around): Promise<string> {
  await mayProbe(ports, probe);
  const left = new Map<string, ObjectRef>();
  const created = (job: ObjectRef) => left.set(job.uid ?? '', job);
  const deleted = (job: ObjectRef) => left.delete(job.uid ?? '');
  try {
    const { results, nodes } = await probeNodes(probe, ports, { ...around, created, deleted });
    await ports.work.write(RESULTS, JSON.stringify({ run, release, results, nodes }));
    const good = nodes.filter(({ faults, untried }) => faults.length + untried.length === 0).length;
    return `${good} of ${counted(nodes.length, 'node')} without a fault`;
  } finally {
    await sweep(ports, [...left.values()], around, 'probe');
  }
}

const NOT_TRIED = 'images, processors, mounts, folders, ports and names';
const WITHOUT = 'leave --probe-nodes out, or give the account the rights of docs/reference/permissions.md';

/** The server says before whether it admits such a pod. */
async function mayProbe({ cluster }: EnginePorts, probe: Probe): Promise<void> {
  const { namespace } = probe;
  const denied = await deniedText(cluster, namespace);
  if (denied !== undefined) throw new Fault('failed', `${denied}: nothing was tried (${NOT_TRIED})`, [WITHOUT]);
  try {
    await cluster.dryRunCreate(K.Pod, podOf(sample(probe)));
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    throw new Fault(
      'failed',
      `namespace ${namespace} takes no pod of the probe: ${messageOf(thrown)}. Nothing was tried (${NOT_TRIED})`,
      ['the agents need the same rights there: see what refuses the pod, or leave --probe-nodes out'],
      thrown,
    );
  }
}
