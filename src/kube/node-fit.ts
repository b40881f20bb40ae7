import { jsonAt, mapAt, textAt } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { selects } from './selector.ts';

/**
 * Whether pods of a workload may be scheduled to a node, by its selector, its required affinity and its tolerations. Taints that Kubernetes
 * itself sets come and go with the node's state.
 */
export function fitsNode(workload: KubeObject, node: KubeObject): boolean {
  const pod = jsonAt(workload.spec, 'template', 'spec');
  const labels = node.metadata.labels ?? {};
  const wanted = mapAt(pod, 'nodeSelector');
  const terms = listAt(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
  return (
    Object.entries(wanted).every(([key, value]) => labels[key] === value) &&
    (terms.length === 0 || terms.some((term) => fitsTerm(term, node))) &&
    repelling(node).every((taint) => listAt(pod, 'tolerations').some((one) => tolerates(one, taint)))
  );
}

function fitsTerm(term: unknown, { metadata }: KubeObject): boolean {
  const [labels, fields] = [listAt(term, 'matchExpressions'), listAt(term, 'matchFields')];
  const named = { 'metadata.name': metadata.name };
  return (
    labels.length + fields.length > 0 &&
    labels.every((one) => holds(one, metadata.labels ?? {})) &&
    fields.every((one) => holds(one, named))
  );
}

function holds(requirement: unknown, labels: Readonly<Record<string, string>>): boolean {
  const operator = textAt(requirement, 'operator');
  const value = labels[textAt(requirement, 'key') ?? ''];
  const [bound] = listAt(requirement, 'values');
  if (operator === 'Gt') return Number(value) > Number(bound);
  if (operator === 'Lt') return Number(value) < Number(bound);
  return selects({ matchExpressions: [requirement as never] }, labels);
}

function repelling(node: KubeObject): readonly unknown[] {
  return listAt(node.spec, 'taints').filter((taint) => {
    const [key = '', effect] = [textAt(taint, 'key'), textAt(taint, 'effect')];
    return (effect === 'NoSchedule' || effect === 'NoExecute') && !key.startsWith('node.kubernetes.io/');
  });
}

function tolerates(toleration: unknown, taint: unknown): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = mapAt(toleration);
  if (effect !== '' && effect !== textAt(taint, 'effect')) return false;
  if (operator === 'Exists') return key === '' || key === textAt(taint, 'key');
  return key === textAt(taint, 'key') && value === (textAt(taint, 'value') ?? '');
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const at = jsonAt(value, ...path);
  return Array.isArray(at) ? at : [];
}
