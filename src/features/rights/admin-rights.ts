import type { Profile } from '../../kernel/profile.ts';
import type { Permission } from './permission.ts';

/** Rights of a role that lead to cluster-admin, or to reading what it may read, the plainest first. */
interface Way {
  readonly fact: string;
  readonly is: (permission: Permission) => boolean;
}

const WRITES: readonly string[] = ['create', 'patch', 'update'];
const WORKLOADS: readonly string[] = ['daemonsets', 'deployments', 'statefulsets', 'jobs', 'pods'];
const GRANTS: readonly string[] = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];

const writes =
  (...resources: readonly string[]) =>
  ({ request }: Permission) =>
    WRITES.includes(request.verb) && resources.includes(request.resource);

const WAYS: readonly Way[] = [
  {
    fact: 'it may bind and escalate roles',
    is: ({ request }) => ['bind', 'escalate'].includes(request.verb),
  },
  { fact: 'it may write roles and their bindings', is: writes(...GRANTS) },
  {
    fact: 'it may write workloads, whose pods act as any service account of their namespace and may take over a node',
    is: writes(...WORKLOADS),
  },
  {
    fact: 'it may write APIServices and definitions, through which requests of others go',
    is: writes('apiservices', 'customresourcedefinitions'),
  },
  {
    fact: 'it may list everything, the Secrets with the tokens of others among it',
    is: ({ request }) => request.verb === 'list' && request.group === '*' && request.resource === '*',
  },
  {
    fact: 'it may read Secrets of all namespaces',
    is: ({ request, names }) =>
      ['get', 'list', 'watch'].includes(request.verb) && request.resource === 'secrets' && !request.namespace && !names,
  },
];

/** In these namespaces run service accounts that may do everything. */
const placesOf = ({ operator }: Profile): readonly string[] => ['kube-system', operator.namespace];

/** A created Secret of the token type is filled with the token of the service account that it names. */
function secretsIn(places: readonly string[], permissions: readonly Permission[]): readonly string[] {
  const found = permissions.flatMap(({ request: { resource, namespace = '' }, names }) =>
    resource === 'secrets' && !names && places.includes(namespace) ? [namespace] : [],
  );
  return [...new Set(found)].map((one) => `it may read or create Secrets in ${one}, the tokens of service accounts there among them`);
}

/** Why these permissions equal cluster-admin; empty where they do not. */
export function adminRights(permissions: readonly Permission[], profile: Profile): readonly string[] {
  return [...WAYS.filter(({ is }) => permissions.some(is)).map(({ fact }) => fact), ...secretsIn(placesOf(profile), permissions)];
}
