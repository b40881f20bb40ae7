import assert from 'node:assert/strict';
import { scanOwned } from '../../../src/features/ownerrefs/survey.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';

const owned = (text: string, apiVersion: string) =>
  object('v1', text, { metadata: { ownerReferences: [{ apiVersion, kind: 'NetworkSet', name: 'o', uid: 'u' }] } });
const review: Kind = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview', plural: 'tokenreviews', namespaced: false };
const kinds = [K.ConfigMap, K.Secret, K.Event, review];

describe('the search for owner references', () => {
  it('keeps what is owned by the groups of the service', async () => {
    const { cluster } = clusterOf(
      [
        owned('ConfigMap/a/x', 'projectcalico.org/v3'),
        owned('ConfigMap/a/y', 'crd.projectcalico.org/v1'),
        owned('ConfigMap/a/z', 'apps/v1'),
        owned('Secret/a/s', 'projectcalico.org/v3'),
      ],
      { kinds, refuses: { 'tokenreviews.authentication.k8s.io': 405 } },
    );
    const scan = await scanOwned(cluster, calico);
    assert.deepEqual(
      scan.objects.map(({ object: dependent }) => `${dependent.kind}/${dependent.name}`),
      ['ConfigMap/x', 'ConfigMap/y', 'Secret/s'],
    );
    assert.deepEqual(scan.unread, []);
  });

  it('reads metadata alone (of what is defined, too), no events, and nothing of which the server says that it has no list', async () => {
    const { cluster, requests } = clusterOf([], { kinds: [...kinds.slice(0, 3), { ...review, unlisted: true }] });
    await scanOwned(cluster, calico);
    const definitions = 'list customresourcedefinitions.apiextensions.k8s.io (metadata)';
    assert.deepEqual([...requests].sort(), ['list configmaps (metadata)', definitions, 'list secrets (metadata)']);
  });

  it('goes through kinds of other groups that are called like those', async () => {
    const called = (group: string, plural: string): Kind => ({ group, version: 'v1', kind: plural, plural, namespaced: true });
    const skipped = [K.Event, called('events.k8s.io', 'events'), called('', 'componentstatuses')];
    const others = [called('acme.io', 'events'), called('acme.io', 'componentstatuses')];
    const objects = others.map(({ plural }) => ({ ...owned(`${plural}/a/x`, 'projectcalico.org/v3'), apiVersion: 'acme.io/v1' }));
    const { cluster } = clusterOf(objects, { kinds: [...skipped, ...others] });
    const { objects: found, kinds: count } = await scanOwned(cluster, calico);
    assert.deepEqual([found.map(({ object: { kind } }) => kind), count], [['events', 'componentstatuses'], 2]);
  });

  describe('of a kind that the server named and does not find', () => {
    const definitions = K.CustomResourceDefinition;
    const gadgets = (version: string): Kind => ({ group: 'a.io', version, kind: 'Gadget', plural: 'gadgets', namespaced: true });
    const held = { ...owned('Gadget/a/x', 'projectcalico.org/v3'), apiVersion: 'a.io/v2' };
    const crd = object('apiextensions.k8s.io/v1', 'CustomResourceDefinition/gadgets.a.io', {
      spec: { group: 'a.io', scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget' }, versions: [{ name: 'v1', served: true }] },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
    type Discovered = Awaited<ReturnType<ClusterReader['discover']>>;
    /** The server names the kind at v1, finds none there, and answers so when it is asked for its kinds once more. */
    const search = async (now: Partial<Discovered>, objects: readonly KubeObject[] = [held]) => {
      const before = [K.ConfigMap, definitions, gadgets('v1')];
      const { cluster } = clusterOf(objects, { kinds: before });
      let asked = 0;
      const discover = async (how?: 'anew'): Promise<Discovered> => {
        asked += 1;
        return { kinds: how ? [K.ConfigMap, definitions] : before, failed: [], ...(how ? now : {}) };
      };
      const list: ClusterReader['list'] = async (kind, options) => {
        if (kind.group === 'a.io' && kind.version === 'v1') throw new ApiFailure(404, 'NotFound', 'the server could not find it');
        return cluster.list(kind, options);
      };
      const { objects: found, unread } = await scanOwned({ ...cluster, discover, list }, calico);
      return { found: found.length, unread: unread.map(({ kind }) => kind), asked };
    };

    it('is incomplete while the server still names it', async () => {
      assert.deepEqual(await search({ kinds: [K.ConfigMap, definitions, gadgets('v1')] }), {
        found: 0,
        unread: ['gadgets.a.io'],
        asked: 2,
      });
    });

    it('goes through it at another version, if that is the one which the server names now', async () => {
      assert.deepEqual(await search({ kinds: [K.ConfigMap, definitions, gadgets('v2')] }), { found: 1, unread: [], asked: 2 });
    });

    it('is complete if the server no longer names it: it is gone', async () => {
      assert.deepEqual(await search({}), { found: 0, unread: [], asked: 2 });
    });

    it('is incomplete if the server cannot say any more, or still has its definition', async () => {
      assert.deepEqual((await search({ failed: ['a.io'] })).unread, ['gadgets.a.io']);
      assert.deepEqual((await search({}, [crd])).unread, ['gadgets.a.io']);
    });
  });

  it('names the kinds and groups that it could not read', async () => {
    const { cluster } = clusterOf([], { kinds, failed: ['metrics.k8s.io'], refuses: { secrets: 403 } });
    const { unread } = await scanOwned(cluster, calico);
    assert.deepEqual(
      unread.map(({ kind }) => kind),
      ['metrics.k8s.io', 'secrets'],
    );
    assert.match(unread[1]?.because ?? '', /403/);
  });

  describe('of a server that does not name all kinds that are defined', () => {
    const definitions = K.CustomResourceDefinition;
    const kindOf = (plural: string): Kind => ({ group: 'a.io', version: 'v2', kind: plural, plural, namespaced: true });
    const crd = (plural: string, established: string, more: object = {}) =>
      object('apiextensions.k8s.io/v1', `CustomResourceDefinition/${plural}.a.io`, {
        spec: {
          ...{ group: 'a.io', scope: 'Namespaced', names: { plural, kind: plural } },
          versions: [{ name: 'v1' }, { name: 'v2', served: true }],
        },
        status: { conditions: [{ type: 'Established', status: established }] },
        ...more,
      });
    const dependent = (plural: string) => ({ ...owned(`${plural}/a/x`, 'projectcalico.org/v3'), apiVersion: 'a.io/v2' });
    const defined = [crd('knowns', 'True'), crd('lates', 'True'), crd('invalids', 'False')];
    const search = async (objects = defined, parts: object = {}) => {
      const dependents = ['knowns', 'lates', 'invalids'].map(dependent);
      const { cluster } = clusterOf([...objects, ...dependents], { kinds: [K.ConfigMap, kindOf('knowns'), definitions], ...parts });
      const { objects: found, unread, kinds: count } = await scanOwned(cluster, calico);
      return {
        found: found.map(({ object: { apiVersion, kind } }) => `${apiVersion} ${kind}`),
        unread: unread.map(({ kind }) => kind),
        count,
      };
    };

    it('goes through those as well: another server may have answered', async () => {
      assert.deepEqual(await search(), { found: ['a.io/v2 knowns', 'a.io/v2 lates'], unread: [], count: 4 });
    });

    it('is incomplete where such a kind is not found, or its definition cannot be read', async () => {
      const { unread } = await search(defined, { refuses: { 'lates.a.io': 404 } });
      assert.deepEqual(unread, ['lates.a.io']);
      const { cluster } = clusterOf(defined, { kinds: [kindOf('knowns'), definitions] });
      const get = async () => Promise.reject(new ApiFailure(403, 'Forbidden', 'no'));
      assert.deepEqual(
        (await scanOwned({ ...cluster, get }, calico)).unread.map(({ kind }) => kind),
        ['lates.a.io', 'invalids.a.io'],
      );
    });

    it('knows that another server hides what a CRD that was left behind defines', async () => {
      const service = object('apiregistration.k8s.io/v1', 'APIService/v2.a.io', { spec: { service: { name: 's', namespace: 'n' } } });
      const local = object('apiregistration.k8s.io/v1', 'APIService/v2.a.io', { spec: {} });
      assert.deepEqual((await search([...defined, service], { refuses: { 'lates.a.io': 404 } })).unread, []);
      assert.deepEqual((await search([...defined, local], { refuses: { 'lates.a.io': 404 } })).unread, ['lates.a.io']);
    });

    it('leaves out those that are not established yet: of one created just now the server says that its conditions are null', async () => {
      const created = crd('lates', 'True', { status: { conditions: null } });
      assert.deepEqual(await search([crd('knowns', 'True'), created]), { found: ['a.io/v2 knowns'], unread: [], count: 3 });
    });

    it('leaves out those whose definition is going, or serves no version', async () => {
      const going = { metadata: { name: 'lates.a.io', deletionTimestamp: '2026-01-01T00:00:00Z' } };
      const silent = { spec: { group: 'a.io', names: { plural: 'lates', kind: 'lates' }, versions: [{ name: 'v2', served: false }] } };
      for (const more of [going, silent]) assert.deepEqual((await search([crd('lates', 'True', more)])).found, ['a.io/v2 knowns']);
    });

    it('goes through what is stored, not through what the service’s API shows of it', async () => {
      const group = 'crd.projectcalico.org';
      const stored = crd('networksets', 'True', { metadata: { name: `networksets.${group}` } });
      const served: Kind = { group: 'projectcalico.org', version: 'v3', kind: 'NetworkSet', plural: 'networksets', namespaced: true };
      const names = { plural: 'networksets', kind: 'NetworkSet' };
      const spec = { group, names, scope: 'Namespaced', versions: [{ name: 'v1', served: true }] };
      const objects = [
        { ...stored, spec },
        { ...owned('NetworkSet/a/x', 'projectcalico.org/v3'), apiVersion: 'projectcalico.org/v3' },
        { ...owned('NetworkSet/a/x', 'projectcalico.org/v3'), apiVersion: `${group}/v1` },
      ];
      assert.deepEqual((await search(objects, { kinds: [served, definitions] })).found, [`${group}/v1 NetworkSet`]);
    });

    it('names the definitions alone where they may not be listed', async () => {
      const { unread } = await search(defined, { refuses: { 'customresourcedefinitions.apiextensions.k8s.io': 403 } });
      assert.deepEqual(unread, ['customresourcedefinitions.apiextensions.k8s.io']);
    });
  });
});
