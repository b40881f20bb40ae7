import type { OperatedFacts } from '../../checks/facts.ts';
import type { Reading } from '../../core/check.ts';
import type { Context } from '../../core/context.ts';
import type { Detection } from '../../core/installation.ts';
import type { KubeObject } from '../../core/object.ts';
import type { ClusterReader } from '../../core/ports.ts';
import { attempt } from '../reading.ts';

const POLICIES = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' } as const;

/** What the crossings of an operator's installation are judged by; undefined on other paths, and where no names are known. */
export async function readOperated(
  cluster: Pick<ClusterReader, 'list' | 'get' | 'resolve'>,
  { profile }: Context,
  detection: Reading<Detection>,
): Promise<Reading<OperatedFacts | undefined>> {
  const { crossings, end, installationKind } = profile.operator;
  const path = 'value' in detection && detection.value.type === 'found' ? detection.value.installation.path : undefined;
  if (!crossings || (path !== 'operator' && path !== 'chart')) return { value: undefined };
  const all = async (kind: string): Promise<readonly KubeObject[]> => {
    const served = await cluster.resolve(`${profile.operatorGroup}/v1`, kind);
    // Items of a list do not always say their kind.
    return served ? (await cluster.list(served)).map((one) => ({ ...one, kind })) : [];
  };
  return attempt(async () => {
    const needed = [...new Set((end?.statuses ?? []).flatMap(({ needs }) => needs ?? []))];
    const [installations, imageSets, gateways, ...resources] = await Promise.all(
      [installationKind.kind, crossings.imageSet.kind, crossings.gateway.kind, ...needed].map(all),
    );
    const gatewayPolicy = (gateways ?? []).length > 0 ? await policyNamed(cluster, crossings.gateway.policy) : undefined;
    const installation = installations?.find(({ metadata }) => metadata.name === 'default');
    return {
      imageSets: imageSets ?? [],
      gateways: gateways ?? [],
      kinds: needed.filter((_kind, index) => (resources[index] ?? []).length > 0),
      ...(installation ? { installation } : {}),
      ...(gatewayPolicy ? { gatewayPolicy } : {}),
    };
  });
}

async function policyNamed(cluster: Pick<ClusterReader, 'get' | 'resolve'>, name: string): Promise<KubeObject | undefined> {
  const kind = await cluster.resolve(POLICIES.apiVersion, POLICIES.kind);
  const found = kind && (await cluster.get(kind, name));
  return found && { ...found, ...POLICIES };
}
