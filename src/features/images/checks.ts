import { type Check, type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { listed, PROGRAM } from '../survey/index.ts';
import type { ProbedImage } from './image-probe.ts';

export interface ImageProbeJudged {
  /** What the nodes said to this run; undefined before they are asked. */
  readonly probed: readonly ProbedImage[] | undefined;
  /** What of the target's images cannot be known. */
  readonly unknown: readonly string[];
}

/** Severity by what is found: an image that a node cannot pull stops the agents there, a node that says nothing is only named. */
export const imagesPulled: Check<ImageProbeJudged> = {
  id: 'NS-221',
  title: 'nodes can pull the images of the target',
  category: 'nodes',
  severity: 'error',
  ref: 'domain §12',
  judge({ probed, unknown }) {
    if (!probed) return notApplicable('the nodes are asked once this is confirmed');
    const failed = probed.filter(({ state }) => state === 'failed');
    const untold = probed.filter(({ state }) => state === 'untold' || state === 'away');
    const nodes = new Set(probed.map(({ node }) => node)).size;
    const images = new Set(probed.map(({ image }) => image)).size;
    const scope = `${counted(images, 'image')} on ${counted(nodes, 'node')}`;
    if (failed.length + untold.length === 0) return ok([`pulled: ${scope}`, ...unknown].join('; '));
    return verdict(failed, untold, scope);
  },
};

function verdict(failed: readonly ProbedImage[], untold: readonly ProbedImage[], scope: string): Verdict {
  const facts = [
    ...(failed.length > 0 ? [`not pulled, or its program cannot run: ${names(failed)}`] : []),
    ...(untold.length > 0 ? [`not told: ${names(untold)}`] : []),
  ];
  return {
    status: 'failed',
    because: `${facts.join('; ')} (of ${scope})`,
    hint: 'Mirror the images that plan -o images lists to a registry that these nodes can reach, or add the pull secret. Where a program cannot run, the node needs a newer processor model (x86-64-v2). Then probe again.',
    next: `${PROGRAM} plan -o images`,
    ...(failed.length > 0 ? {} : { severity: 'warning' as const }),
    evidence: [...failed, ...untold].map(evidenceOf),
  };
}

function names(results: readonly ProbedImage[]): string {
  return listed(results.map(({ node, image }) => `${image} on ${node}`));
}

/** `node-01 quay.io/calico/node:v3.32.1`, as `--accept` names it. */
function evidenceOf({ node, image, because, state }: ProbedImage): Evidence {
  const object = { apiVersion: 'v1', kind: 'Node', name: node };
  return { text: `${node} ${image}`, object, detail: `${state === 'failed' ? 'failed' : 'untold'}: ${because}` };
}
