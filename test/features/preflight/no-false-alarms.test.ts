import assert from 'node:assert/strict';
import { openStoredBases, type StoredBases } from '../../../src/adapters/stored-bases.ts';
import type { WholePreflight } from '../../../src/features/preflight/catalogue.ts';
import { preflightChecks } from '../../../src/features/preflight/catalogue.ts';
import { detect } from '../../../src/features/survey/detect.ts';
import type { CrdFact } from '../../../src/features/survey/inventory.ts';
import { crdFact } from '../../../src/features/survey/inventory.ts';
import { read } from '../../../src/kernel/check.ts';
import { judgeAll } from '../../../src/kernel/judge.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import type { Variant } from '../../../src/kernel/profile.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, daemonSet, deployment, healthy, pod, resources, targetOf } from '../../fixtures/facts.ts';
import { inventoryOfObjects } from '../../support/inventory.ts';
import { isTrue } from '../../support/true-conditions.ts';

const TARGET = calico.defaultRelease;

const ofKind = (objects: readonly KubeObject[], kind: string) => objects.filter((one) => one.kind === kind);

function kindsOf(objects: readonly KubeObject[]): readonly Kind[] {
  return objects.map(({ apiVersion, kind }) => {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
  });
}

function storedCrd(crd: KubeObject): Omit<CrdFact, 'plural'> {
  const versions = (crd.spec as { versions?: { name: string; storage?: boolean }[]; version?: string }).versions;
  const stored = versions?.filter(({ storage }) => storage).map(({ name }) => name);
  return { ...crdFact(crd.metadata.name), storedVersions: stored ?? ['v1'] };
}

/** As every kubelet labels its node; old manifests select by the beta label. */
const LINUX = { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' };

/** A cluster that holds the manifest of a release as it was published, on healthy nodes, and the target as it is published. */
function untouched(installed: readonly KubeObject[], target: readonly KubeObject[], variant: Variant): WholePreflight {
  const crds = ofKind(installed, 'CustomResourceDefinition').map(({ metadata }) => crdFact(metadata.name));
  const inventory = inventoryOfObjects(installed, crds);
  return {
    ...healthy,
    nodes: {
      value: read(healthy.nodes).map((node) => ({
        ...node,
        metadata: { ...node.metadata, labels: { ...node.metadata.labels, ...LINUX } },
      })),
    },
    detection: { value: detect(inventory, calico, { variant: variant.id, path: undefined }) },
    daemonSets: { value: ofKind(installed, 'DaemonSet').map((one) => ({ ...one, status: daemonSet().status })) },
    deployments: { value: ofKind(installed, 'Deployment').map((one) => ({ ...one, status: deployment('any').status })) },
    discovery: { value: { kinds: kindsOf(target), failed: [] } },
    agentConfig: { value: ofKind(installed, 'ConfigMap').find(({ metadata }) => metadata.name === variant.configMap) },
    crds: { value: ofKind(installed, 'CustomResourceDefinition').map(storedCrd) },
    resources: resources(),
    pods: {
      value: [variant.agent, variant.agent, variant.controllers, ...(variant.typha ? [variant.typha] : [])].map(
        ({ name, namespace }, index) => pod(`${name}-${index}`, { namespace, node: index === 1 ? 'n2' : 'n1' }),
      ),
    },
    target: targetOf(...target),
  };
}

describe('untouched manifests of published releases', function () {
  this.timeout(120_000);
  let stored: StoredBases;
  before(async () => {
    stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
  });

  it('raise no finding whose condition does not hold', () => {
    const found: string[] = [];
    let releases = 0;
    for (const variant of calico.variants) {
      const target = stored.documentsOf(TARGET, variant.file) ?? [];
      for (const release of stored.releasesOf(variant.file)) {
        releases += 1;
        const facts = untouched(stored.documentsOf(release, variant.file) ?? [], target, variant);
        const findings = judgeAll(preflightChecks, facts, contextOf({ release: TARGET }));
        const raised = findings.filter(
          ({ id, outcome }) => (outcome === 'warning' || outcome === 'error') && !isTrue(id, variant.file, release),
        );
        found.push(...raised.map(({ id, message }) => `${id} ${variant.file} ${release}: ${message}`));
      }
    }
    assert.ok(releases > 900);
    assert.deepEqual(found, []);
  });
});
