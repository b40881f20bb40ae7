import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../src/kernel/object.ts';
import { changedFields } from '../../src/manifest/definition-differences.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { sandboxTools } from '../../src/sandbox/sandbox-tools.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { findKind } from '../../src/sandbox/store.ts';
import {
  ACCESS,
  ENDPOINT,
  FILE,
  installedText,
  kvstoreScenario,
  RECORDED,
  storeObjects,
  withCarriedSettings,
  withOwnVariables,
  withoutSecret,
} from '../support/kvstore-sandbox.ts';
import { manifestFile } from '../support/releases.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { CALICO_TARGET } from '../support/target.ts';

/*
 * What an apply of the unedited release was seen to do to an installation with a key-value store, recorded with two kubectl
 * versions on a real API server: here with the same files on the embedded cluster. Applies without force are not played there.
 */

const PATH = '/files/upgrade.yaml';
const OWN_VARIABLES = ['CALICO_IPV4POOL_CIDR', 'IP_AUTODETECTION_METHOD'];
const UNEDITED = { etcd_endpoints: 'http://<ETCD_IP>:<ETCD_PORT>', etcd_ca: '', etcd_cert: '', etcd_key: '', veth_mtu: '0' };
const CARRIED = {
  etcd_endpoints: ENDPOINT,
  etcd_ca: '/calico-secrets/etcd-ca',
  etcd_cert: '/calico-secrets/etcd-cert',
  etcd_key: '/calico-secrets/etcd-key',
  veth_mtu: '1440',
};
const OLD_STEP: Readonly<Record<string, string>> = { 'v3.27.5': 'mount-bpffs', 'v3.20.6': 'flexvol-driver', 'v3.18.1': 'flexvol-driver' };

interface PodSpec {
  readonly containers: readonly { readonly env: readonly { readonly name: string }[] }[];
  readonly initContainers: readonly { readonly name: string; readonly image: string }[];
  readonly volumes: readonly { readonly name: string }[];
}

function podOf(object: KubeObject | undefined): PodSpec {
  assert.ok(object);
  return (object.spec as { readonly template: { readonly spec: PodSpec } }).template.spec;
}
const variablesOf = (object: KubeObject | undefined) => podOf(object).containers[0]?.env.map(({ name }) => name) ?? [];
const stepsOf = (object: KubeObject | undefined) => podOf(object).initContainers.map(({ name }) => name);
const settingsOf = (object: KubeObject | undefined) => {
  const values = (object?.data ?? {}) as Readonly<Record<string, string>>;
  return Object.fromEntries(Object.keys(CARRIED).map((key) => [key, values[key]]));
};

const unedited = () => readFileSync(manifestFile(CALICO_TARGET, FILE), 'utf8');
const onlyEndpoint = () => unedited().replace(UNEDITED.etcd_endpoints, ENDPOINT);
const carried = () => withOwnVariables(withCarriedSettings(unedited(), ENDPOINT));

/** `kubectl apply --server-side --force-conflicts` by hand. */
async function kubectlApplies(scenario: Scenario, text: string): Promise<void> {
  scenario.files.write(PATH, text);
  const tools = sandboxTools(scenario.cluster, scenario.files);
  const { exitCode, stderr } = await tools.run({ tool: 'kubectl', args: ['apply', '--server-side', '--force-conflicts', '-f', PATH] });
  assert.deepEqual([exitCode, stderr], [0, ''], 'with exit 0 and not a word');
}

/** The same objects as if another command had made them. */
async function createdScenario(release: string, isCreated: (object: KubeObject) => boolean): Promise<Scenario> {
  const scenario = await kvstoreScenario(release);
  const { registry } = scenario.cluster;
  for (const { object } of parseManifest(installedText(release), FILE).documents) {
    const kind = findKind(scenario.cluster.kinds(), object.apiVersion, object.kind);
    if (!kind || !isCreated(object)) continue;
    registry.remove(kind, { ...object.metadata, apiVersion: object.apiVersion, kind: object.kind });
    await scenario.clock.sleep(60_000);
    registry.create(kind, object, { manager: 'kubectl-create' });
  }
  return scenario;
}

describe('an apply of the unedited release to an installation with a key-value store', () => {
  for (const release of Object.keys(RECORDED)) {
    it(`takes Secret, endpoints, certificate paths and variables, with exit 0: ${release}, installed by apply`, async () => {
      const scenario = await kvstoreScenario(release);
      const before = storeObjects(scenario);
      assert.deepEqual(settingsOf(before.config), CARRIED);
      assert.deepEqual(
        variablesOf(before.agents).filter((name) => OWN_VARIABLES.includes(name)),
        OWN_VARIABLES,
      );
      await kubectlApplies(scenario, unedited());
      const after = storeObjects(scenario);
      assert.equal(after.secret?.data, undefined);
      assert.deepEqual(settingsOf(after.config), UNEDITED);
      const stayed = variablesOf(after.agents);
      assert.deepEqual(
        OWN_VARIABLES.filter((name) => stayed.includes(name)),
        [],
      );
      assert.deepEqual(stepsOf(after.agents), ['install-cni', 'ebpf-bootstrap']);
    });

    it(`is shown by the dry run as if nothing went: ${release}`, async () => {
      const { cluster } = await kvstoreScenario(release);
      const shown = new Map<string, KubeObject>();
      for (const { object } of parseManifest(unedited(), FILE).documents) {
        const kind = findKind(cluster.kinds(), object.apiVersion, object.kind) ?? assert.fail(object.kind);
        shown.set(object.kind, await cluster.dryRunApply(kind, object, 'kubectl'));
      }
      assert.deepEqual(Object.keys(shown.get('Secret')?.data ?? {}), ['etcd-key', 'etcd-cert', 'etcd-ca']);
      const agents = shown.get('DaemonSet');
      assert.deepEqual(
        variablesOf(agents).filter((name) => OWN_VARIABLES.includes(name)),
        OWN_VARIABLES,
      );
      assert.ok(stepsOf(agents).includes(OLD_STEP[release] ?? ''), stepsOf(agents).join(' '));
    });
  }

  it('keeps Secret, variables and old init containers of what `kubectl create` made, and takes the endpoints', async () => {
    const scenario = await createdScenario('v3.20.6', () => true);
    const before = storeObjects(scenario);
    await kubectlApplies(scenario, unedited());
    const { secret, config, agents } = storeObjects(scenario);
    assert.deepEqual(secret?.data, before.secret?.data);
    assert.deepEqual(settingsOf(config), UNEDITED);
    assert.deepEqual(
      variablesOf(agents)
        .filter((name) => OWN_VARIABLES.includes(name))
        .toSorted(),
      OWN_VARIABLES,
    );
    const old = podOf(agents).initContainers.find(({ name }) => name === 'flexvol-driver');
    assert.match(old?.image ?? '', /:v3\.20\.6$/);
    const volumes = podOf(agents).volumes.map(({ name }) => name);
    assert.deepEqual(
      ['flexvol-driver-host', 'sysfs'].filter((name) => !volumes.includes(name)),
      [],
    );
  });

  it('keeps a Secret that was made by itself, and takes the rest', async () => {
    const scenario = await createdScenario('v3.27.5', ({ kind }) => kind === 'Secret');
    const { secret } = storeObjects(scenario);
    await kubectlApplies(scenario, unedited());
    const after = storeObjects(scenario);
    assert.deepEqual(after.secret?.data, secret?.data);
    assert.deepEqual(settingsOf(after.config), UNEDITED);
    assert.deepEqual(
      OWN_VARIABLES.filter((name) => variablesOf(after.agents).includes(name)),
      [],
    );
  });

  it('loses nothing where the values are carried and the Secret is left out', async () => {
    for (const release of Object.keys(RECORDED)) {
      const scenario = await kvstoreScenario(release);
      const { secret } = storeObjects(scenario);
      await kubectlApplies(scenario, withoutSecret(carried()));
      assertNothingLost(scenario, secret);
    }
  });
});

function assertNothingLost(scenario: Scenario, secret: KubeObject | undefined): void {
  const after = storeObjects(scenario);
  assert.deepEqual(after.secret, secret, 'the Secret was not touched at all');
  assert.deepEqual(settingsOf(after.config), CARRIED);
  assert.deepEqual(
    OWN_VARIABLES.filter((name) => !variablesOf(after.agents).includes(name)),
    [],
  );
  assert.deepEqual(stepsOf(after.agents), ['install-cni', 'ebpf-bootstrap']);
}

describe('our apply to an installation with a key-value store', () => {
  const refused: readonly (readonly [title: string, text: () => string, ids: readonly string[]])[] = [
    ['the unedited release', unedited, ['NS-209', 'NS-210', 'NS-211']],
    ['the release with the endpoints alone', onlyEndpoint, ['NS-210', 'NS-211']],
    ['everything carried, and the empty Secret in it', carried, ['NS-211']],
    ['the unedited release without its Secret', () => withoutSecret(unedited()), ['NS-209', 'NS-210']],
    ['the endpoints alone, without the Secret', () => withoutSecret(onlyEndpoint()), ['NS-210']],
  ];
  for (const release of Object.keys(RECORDED))
    for (const [title, text, ids] of refused)
      it(`refuses ${title} with ${ids.join(', ')} and writes nothing: ${release}`, async () => {
        const scenario = await kvstoreScenario(release);
        const before = storeObjects(scenario);
        scenario.files.write(PATH, text());
        const bench = sandboxCommand(scenario, calico);
        assert.equal(await bench.run('apply', '--yes', '--upgrade-file', PATH), 3, bench.out() + bench.err());
        assert.deepEqual(
          [...bench.out().matchAll(/^× (NS-\d+)/gm)].map(([, id]) => id),
          ids,
        );
        assert.equal(scenario.cluster.faults.writes, 0);
        assert.deepEqual([scenario.state.record, storeObjects(scenario)], [undefined, before]);
      });

  for (const release of Object.keys(RECORDED)) {
    it(`loses nothing with the carried file, whose Secret is left out: ${release}`, async () => {
      const scenario = await kvstoreScenario(release);
      const { secret } = storeObjects(scenario);
      scenario.files.write(PATH, withoutSecret(carried()));
      const bench = sandboxCommand(scenario, calico);
      assert.equal(await bench.run('apply', '--yes', '--upgrade-file', PATH), 0, bench.out() + bench.err());
      assertNothingLost(scenario, secret);
    });

    it(`carries it all by itself: ${release}`, async () => {
      const scenario = await kvstoreScenario(release);
      const { secret, config } = storeObjects(scenario);
      const bench = sandboxCommand(scenario, calico);
      assert.equal(await bench.run('apply', '--yes'), 0, bench.out() + bench.err());
      assertNothingLost(scenario, secret);
      // Of the rest of the ConfigMap the release changed one value.
      const changed = changedFields(config?.data, storeObjects(scenario).config?.data).map(({ path }) => path);
      assert.deepEqual(changed, ['cni_network_config']);
      const files = scenario.files.below(scenario.workFolder).map((path) => scenario.files.text(path) ?? '');
      assert.ok(files.some((text) => text.includes(ENDPOINT)));
      assert.deepEqual(
        files.filter((text) => /^kind: Secret$/m.test(text) || text.includes(btoa(ACCESS.key))),
        [],
      );
    });
  }
});
