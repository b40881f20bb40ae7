import { command } from './argv.ts';
import type { AccessRequest } from './ports.ts';

/** `patch daemonsets.apps in kube-system` */
export function accessText({ verb, group, resource, subresource, namespace, name }: AccessRequest): string {
  const type = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`;
  return `${verb} ${type}${name ? `/${name}` : ''}${namespace ? ` in ${namespace}` : ''}`;
}

/** The same question, asked with kubectl. */
export function accessQuestion({ verb, group, resource, subresource, namespace }: AccessRequest): string {
  const type = `${resource}${group === '' ? '' : `.${group}`}`;
  const flags = [...(subresource ? [`--subresource=${subresource}`] : []), ...(namespace ? ['-n', namespace] : ['--all-namespaces'])];
  return command`kubectl auth can-i ${verb} ${type} ${flags}`;
}
