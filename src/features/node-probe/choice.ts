import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { look, text as says } from '../../kernel/step.ts';
import { percentOf } from '../../kube/judge-rollout.ts';

/** The nodes of `--probe-nodes`, by name: all, a number or a share of them spread over the whole list, or those that a selector takes. Throws Fault('usage'). */
export async function chooseProbed(
  cluster: Pick<ClusterReader, 'list'>,
  asked: string,
  nodes: readonly KubeObject[],
): Promise<readonly string[]> {
  const names = nodes.map(({ metadata }) => metadata.name).toSorted();
  if (names.length === 0) throw refused('--probe-nodes: the agents of the target run on no node of this cluster');
  const said = asked.trim();
  if (said === 'all') return names;
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(said) ?? [];
  if (digits !== undefined) {
    const count = percent === '%' ? percentOf(Number(digits), names.length) : Number(digits);
    if (count < 1) throw refused(`--probe-nodes ${asked} names no node`);
    return spread(names, count);
  }
  const chosen = await selected(cluster, said);
  const found = names.filter((name) => chosen.has(name));
  if (found.length === 0) throw refused(`--probe-nodes ${asked} selects no node that agents of the target run on`);
  return found;
}

async function selected(cluster: Pick<ClusterReader, 'list'>, labelSelector: string): Promise<ReadonlySet<string>> {
  if (labelSelector === '') throw refused('--probe-nodes names no node');
  const nodes = await cluster.list(K.Node, { labelSelector, metadataOnly: true }).catch((thrown: unknown) => {
    if (thrown instanceof ApiFailure && thrown.status === 400)
      throw refused(`--probe-nodes ${labelSelector} is no selector: ${thrown.message}`);
    throw thrown;
  });
  return new Set(nodes.map(({ metadata }) => metadata.name));
}

function spread(names: readonly string[], count: number): readonly string[] {
  if (count >= names.length) return names;
  return Array.from({ length: count }, (_, index) => names[Math.floor((index * names.length) / count)] ?? '');
}

function refused(fact: string): Fault {
  const nodes = command`kubectl get nodes --show-labels`;
  return new Fault('usage', fact, ['write --probe-nodes all, 3, 10% or a selector such as zone=a', look(says`see the nodes: ${nodes}`)]);
}
