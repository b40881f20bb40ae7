import { isRecord } from '../kernel/json.ts';
import { groupOf, type KubeObject } from '../kernel/object.ts';
import type { ListOptions } from '../kernel/ports.ts';

type Labels = Readonly<Record<string, string>>;

/** Namespace, owners, label selector and field selector of a list or watch. */
export function isSelected(object: KubeObject, { namespace, labelSelector = '', fieldSelector = '', ownedBy }: ListOptions): boolean {
  if (ownedBy && !object.metadata.ownerReferences?.some(({ apiVersion }) => ownedBy.includes(groupOf(apiVersion)))) return false;
  if (namespace !== undefined && object.metadata.namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return matchesLabels(object.metadata.labels ?? {}, labelSelector) && matchesFields(object, fieldSelector);
}

/** `a=b,c in (d,e),!f`: every form that the API knows. */
function matchesLabels(labels: Labels, selector: string): boolean {
  const requirements = selector.split(/,(?![^(]*\))/).map((one) => one.trim());
  return requirements.every((one) => one === '' || matchesOne(labels, one));
}

function matchesOne(labels: Labels, requirement: string): boolean {
  const among = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(requirement);
  if (among) {
    const [, key = '', how, values = ''] = among;
    const found = values.split(',').some((value) => value.trim() === labels[key]);
    return how === 'in' ? found : !found;
  }
  const [, key = '', unequal, value] = /^([^=!]+)(!)?={1,2}(.*)$/.exec(requirement) ?? [];
  if (value !== undefined) return (labels[key] === value) !== (unequal === '!');
  return requirement.startsWith('!') ? !(requirement.slice(1) in labels) : requirement in labels;
}

/** `spec.nodeName=a,metadata.name!=b`. */
function matchesFields(object: KubeObject, selector: string): boolean {
  return selector.split(',').every((one) => {
    const [, path, unequal, value] = /^([^=!]+)(!)?={1,2}(.*)$/.exec(one) ?? [];
    if (path === undefined) return true;
    const found = path.split('.').reduce<unknown>((inner, field) => (isRecord(inner) ? inner[field] : undefined), object);
    return (String(found ?? '') === value) !== (unequal === '!');
  });
}
