import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Wanted } from '../fixtures/facts.ts';
import { type ApplyBench, applyBench, ownDocuments } from './apply-bench.ts';
import { ownedBy } from './applying-cluster.ts';
import { objectOf, workloadOf } from './inventory.ts';
import { operatorReleases } from './releases.ts';
import { CALICO_TARGET } from './target.ts';

export const OPERATOR = 'tigera-operator';

/** The profile of a service whose operator cannot be kept from Typha. */
export const unheld: Profile = { ...calico, operator: { ...calico.operator, ignores: undefined } };
/** By name: what stands against the upgrade there. */
export const ORDER = 'NS-251';
export const TYPHA = 'Deployment/calico-system/calico-typha';

/** Conditions of a component that is well. */
export const GOOD = Object.entries({ Available: 'True', Degraded: 'False', Progressing: 'False' }).map(([type, status]) => ({
  type,
  status,
}));

export interface Operated {
  /** Namespace of the operator, everywhere in its manifest. */
  readonly namespace?: string;
  /** Name of its Deployment. */
  readonly named?: string;
  readonly options?: Wanted;
  readonly profile?: Profile;
  readonly present?: readonly string[];
  /** What is in the cluster besides. */
  readonly more?: readonly KubeObject[];
}

/** The operator of v3.27.5 as its document says, with `kubectl create`, and the components that it rendered. */
export async function operatedBench({
  namespace = OPERATOR,
  named = OPERATOR,
  options,
  profile = calico,
  present = ['v3.27.5', CALICO_TARGET],
  more = [],
}: Operated = {}): Promise<ApplyBench> {
  const documents = (await ownDocuments('v3.27.5', 'tigera-operator.yaml', operatorReleases)).map((one) => moved(one, namespace, named));
  const rendered = [
    workloadOf('DaemonSet', 'calico-node', { namespace: 'calico-system', images: { 'calico-node': 'docker.io/calico/node:v3.27.5' } }),
    ...['calico-typha', 'calico-kube-controllers'].map((name) =>
      workloadOf('Deployment', name, { namespace: 'calico-system', images: { [name]: `docker.io/calico/${name.slice(7)}:v3.27.5` } }),
    ),
    objectOf('operator.tigera.io/v1', 'Installation', 'default', { spec: {}, status: { calicoVersion: 'v3.27.5' } }),
    objectOf('operator.tigera.io/v1', 'TigeraStatus', 'calico', { status: { conditions: GOOD } }),
  ];
  const installed = [...documents.map((one) => ownedBy('kubectl-create', one)), ...rendered, ...more];
  return applyBench(installed, { profile, folder: operatorReleases, releases: present, ...(options ? { options } : {}) });
}

function moved(document: KubeObject, namespace: string, named: string): KubeObject {
  const placed = JSON.parse(JSON.stringify(document).replaceAll(`"namespace":"${OPERATOR}"`, `"namespace":"${namespace}"`)) as KubeObject;
  const name = { Namespace: namespace, Deployment: named }[document.kind] ?? document.metadata.name;
  return { ...placed, metadata: { ...placed.metadata, name } };
}
