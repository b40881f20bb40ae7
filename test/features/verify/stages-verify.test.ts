import assert from 'node:assert/strict';
import { readClusterVersion, readServiceImages } from '../../../src/features/verify/stage.ts';
import { readLeftBehind, readStillOff, readTemporaryPolicies } from '../../../src/features/verify/survey.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, object, resource } from '../../fixtures/facts.ts';
import { type CliBench, cliBench, versionText } from '../../support/cli-bench.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { kvstoreSources } from '../../support/kvstore-sources.ts';
import { entryFor, reference } from '../../support/owner-entries.ts';
import { ofRelease, standInState } from '../../support/stand-in-cli-state.ts';
import { CALICO_LINE, CALICO_TARGET, pattern } from '../../support/target.ts';

const context = contextOf();

describe('verify looks for images of the service', () => {
  const pod = (text: string, images: readonly string[], rest: object = {}): KubeObject =>
    object('v1', `Pod/${text}`, { spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) }, ...rest });
  const found = async (...pods: readonly KubeObject[]) =>
    (await readServiceImages(clusterOf(pods).cluster, context, pods)).map(({ image, release, isCli }) => [image, release, isCli]);

  it('anywhere in the cluster, by registry', async () => {
    assert.deepEqual(await found(pod('a/x', ['quay.io/calico/apiserver:v3.27.5'])), [
      ['quay.io/calico/apiserver:v3.27.5', 'v3.27.5', false],
    ]);
  });

  it('in its own namespaces, from a mirror too', async () => {
    assert.deepEqual(await found(pod('kube-system/n', ['mirror.corp/x/node@sha256:abc'])), [
      ['mirror.corp/x/node@sha256:abc', undefined, false],
    ]);
  });

  it('by a digest, where an ImageSet of the target pins it', async () => {
    const kind: Kind = { group: calico.operatorGroup, version: 'v1', kind: 'ImageSet', plural: 'imagesets', namespaced: false };
    const images = [{ image: 'calico/node', digest: 'sha256:abc' }];
    const set = object('operator.tigera.io/v1', `ImageSet/calico-${context.goal.release}`, { spec: { images } });
    const pods = [pod('calico-system/n', ['mirror.corp/x/node@sha256:abc']), pod('calico-system/o', ['mirror.corp/x/node@sha256:old'])];
    const { cluster } = clusterOf([...pods, set], { kinds: [K.Pod, kind] });
    assert.deepEqual(
      (await readServiceImages(cluster, context, pods)).map(({ release }) => release),
      [context.goal.release, undefined],
    );
  });

  it('in init containers', async () => {
    const one = object('v1', 'Pod/kube-system/n', {
      spec: { initContainers: [{ name: 'i', image: 'calico/cni:v3.20.6' }], containers: [] },
    });
    assert.deepEqual(await found(one), [['calico/cni:v3.20.6', 'v3.20.6', false]]);
  });

  const strangers: Readonly<Record<string, KubeObject>> = {
    'the JavaScript image node': pod('shop/web', ['docker.io/library/node:20-alpine', 'node:18']),
    'the operator, which counts for itself': pod('tigera-operator/o', ['quay.io/tigera/operator:v1.32.0']),
    'sidecars, which may be older': pod('shop/meshed', ['quay.io/calico/dikastes:v3.27.5']),
    'pods that have ended': pod('kube-system/j', ['calico/node:v3.27.5'], { status: { phase: 'Succeeded' } }),
  };
  for (const [title, one] of Object.entries(strangers)) {
    it(`but not ${title}`, async () => assert.deepEqual(await found(one), []));
  }

  it('and tells the CLI from components', async () => {
    assert.deepEqual(await found(pod('kube-system/calicoctl', ['calico/ctl:v3.18.1'])), [['calico/ctl:v3.18.1', 'v3.18.1', true]]);
  });
});

describe('verify asks whether references are back', () => {
  const stageAt = (id: string, state: 'done' | 'failed', minute: number) => ({
    ...{ id, state, startedAt: '2026-01-01T00:00:00Z', endedAt: `2026-01-01T00:${minute}:00Z` },
  });
  const entries = [entryFor([reference('v3:a')]), entryFor([reference('v3:b')])];
  const stillOff = (stages: readonly ReturnType<typeof stageAt>[], journal: unknown = { entries }) =>
    readStillOff(
      {
        journal: { load: async () => journal ?? undefined },
        records: { load: async () => ({ stages }) },
      } as unknown as Sources,
      // Nothing is looked at before the upgrade.
      { ...context, chain: { pending: ['apply'], later: [], onlyPlanned: true } },
    );

  it('not without a journal', async () => assert.equal((await stillOff([stageAt('ownerrefs-strip', 'done', 10)], null)).objects, 0));

  it('and they are not before restore, after one that failed, or after another strip', async () => {
    const strip = stageAt('ownerrefs-strip', 'done', 10);
    assert.equal((await stillOff([strip])).objects, 2);
    assert.equal((await stillOff([strip, stageAt('ownerrefs-restore', 'failed', 20)])).objects, 2);
    assert.equal((await stillOff([stageAt('ownerrefs-strip', 'done', 30), stageAt('ownerrefs-restore', 'done', 20)])).objects, 2);
  });

  it('and leaves the rest to the end of the journal once restore has ended', async () => {
    assert.equal((await stillOff([stageAt('ownerrefs-strip', 'done', 10), stageAt('ownerrefs-restore', 'done', 20)])).objects, 0);
  });
});

describe('verify looks for what should be gone', () => {
  const policies: Kind = {
    group: 'crd.projectcalico.org',
    version: 'v1',
    kind: 'GlobalNetworkPolicy',
    plural: 'globalnetworkpolicies',
    namespaced: false,
  };
  for (const name of ['allow-all-upgrade', 'default.allow-all-upgrade']) {
    it(`and finds the temporary policy stored as ${name}`, async () => {
      const { cluster } = clusterOf([resource(`GlobalNetworkPolicy/${name}`), resource('GlobalNetworkPolicy/mine')], { kinds: [policies] });
      assert.deepEqual(
        (await readTemporaryPolicies({ cluster } as Sources, context, 'api')).map(({ metadata }) => metadata.name),
        [name],
      );
    });
  }

  it('and finds the temporary policy by the CLI where policies are in the key-value store, and does not take silence for none', async () => {
    const stored = { 'default.allow-all-upgrade': { spec: {} }, mine: { spec: {} } };
    const sources = kvstoreSources(standInState({ etcdv3: ofRelease(CALICO_TARGET, { GlobalNetworkPolicy: stored }) }));
    assert.deepEqual(
      (await readTemporaryPolicies(sources, context, 'kvstore')).map(({ metadata }) => metadata.name),
      ['allow-all-upgrade'],
    );
    const without = { ...sources, tools: { ...sources.tools, which: async () => [] } };
    await assert.rejects(readTemporaryPolicies(without, context, 'kvstore'), pattern`no calicoctl of ${CALICO_TARGET} was found`);
  });

  it('and counts the objects of a removed kind', async () => {
    const [removed] = context.profile.removedKinds;
    assert.ok(removed);
    const { group, plural, kind } = removed;
    const served = { group, plural, kind, version: 'v1alpha1', namespaced: false };
    const crd = object('apiextensions.k8s.io/v1', `CustomResourceDefinition/${plural}.${group}`);
    const one = object(`${group}/v1alpha1`, `${kind}/p`);
    const { cluster } = clusterOf([crd, one], { kinds: [served] });
    assert.deepEqual(await readLeftBehind(cluster, context), [{ name: `${plural}.${group}`, objects: 1 }]);
    assert.deepEqual(await readLeftBehind(clusterOf([crd]).cluster, context), [{ name: `${plural}.${group}`, objects: 0 }]);
    assert.deepEqual(await readLeftBehind(clusterOf([]).cluster, context), []);
  });

  it('and does not take a group whose discovery fails for one without objects', async () => {
    const [removed] = context.profile.removedKinds;
    assert.ok(removed);
    const { group, plural } = removed;
    const crd = object('apiextensions.k8s.io/v1', `CustomResourceDefinition/${plural}.${group}`);
    const { cluster } = clusterOf([crd], { failed: [group, context.profile.crdGroup] });
    await assert.rejects(readLeftBehind(cluster, context), /discovery of policy\.networking\.k8s\.io fails/);
    await assert.rejects(readTemporaryPolicies({ cluster } as Sources, context, 'api'), /discovery of crd\.projectcalico\.org fails/);
  });

  it('but not for kinds that the target still has', async () => {
    const [removed] = context.profile.removedKinds;
    assert.ok(removed);
    const crd = object('apiextensions.k8s.io/v1', `CustomResourceDefinition/${removed.plural}.${removed.group}`);
    assert.deepEqual(await readLeftBehind(clusterOf([crd]).cluster, contextOf({ release: 'v3.31.4' })), []);
  });
});

describe('verify asks for the cluster version', () => {
  const CONFIG = '/etc/calico/calicoctl.cfg';
  const FILE = '/opt/calicoctl';
  const record = resource('ClusterInformation/default', { calicoVersion: CALICO_TARGET });
  const ask = async (bench: CliBench, release = CALICO_TARGET, datastore: 'api' | 'kvstore' = 'api') => {
    const { sources, asked } = cliBench({ objects: [record], prints: { [FILE]: versionText(CALICO_TARGET, CALICO_TARGET) }, ...bench });
    return { facts: await readClusterVersion(sources, context, [{ file: FILE, release }], datastore), asked };
  };

  it('the new CLI and the record', async () => {
    const { facts, asked } = await ask({});
    assert.deepEqual(facts.cli, { by: `${FILE} version`, value: CALICO_TARGET });
    assert.deepEqual(facts.record, { value: { by: 'ClusterInformation/default', value: CALICO_TARGET } });
    assert.deepEqual(asked, [`${FILE} version`]);
  });

  it('the record alone where there is only an old CLI, which is not run', async () => {
    const { facts, asked } = await ask({}, 'v3.27.5');
    assert.deepEqual([facts.cli, asked], [{ notAsked: `none of ${CALICO_LINE} was found` }, []]);
  });

  it('and gives the reason of a CLI that hangs', async () => {
    const { facts } = await ask({ prints: { [FILE]: { exitCode: undefined, stdout: versionText(CALICO_TARGET), problem: 'timed-out' } } });
    assert.match('because' in facts.cli ? (facts.cli.because ?? '') : '', /no answer in time/);
  });

  it('whatever a configuration file of a person says: the call gets one of ours', async () => {
    const { asked } = await ask({ files: { [CONFIG]: 'spec:\n  datastoreType: etcdv3\n' } });
    assert.deepEqual(asked, [`${FILE} version`]);
  });

  it('of a key-value store only with a configuration file for it', async () => {
    const without = await ask({}, CALICO_TARGET, 'kvstore');
    assert.match('notAsked' in without.facts.cli ? without.facts.cli.notAsked : '', /endpoints of the key-value datastore/);
    const other = await ask({ files: { [CONFIG]: 'spec:\n  datastoreType: kubernetes\n' } }, CALICO_TARGET, 'kvstore');
    assert.match('notAsked' in other.facts.cli ? other.facts.cli.notAsked : '', /sends it to the datastore kubernetes/);
    assert.deepEqual(other.asked, []);
  });

  it('of a key-value store that is proved to be the installation’s, by the file that leads to it', async () => {
    const config = 'spec:\n  datastoreType: etcdv3\n  etcdEndpoints: https://a:2379\n';
    const settings = object('v1', 'ConfigMap/kube-system/calico-config', { data: { etcd_endpoints: 'https://a:2379' } });
    const information = { stdout: JSON.stringify({ spec: { clusterGUID: 'abc' } }) };
    const prints = { [FILE]: versionText(CALICO_TARGET, CALICO_TARGET), [`${FILE} get`]: information };
    const { facts, asked } = await ask({ files: { [CONFIG]: config }, objects: [record, settings], prints }, CALICO_TARGET, 'kvstore');
    assert.deepEqual(facts.cli, { by: `${FILE} version --config=${CONFIG}`, value: CALICO_TARGET });
    assert.equal(asked.at(-1), `${FILE} version --config=${CONFIG}`);
    const elsewhere = config.replace('//a:', '//b:');
    const refused = await ask({ files: { [CONFIG]: elsewhere }, objects: [record, settings], prints }, CALICO_TARGET, 'kvstore');
    assert.match('notAsked' in refused.facts.cli ? refused.facts.cli.notAsked : '', /whether that is the installation’s cannot be told/);
    assert.ok(!refused.asked.some((one) => one.includes(' version')));
  });

  it('and says what the record lacks', async () => {
    const { facts } = await ask({ objects: [resource('ClusterInformation/default')] });
    assert.deepEqual(facts.record, { value: { by: 'ClusterInformation/default', because: 'it has no calicoVersion' } });
    assert.deepEqual((await ask({ objects: [] })).facts.record, {
      value: { by: 'ClusterInformation/default', because: 'there is none in the API' },
    });
  });
});
