import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { HostEndpoint } from '../policy-rules/index.ts';
import { labelsGiven } from '../policy-rules/index.ts';
import { eachOf } from '../survey/index.ts';
import type { ServiceObjects } from './stored-policies.ts';

interface Where {
  readonly cluster: Pick<ClusterReader, 'get'>;
  readonly objects: ServiceObjects;
  readonly profile: Profile;
  readonly datastore: Installation['datastore'];
}

/** Profiles that host endpoints may name: with the API datastore the named derived ones, in key-value mode all stored ones. */
export async function endpointProfiles(
  { cluster, objects, profile, datastore }: Where,
  endpoints: readonly Pick<HostEndpoint, 'profiles'>[],
): Promise<readonly KubeObject[]> {
  if (datastore === 'kvstore') return objects('profiles');
  const names = [...new Set(endpoints.flatMap(({ profiles }) => profiles))];
  const derived = await eachOf(names, 8, (name) => derivedProfile(cluster, profile, name));
  return derived.filter((one) => one !== undefined);
}

/** The profile of a namespace or of a service account; undefined if the name is of neither, or if there is no such object any more. */
async function derivedProfile(cluster: Where['cluster'], profile: Profile, name: string): Promise<KubeObject | undefined> {
  const { namespace, serviceAccount } = profile.derivedProfiles ?? {};
  if (namespace && name.startsWith(namespace.prefix)) {
    const live = await cluster.get(K.Namespace, name.slice(namespace.prefix.length));
    return (
      live &&
      profileObject(name, {
        ingress: ALLOW,
        egress: ALLOW,
        labelsToApply: labelsGiven(live.metadata, namespace.labelPrefix, profile.apiGroup),
      })
    );
  }
  if (!serviceAccount || !name.startsWith(serviceAccount.prefix)) return undefined;
  // Namespaces have no dots in their names, service accounts may.
  const [space = '', ...rest] = name.slice(serviceAccount.prefix.length).split('.');
  const live = rest.length > 0 ? await cluster.get(K.ServiceAccount, rest.join('.'), space) : undefined;
  return live && profileObject(name, { labelsToApply: labelsGiven(live.metadata, serviceAccount.labelPrefix, profile.apiGroup) });
}

const ALLOW = [{ action: 'Allow' }];

function profileObject(name: string, spec: object): KubeObject {
  return { apiVersion: '', kind: 'Profile', metadata: { name }, spec };
}
