import assert from 'node:assert/strict';
import { withStoredVersions } from '../../../src/features/survey/cli-version.ts';
import { crdFact } from '../../../src/features/survey/inventory.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { objectOf } from '../../support/inventory.ts';

const GROUP = { crdGroup: 'crd.projectcalico.org' };
const CRDS = ['tiers.crd.projectcalico.org', 'apps.example.com', 'ippools.crd.projectcalico.org'].map(crdFact);

/** Answers with the definitions that are there, and notes which were asked for. */
function definitions(stored: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
  const asked: string[] = [];
  const get = async (_kind: unknown, name: string): Promise<KubeObject | undefined> => {
    asked.push(name);
    const status = stored[name];
    return status && objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', name, status);
  };
  return { asked, cluster: { get } };
}

describe('reading stored versions', () => {
  it('asks for the definitions of the service alone', async () => {
    const { asked, cluster } = definitions({
      'tiers.crd.projectcalico.org': { status: { storedVersions: ['v1', 'v1beta1'] } },
      'ippools.crd.projectcalico.org': { status: { storedVersions: ['v1'] } },
    });
    const crds = await withStoredVersions(cluster, CRDS, GROUP);
    assert.deepEqual(
      crds.map(({ name, storedVersions }) => [name, storedVersions]),
      [
        ['tiers.crd.projectcalico.org', ['v1', 'v1beta1']],
        ['apps.example.com', undefined],
        ['ippools.crd.projectcalico.org', ['v1']],
      ],
    );
    assert.deepEqual(asked.sort(), ['ippools.crd.projectcalico.org', 'tiers.crd.projectcalico.org']);
  });

  it('knows none of a definition that is gone or has no status yet', async () => {
    const { cluster } = definitions({ 'tiers.crd.projectcalico.org': {} });
    const crds = await withStoredVersions(cluster, CRDS, GROUP);
    assert.deepEqual(
      crds.map(({ storedVersions }) => storedVersions),
      [[], undefined, []],
    );
  });
});
