import { K } from '../../kernel/kinds.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { CrdFacts } from './facts.ts';
import { eachOf } from './reading.ts';

/** Definitions are large: not all of them are to be in memory at once. */
const AT_ONCE = 8;

/** Versions in which objects may be stored, of the service's own resources (domain §2): of others nobody asks. */
export async function withStoredVersions(
  cluster: Pick<ClusterReader, 'get'>,
  crds: readonly CrdFacts[],
  { crdGroup }: Pick<Profile, 'crdGroup'>,
): Promise<readonly CrdFacts[]> {
  return eachOf(crds, AT_ONCE, async (crd) => {
    if (crd.group !== crdGroup) return crd;
    const whole = (await cluster.get(K.CustomResourceDefinition, crd.name)) as
      | { readonly status?: { readonly storedVersions?: readonly string[] } }
      | undefined;
    return { ...crd, storedVersions: whole?.status?.storedVersions ?? [] };
  });
}
