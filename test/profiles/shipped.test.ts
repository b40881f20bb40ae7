import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { KubeObject } from '../../src/kernel/object.ts';
import { parseRelease } from '../../src/kernel/release.ts';
import { containersOf, initContainersOf } from '../../src/kube/workload.ts';
import { calico } from '../../src/profiles/calico.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { inventoryOfManifest } from '../support/inventory.ts';
import { manifestFile, releases } from '../support/releases.ts';

describe('the shipped profiles', () => {
  for (const profile of shippedProfiles) {
    it(`${profile.name}: names its variants and files once, and only well-formed releases`, () => {
      const ids = profile.variants.map(({ id }) => id);
      const files = profile.variants.map(({ file }) => file);
      assert.deepEqual([new Set(ids).size, new Set(files).size], [ids.length, files.length]);
      for (const tag of [
        profile.defaultRelease,
        profile.minimumSource,
        ...(profile.uidChange ? [profile.uidChange] : []),
        ...(profile.uidBackports ?? []),
      ])
        assert.ok(parseRelease(tag), tag);
    });
  }

  it('give the document its own READY literals, and Calico the rule that holds in every release', () => {
    const [netsvc] = shippedProfiles;
    assert.deepEqual(
      netsvc?.variants.map(({ id, agent }) => [id, agent.ready]),
      [
        ['netsvc', { type: 'literal', ready: '2/2' }],
        ['netsvc-overlay', { type: 'literal', ready: '2/2' }],
        ['netsvc-policy-only', { type: 'literal', ready: '2/2' }],
        ['netsvc-kvstore', { type: 'literal', ready: '1/2' }],
        ['netsvc-overlay-kvstore', { type: 'literal', ready: '1/2' }],
      ],
    );
    assert.ok(
      calico.variants.every(({ agent, controllers }) => [agent, controllers].every(({ ready }) => ready.type === 'all-containers')),
    );
  });

  it('leave out of netsvc what the document does not have: Typha and the renaming of policies', () => {
    const [netsvc] = shippedProfiles;
    assert.deepEqual([netsvc?.typhaRefusesAgentsBefore, netsvc?.policyRenaming, netsvc?.manifestUrl], [undefined, undefined, undefined]);
    assert.ok(netsvc?.variants.every(({ typha }) => typha === undefined));
  });
});

describe('the calico profile against published manifests', () => {
  const workloadsOf = (release: string, file: string): readonly KubeObject[] => {
    const path = manifestFile(release, file);
    if (!existsSync(path)) return [];
    const { daemonSets, deployments } = inventoryOfManifest(readFileSync(path, 'utf8'));
    return [daemonSets, deployments].flatMap((reading) => ('value' in reading ? reading.value : []));
  };

  it('names as leftovers just what old agents had and the agents of the default release have not', () => {
    const pairs = calico.variants.flatMap(({ file, agent }) => {
      const inFile = (release: string) => workloadsOf(release, file).filter(({ metadata }) => metadata.name === agent.name);
      return inFile(calico.defaultRelease).flatMap((target) =>
        readdirSync(releases)
          .flatMap(inFile)
          .map((old) => ({ old, target })),
      );
    });
    assert.ok(pairs.length > 20);
    const gone = (part: 'containers' | 'env' | 'volumes') =>
      new Set(pairs.flatMap(({ old, target }) => partsOf(old)[part].filter((name) => !partsOf(target)[part].includes(name))));
    const found = { containers: gone('containers'), env: gone('env'), volumes: gone('volumes') };
    const sorted = Object.fromEntries(Object.entries(found).map(([part, names]) => [part, [...names].sort()]));
    const { containers, env, volumes } = calico.leftovers;
    assert.deepEqual(sorted, { containers: [...containers].sort(), env: [...env].sort(), volumes: [...volumes].sort() });
  });

  it('names the workloads, containers and ConfigMaps that the manifests of the default release hold', () => {
    for (const { file, agent, controllers, typha, configMap } of calico.variants) {
      const path = manifestFile(calico.defaultRelease, file);
      if (!existsSync(path)) continue;
      const { configMaps } = inventoryOfManifest(readFileSync(path, 'utf8'));
      const workloads = workloadsOf(calico.defaultRelease, file);
      for (const expected of [agent, controllers, ...(typha ? [typha] : [])]) {
        const found = workloads.find(({ kind, metadata }) => kind === expected.kind && metadata.name === expected.name);
        assert.ok(
          found && containersOf(found).some(({ name }) => name === expected.container),
          `${file}: ${expected.kind} ${expected.name}`,
        );
        assert.equal(found.metadata.namespace, expected.namespace);
      }
      assert.ok('value' in configMaps && configMaps.value.some(({ metadata }) => metadata.name === configMap), `${file}: ${configMap}`);
    }
  });
});

function partsOf(workload: KubeObject): Readonly<Record<'containers' | 'env' | 'volumes', readonly string[]>> {
  const containers = [...containersOf(workload), ...initContainersOf(workload)];
  const { spec } = workload as { spec?: { template?: { spec?: { volumes?: readonly { name: string }[] } } } };
  return {
    containers: containers.map(({ name }) => name),
    env: containers.flatMap(({ env = [] }) => env.map(({ name }) => name)),
    volumes: (spec?.template?.spec?.volumes ?? []).map(({ name }) => name),
  };
}
