import assert from 'node:assert/strict';
import type { OpenCluster } from '../../src/adapters/kube/cluster.ts';
import { paceEffects } from '../../src/features/install-operator/pace-effects.ts';
import type { Around, EnginePorts } from '../../src/kernel/effect-type.ts';
import { type Kind, refOf } from '../../src/kernel/object.ts';
import type { Rolling } from '../../src/kube/paced.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type OpenPlane, openPlane } from '../support/plan-and-result.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const KIND: Kind = { group: 'operator.tigera.io', version: 'v1', kind: 'Installation', plural: 'installations', namespaced: false };
const PATH = ['spec', 'nodeUpdateStrategy', 'rollingUpdate'];

const NUMBER = { 'x-kubernetes-int-or-string': true };
const of = (properties: object) => ({ type: 'object', properties });

/** As the operator's own has it. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'installations.operator.tigera.io' },
  spec: {
    ...{ group: KIND.group, scope: 'Cluster', names: { plural: KIND.plural, kind: KIND.kind } },
    versions: [
      {
        ...{ name: KIND.version, served: true, storage: true },
        schema: {
          openAPIV3Schema: of({
            spec: of({ nodeUpdateStrategy: of({ type: { type: 'string' }, rollingUpdate: of({ maxUnavailable: NUMBER }) }) }),
          }),
        },
      },
    ],
  },
};

const installation = (rollingUpdate?: object) => ({
  ...{ apiVersion: 'operator.tigera.io/v1', kind: 'Installation', metadata: { name: 'default' } },
  spec: { nodeUpdateStrategy: { type: 'RollingUpdate', ...(rollingUpdate ? { rollingUpdate } : {}) } },
});

describe('the pace of one run in an Installation that somebody applies on the server', function () {
  this.timeout(120_000);
  let open: OpenPlane;
  let plane: ControlPlane;
  let cluster: OpenCluster;

  const applied = (rollingUpdate?: object) =>
    plane.kubectl(['apply', '--server-side', '--field-manager=helm', '-f', '-'], JSON.stringify(installation(rollingUpdate)));
  const live = async () => (await cluster.get(KIND, 'default')) ?? assert.fail('there is no Installation');
  const perform = async (type: 'pace-agents' | 'unpace-agents', former: Rolling) => {
    const ports = { cluster } as unknown as EnginePorts;
    const around = { mustHold: () => undefined } as unknown as Around;
    const of = { target: refOf(await live()), path: PATH };
    if (type === 'pace-agents')
      await paceEffects[type].perform(
        ports,
        { type, ...of, paced: { ours: { maxUnavailable: 3 }, ...(former ? { former } : {}) } },
        around,
      );
    else await paceEffects[type].perform(ports, { type, ...of, former }, around);
  };

  before(async function () {
    this.timeout(600_000);
    open = await openPlane();
    ({ plane, cluster } = open);
    assertSucceeded(await plane.kubectl(['apply', '-f', '-'], JSON.stringify(definition)));
    assertSucceeded(await plane.kubectl(['wait', '--for=condition=Established', 'crd', definition.metadata.name]));
  });
  after(() => open?.close());

  for (const former of [{ maxUnavailable: 1 }, undefined])
    it(`is nobody's conflict afterwards, and as it was: ${JSON.stringify(former ?? 'nothing')}`, async () => {
      await plane.kubectl(['delete', 'installation', 'default', '--ignore-not-found']);
      assertSucceeded(await applied(former));
      const before = await live();
      await perform('pace-agents', former);
      assert.deepEqual((await live()).spec, installation({ maxUnavailable: 3 }).spec);
      await perform('unpace-agents', former);
      const after = await live();
      assert.deepEqual([after.spec, after.metadata.annotations], [before.spec, before.metadata.annotations]);
      const owned = ({ metadata }: typeof after) => metadata.managedFields?.map(({ time: _, ...entry }) => entry);
      assert.deepEqual(owned(after), owned(before));
      assertSucceeded(await applied({ maxUnavailable: 2 }));
      assertSucceeded(await applied());
      assert.deepEqual((await live()).spec, installation().spec);
    });
});
