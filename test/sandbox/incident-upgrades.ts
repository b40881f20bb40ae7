import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { envOf } from '../../src/features/rollout/targets.ts';
import { type JsonMap, jsonAt, sameValue, textAt } from '../../src/kernel/json.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { allContainersOf, containersOf, hasContainer, shapeOf } from '../../src/kube/workload.ts';
import { grants, permissionsIn } from '../../src/manifest/permissions.ts';
import { isPodReady } from '../../src/sandbox/pods-of.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { BIN_DIR } from '../../src/sandbox/sandbox-tools.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import type { Change } from '../../src/sandbox/store.ts';
import { put } from '../support/incident-grounds.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET, NETSVC_TARGET } from '../support/target.ts';
import { operates } from './ailing-pods.ts';
import { type After, type IncidentRun, on } from './incident.ts';
import { of } from './release-worlds.ts';

const SYSTEM = 'kube-system';
const NEW = /:v3\.32\.\d/;

const named = ({ scenario: { cluster } }: After, kind: Kind, name: string, namespace: string | undefined = SYSTEM): KubeObject =>
  cluster.store.get(kind, name, kind.namespaced ? namespace : undefined) ?? assert.fail(`there is no ${kind.kind} ${name}`);

/** What an account may do by the roles that are bound to it. */
function assertMay({ scenario: { cluster } }: After, account: string, group: string, resource: string, ...verbs: readonly string[]): void {
  const list = (kind: Kind) => cluster.store.list(kind) as readonly JsonMap[];
  const isBound = ({ subjects }: JsonMap) => Array.isArray(subjects) && subjects.some(({ name }) => name === account);
  const bound = list(K.ClusterRoleBinding).filter(isBound);
  const roles = list(K.ClusterRole).filter((role) =>
    bound.some((one) => textAt(one, 'roleRef', 'name') === textAt(role, 'metadata', 'name')),
  );
  const granted = roles.flatMap(({ rules }) => permissionsIn(rules) ?? []);
  for (const verb of verbs)
    assert.ok(grants(granted, { group, resource, name: '', verb }), `${account} may not ${verb} ${resource}.${group}`);
}

/** The first change of each of these objects that is told of the target comes after the last one of the object before. */
function assertOrder({ changes }: After, ...steps: readonly ((change: Change) => boolean)[]): void {
  let from = 0;
  for (const [index, step] of steps.entries()) {
    const first = changes.findIndex(step);
    assert.ok(first >= from, `step ${index + 1} of the order is at ${first}, not after ${from}`);
    from = changes.findLastIndex(step);
  }
}
const isNew = ({ after }: Change, name: string): boolean =>
  after?.metadata.name.startsWith(name) === true && NEW.test(JSON.stringify(after.spec));
const becomesNew = (kind: Kind, name: string) => (change: Change) =>
  change.kind.plural === kind.plural && isNew(change, name) && !sameValue(change.before?.spec, change.after?.spec);
const isReadyPod = (name: string) => (change: Change) =>
  change.kind.plural === K.Pod.plural && isNew(change, name) && !!change.after && isPodReady(change.after);
const appears = (kind: Kind, name: string) => (change: Change) =>
  change.kind.plural === kind.plural && !change.before && change.after?.metadata.name === name;

const agents = (after: After): KubeObject => named(after, K.DaemonSet, 'calico-node');
/** All agents, and nothing else of them. */
function assertAgentsNew(after: After): void {
  for (const { image = '' } of allContainersOf(agents(after))) assert.match(image, NEW);
}
/** All definitions of the target, and then the operator that needs them. */
function assertDefinitionsFirst({ changes }: After): void {
  const definitions = changes.flatMap(({ kind, after }, index) =>
    kind.plural === K.CustomResourceDefinition.plural && after ? [index] : [],
  );
  const operator = changes.findIndex(({ after }) => /tigera\/operator:v1\.42/.test(JSON.stringify(after?.spec ?? {})));
  assert.ok(definitions.length > 0 && Math.max(...definitions) < operator, `${definitions} ${operator}`);
}

const CHOSEN = { FELIX_IPTABLESBACKEND: 'NFT', FELIX_FEATUREDETECTOVERRIDE: 'ChecksumOffloadBroken=true' };
/** As `kubectl set env` does it, once its rollout is over. */
async function choose(_: SandboxCluster, scenario: Scenario): Promise<void> {
  const { store } = scenario.cluster;
  const live = store.get(K.DaemonSet, 'calico-node', SYSTEM) ?? assert.fail();
  const path = '/spec/template/spec/containers/0/env/-';
  const patch = Object.entries(CHOSEN).map(([name, value]) => ({ op: 'add' as const, path, value: { name, value } }));
  scenario.cluster.registry.jsonPatch(K.DaemonSet, { ...live, ...live.metadata, kind: live.kind }, patch, { manager: 'kubectl-set' });
  await scenario.clock.sleep(60_000);
}

/** As if another command had made the agents, which `kubectl apply --server-side` takes no fields from. */
function createdByAnother({ store }: SandboxCluster): void {
  const live = store.get(K.DaemonSet, 'calico-node', SYSTEM) ?? assert.fail();
  const { [LAST_APPLIED]: _, ...annotations } = live.metadata.annotations ?? {};
  const managedFields = live.metadata.managedFields?.map((one) => ({ ...one, manager: 'kubectl-create' })) ?? [];
  store.update(K.DaemonSet, { ...live, metadata: { ...live.metadata, annotations, managedFields } });
}

/** An annotation may have so many bytes. */
const MOST = 262_144;
/** Bigger than an annotation of `kubectl apply` may be. */
function enlarged(_: SandboxCluster, { releases }: Scenario): void {
  const path = manifestFile(CALICO_TARGET, 'calico-typha.yaml', releases.source);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/(openAPIV3Schema:\n(\s+))type: object/, `$1description: ${'x'.repeat(MOST)}\n$2type: object`));
}

const OLD = { flags: '--accept NS-301 --enable-flow-logs' };
const OPERATED = { flags: '--accept NS-301' };

/** `run` is done, and what happened in the thread has not happened. */
export const upgradedRuns: Readonly<Record<string, IncidentRun>> = {
  'definitions that no annotation can hold are applied': on('old', [1], OLD)
    .after(enlarged)
    .ends(0, ({ scenario: { cluster } }) => {
      const [big] = cluster.store.list(K.CustomResourceDefinition).filter((one) => JSON.stringify(one.spec).length > MOST);
      assert.ok(big?.metadata.managedFields?.some(({ manager, operation }) => manager === 'kubectl' && operation === 'Apply'));
      const annotations = { [LAST_APPLIED]: JSON.stringify(big) };
      const clientSide = () => put(cluster, { ...(big as KubeObject), metadata: { name: 'another', annotations } });
      assert.throws(clientSide, /metadata\.annotations: Too long/);
    }),
  'definitions that were born under v1beta1 drop unknown fields, so that the server takes their defaults': on('old', of('calico#6258'), OLD)
    .after(({ store }) => {
      for (const one of store.list(K.CustomResourceDefinition))
        store.update(K.CustomResourceDefinition, { ...one, spec: { ...(one.spec as object), preserveUnknownFields: true } });
    })
    .ends(0, ({ scenario: { cluster } }) => {
      const own = cluster.store.list(K.CustomResourceDefinition).filter(({ metadata }) => metadata.name.endsWith('.crd.projectcalico.org'));
      for (const { spec, metadata } of own) assert.notEqual(jsonAt(spec, 'preserveUnknownFields'), true, metadata.name);
    }),
  'an account that the new agents need is there before them': on('old', [2], OLD).ends(0, (after) =>
    assertOrder(after, appears(K.ServiceAccount, 'calico-cni-plugin'), becomesNew(K.DaemonSet, 'calico-node')),
  ),
  'Typha and the garbage collector may read tiers': on('old', [10, 12], OLD).ends(0, (after) => {
    assertMay(after, 'calico-node', 'crd.projectcalico.org', 'tiers', 'get', 'list', 'watch', 'create');
    assertMay(after, 'system:kube-controller-manager', 'projectcalico.org', 'tiers', 'get');
    assertOrder(after, appears(K.ClusterRole, 'calico-tier-getter'), becomesNew(K.DaemonSet, 'calico-node'));
  }),
  'the controllers have the permissions of the release, and those that a person gave them': on('old', [13], OLD)
    .after(({ registry }) => {
      const rules = [{ apiGroups: ['example.org'], resources: ['things'], verbs: ['get'] }];
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'calico-kube-controllers' };
      registry.mergePatch(K.ClusterRole, role, { rules }, { manager: 'kubectl-edit' });
    })
    .ends(0, (after) => {
      const controllers = 'calico-kube-controllers';
      assertMay(after, controllers, 'crd.projectcalico.org', 'kubecontrollersconfigurations', 'get', 'list', 'create', 'update', 'watch');
      assertMay(after, controllers, 'example.org', 'things', 'get');
    }),
  'an init container of the old release is gone, though another command made it': on('old', [16], OLD)
    .after(createdByAnother)
    .ends(0, (after) => {
      assertAgentsNew(after);
      assert.ok(!hasContainer(agents(after), 'flexvol-driver'));
    }),
  'probes of the agents have the time that the release gives them': on('old', [18], OLD).ends(0, (after) => {
    const [agent] = containersOf(agents(after));
    for (const probe of ['readinessProbe', 'livenessProbe']) assert.ok(Number(jsonAt(agent, probe, 'timeoutSeconds') ?? 1) >= 10, probe);
  }),
  'agents are upgraded before Typha, and Typha before the controllers': on('old', [34], OLD).ends(0, (after) =>
    assertOrder(
      after,
      becomesNew(K.DaemonSet, 'calico-node'),
      isReadyPod('calico-node'),
      becomesNew(K.Deployment, 'calico-typha'),
      isReadyPod('calico-typha'),
      becomesNew(K.Deployment, 'calico-kube-controllers'),
    ),
  ),
  'the tables and the offload that a person chose stay chosen': on('old', [48, 56], OLD)
    .after(choose)
    .ends(0, (after) => {
      assertAgentsNew(after);
      for (const [name, value] of Object.entries(CHOSEN)) assert.equal(envOf(agents(after), 'calico-node', name), value);
    }),
  'another MTU is told before it is used': on('old', [60], OLD).ends(
    0,
    /NS-607 veth_mtu is 1440 now and 0 \(found out by each agent\) in the target/,
  ),
  'an installation by manifest gets no flow logs, whatever is asked for': on('old', [76], OLD).ends(0, (after) => {
    assertAgentsNew(after);
    const { store } = after.scenario.cluster;
    const workloads = [K.DaemonSet, K.Deployment].flatMap((kind) => store.list(kind).map(({ spec }) => spec));
    const definitions = store.list(K.CustomResourceDefinition).map(({ metadata }) => metadata.name);
    assert.doesNotMatch(JSON.stringify([workloads, definitions]), /goldmane|whisker|flow_?logs/i);
  }),
  'the operator starts once the definitions that it needs are there': on('operator', [5, 6, 8, 83, ...of('calico#7890')], OPERATED)
    .after(operates)
    .ends(0, assertDefinitionsFirst),
  'Typha stays as it is until the operator has upgraded every agent': on('operator', [33], OPERATED).ends(0, (after) =>
    assertOrder(after, becomesNew(K.DaemonSet, 'calico-node'), isReadyPod('calico-node'), becomesNew(K.Deployment, 'calico-typha')),
  ),
  'the old namespace of the API server is gone': on('operator', [79], OPERATED).ends(0, ({ scenario: { cluster }, text }) => {
    assert.equal(cluster.store.get(K.Namespace, 'calico-apiserver'), undefined);
    assert.match(text, /^\S+ wait: done in 2m/m);
  }),
  'definitions alone are not the end: the next step comes at once': on('operator', [106], { command: 'crds --yes' }).ends(
    0,
    /MANUAL STEP {2}run apply at once [\s\S]*Next: kubectl netsvc-upgrade apply/,
  ),
  'the API server of a manifest of its own may read tiers': on('apiserver', [11], { flags: '--accept NS-301' }).ends(0, (after) => {
    const [server] = containersOf(named(after, K.Deployment, 'calico-apiserver', 'calico-apiserver'));
    assert.match(server?.image ?? '', NEW);
    assertMay(after, 'calico-apiserver', 'crd.projectcalico.org', 'tiers', 'get', 'list', 'watch');
  }),
  'a definition that old agents need outlives them': on('calico v3.30.3', [19], { flags: '--accept NS-301' }).ends(0, (after) => {
    assertAgentsNew(after);
    named(after, K.CustomResourceDefinition, 'adminnetworkpolicies.policy.networking.k8s.io');
    assert.ok(after.changes.every((change) => change.after || change.kind.plural !== K.CustomResourceDefinition.plural));
  }),
  'controllers without root can read the credentials of the store': on('kvstore', [17], { flags: '--accept NS-301' }).ends(0, (after) => {
    const { volumes = [] } = shapeOf(named(after, K.Deployment, 'calico-kube-controllers')).spec?.template?.spec ?? {};
    const modes = volumes.flatMap((volume) => jsonAt(volume, 'secret', 'defaultMode') ?? []);
    assert.deepEqual(modes, [0o440]);
  }),
  'helm starts the operator once the definitions that the chart lacks are there': on('chart', [4, 8, 9], OPERATED)
    .after(operates)
    .ends(0, assertDefinitionsFirst),
  'the controllers run the release as well as the agents': on('chart', of('calico#7605'), OPERATED)
    .after(operates)
    .ends(0, (after) => {
      const { image } = containersOf(named(after, K.Deployment, 'calico-kube-controllers', 'calico-system'))[0] ?? {};
      assert.match(image ?? '', NEW);
    }),
  'the chart creates no component that nobody asked for': on('chart', [7], OPERATED).ends(0, (after) => {
    const { data } = named(after, K.Secret, 'sh.helm.release.v1.calico.v4', 'tigera-operator');
    const stored = gunzipSync(Buffer.from(atob((data as { readonly release: string }).release), 'base64')).toString();
    const { config } = JSON.parse(stored) as { readonly config: object };
    assert.deepEqual(config, { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } });
  }),
  'the CLI of the old release is replaced by that of the new one': on('own', [103], { command: 'run --yes' })
    .after((_, { files }) => files.write(`${BIN_DIR}/netsvcctl`, 'netsvcctl v3.26.4\n', true))
    .ends(0, ({ scenario: { files } }) => assert.equal(files.text(`${BIN_DIR}/netsvcctl`), `netsvcctl ${NETSVC_TARGET}\n`)),
};
