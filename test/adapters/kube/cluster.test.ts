import assert from 'node:assert/strict';
import { Fault } from '../../../src/kernel/fault.ts';
import { K } from '../../../src/kernel/kinds.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { clusterTo, type Loopback, sendJson, sendStatus, serve } from '../../support/loopback-server.ts';

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' }, data: { future: 'x' }, brandNew: 1 };

const NODES = 'node authorizer does not support user rule resolution';

describe('cluster over the API', () => {
  const open: Loopback[] = [];
  const on = async (...args: Parameters<typeof serve>) => {
    const server = await serve(...args);
    open.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });

  it('lists page by page and gives every item its type', async () => {
    const server = await on(({ url }, response) => {
      const token = new URL(url, 'http://x').searchParams.get('continue');
      const name = token ?? 'a';
      const next = { a: 'b', b: 'c' }[name];
      sendJson(response, { kind: 'NodeList', metadata: next ? { continue: next } : {}, items: [{ metadata: { name } }] });
    });
    const nodes = await clusterTo(server.url, {}, { pageSize: 1 }).cluster.list(K.Node, { labelSelector: 'a=b,c!=d' });
    assert.deepEqual(
      nodes,
      ['a', 'b', 'c'].map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })),
    );
    assert.equal(server.seen[0]?.url, '/api/v1/nodes?labelSelector=a%3Db%2Cc!%3Dd&limit=1');
  });

  it('begins a list again when its continue token has expired', async () => {
    let expired = 0;
    const server = await on(({ url }, response) => {
      if (!url.includes('continue')) return sendJson(response, { metadata: { continue: 't' }, items: [{ metadata: { name: 'a' } }] });
      expired += 1;
      if (expired === 1) return sendStatus(response, 410, 'Expired', 'too old');
      sendJson(response, { metadata: {}, items: [{ metadata: { name: 'b' } }] });
    });
    const names = (await clusterTo(server.url).cluster.list(K.Node)).map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['a', 'b']);
  });

  it('asks for metadata only, and keeps the real kind', async () => {
    const server = await on((_, response) =>
      sendJson(response, {
        items: [{ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'a', namespace: 'n' } }],
      }),
    );
    const [pod] = await clusterTo(server.url).cluster.list(K.Pod, { namespace: 'n', metadataOnly: true });
    assert.deepEqual([pod?.apiVersion, pod?.kind], ['v1', 'Pod']);
    assert.match(server.seen[0]?.headers.accept ?? '', /as=PartialObjectMetadataList;g=meta\.k8s\.io;v=v1/);
    assert.equal(server.seen[0]?.url, '/api/v1/namespaces/n/pods?limit=500');
  });

  it('has no answer to a missing object, and names go out exactly', async () => {
    const server = await on((_, response) => sendStatus(response, 404, 'NotFound', 'not found'));
    const { cluster } = clusterTo(server.url);
    assert.equal(await cluster.get(K.ClusterRole, 'System:Foo/Bar'), undefined);
    assert.equal(server.seen[0]?.url, '/apis/rbac.authorization.k8s.io/v1/clusterroles/System%3AFoo%2FBar');
  });

  const writes: readonly [
    string,
    (cluster: ReturnType<typeof clusterTo>['cluster']) => Promise<unknown>,
    string,
    string | undefined,
    unknown,
  ][] = [
    [
      'a dry-run apply, unknown fields and all',
      (cluster) => cluster.dryRunApply(K.ConfigMap, MAP, 'kubectl'),
      'PATCH /api/v1/namespaces/n/configmaps/a?dryRun=All&fieldManager=kubectl&force=true&fieldValidation=Strict',
      'application/apply-patch+yaml',
      MAP,
    ],
    [
      'a dry-run patch',
      (cluster) => cluster.dryRunPatch(K.Node, { apiVersion: 'v1', kind: 'Node', name: 'x' }, [{ op: 'remove', path: '/spec' }], 'kubectl'),
      'PATCH /api/v1/nodes/x?dryRun=All&fieldManager=kubectl&fieldValidation=Strict',
      'application/json-patch+json',
      [{ op: 'remove', path: '/spec' }],
    ],
    [
      'a dry-run create',
      (cluster) => cluster.dryRunCreate(K.ConfigMap, MAP),
      'POST /api/v1/namespaces/n/configmaps?dryRun=All&fieldValidation=Strict',
      'application/json',
      MAP,
    ],
    [
      'a patch of the very instance that was seen',
      (cluster) =>
        cluster.patch(K.Node, { apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'u' }, [{ op: 'remove', path: '/spec' }], 'kubectl-patch'),
      'PATCH /api/v1/nodes/x?fieldManager=kubectl-patch&fieldValidation=Strict',
      'application/json-patch+json',
      [
        { op: 'test', path: '/metadata/uid', value: 'u' },
        { op: 'remove', path: '/spec' },
      ],
    ],
    [
      'a replace',
      (cluster) => cluster.replace(K.ConfigMap, MAP),
      'PUT /api/v1/namespaces/n/configmaps/a?fieldManager=netsvc-upgrade&fieldValidation=Strict',
      'application/json',
      MAP,
    ],
    [
      'a removal of the very instance that was seen',
      (cluster) => cluster.remove(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'a', uid: 'u' }),
      'DELETE /api/v1/namespaces/n/configmaps/a',
      'application/json',
      { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions: { uid: 'u' } },
    ],
    [
      'a removal of the version that was seen',
      (cluster) => cluster.remove(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'a', uid: 'u' }, '7'),
      'DELETE /api/v1/namespaces/n/configmaps/a',
      'application/json',
      { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions: { uid: 'u', resourceVersion: '7' } },
    ],
  ];
  for (const [title, act, line, type, body] of writes) {
    it(`sends ${title}`, async () => {
      const server = await on((_, response) => sendJson(response, MAP));
      await act(clusterTo(server.url).cluster);
      const [seen] = server.seen;
      assert.deepEqual([`${seen?.method} ${seen?.url}`, seen?.headers['content-type']], [line, type]);
      assert.deepEqual(JSON.parse(seen?.body ?? ''), body);
    });
  }

  it('does not repeat a dry run that the schema refuses with 500', async () => {
    const server = await on((_, response) => sendStatus(response, 500, '', 'failed to create typed patch object'));
    await assert.rejects(clusterTo(server.url).cluster.dryRunApply(K.ConfigMap, MAP, 'kubectl'), { status: 500 });
    assert.equal(server.seen.length, 1);
  });

  it('answers access questions in their order', async () => {
    const server = await on(({ body }, response) => {
      const allowed = JSON.parse(body).spec.resourceAttributes.verb === 'get';
      sendJson(response, { status: { allowed } }, 201);
    });
    const asked = ['list', 'get', 'delete'].map((verb) => ({ verb, group: 'apps', resource: 'daemonsets', namespace: 'kube-system' }));
    assert.deepEqual(await clusterTo(server.url).cluster.reviewAccess(asked), [false, true, false]);
  });

  describe('answers many access questions', () => {
    const daemonSets = { group: 'apps', resource: 'daemonsets', namespace: 'kube-system' };
    const asked = [
      { verb: 'list', ...daemonSets },
      { verb: 'get', ...daemonSets, name: 'calico-node' },
      { verb: 'get', ...daemonSets },
      { verb: 'patch', ...daemonSets, subresource: 'scale' },
      { verb: 'patch', ...daemonSets },
      { verb: 'list', group: 'batch', resource: 'jobs' },
    ];
    const rules = [
      { verbs: ['list'], apiGroups: ['*'], resources: ['daemonsets'] },
      { verbs: ['get'], apiGroups: ['apps'], resources: ['*'], resourceNames: ['calico-node'] },
      { verbs: ['*'], apiGroups: ['', 'apps'], resources: ['*/scale'] },
    ];
    const cases = [
      ['by the rules of the account', { status: { resourceRules: rules, incomplete: false } }, 3],
      ['as well beside the authorizer of nodes', { status: { resourceRules: rules, incomplete: true, evaluationError: NODES } }, 3],
      [
        'one by one where another authorizer may refuse',
        { status: { resourceRules: rules, incomplete: true, evaluationError: `[${NODES}, w]` } },
        6,
      ],
      ['one by one where rules are missing', { status: { resourceRules: rules, incomplete: true } }, 6],
      ['one by one where the server tells no rules', undefined, 6],
    ] as const;
    for (const [title, told, single] of cases)
      it(title, async () => {
        const server = await on(({ url, body }, response) => {
          if (!url.endsWith('selfsubjectrulesreviews')) return sendJson(response, { status: { allowed: /jobs/.test(body) } }, 201);
          assert.equal(JSON.parse(body).spec.namespace.includes('.'), true, 'a name that no namespace has');
          return told ? sendJson(response, told, 201) : sendStatus(response, 403, 'Forbidden', 'no');
        });
        const answers = await clusterTo(server.url).cluster.reviewAccess(asked);
        assert.deepEqual(answers, single === 3 ? [true, true, false, true, false, true] : [false, false, false, false, false, true]);
        assert.equal(server.seen.length, 1 + single);
      });
  });

  it('writes nothing when kube-system is another one than confirmed', async () => {
    let uid = 'one';
    const server = await on(({ url }, response) =>
      sendJson(response, url.endsWith('kube-system') ? { metadata: { name: 'kube-system', uid } } : MAP),
    );
    const { cluster } = clusterTo(server.url);
    cluster.pin(await cluster.clusterUid());
    await cluster.create(K.ConfigMap, MAP);
    uid = 'two';
    const before = server.seen.length;
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'n' };
    const all = [
      () => cluster.create(K.ConfigMap, MAP),
      () => cluster.replace(K.ConfigMap, MAP),
      () => cluster.patch(K.ConfigMap, ref, [], 'kubectl'),
      () => cluster.remove(K.ConfigMap, ref),
    ];
    for (const write of all)
      await assert.rejects(write, (thrown) => thrown instanceof Fault && /kube-system has UID two, not one/.test(thrown.message));
    assert.deepEqual(new Set(server.seen.slice(before).map(({ method }) => method)), new Set(['GET']));
  });

  it('patches an instance by the server’s own test alone, and looks at the cluster when it is not there', async () => {
    let uid = 'one';
    const server = await on(({ method, url }, response) => {
      if (method === 'PATCH' && uid === 'two')
        sendStatus(response, 422, 'Invalid', 'the server rejected our request due to an error in our request');
      else sendJson(response, url.endsWith('kube-system') ? { metadata: { name: 'kube-system', uid } } : MAP);
    });
    const { cluster } = clusterTo(server.url);
    cluster.pin('one');
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'n', uid: 'of-a' };
    await cluster.patch(K.ConfigMap, ref, [], 'kubectl');
    assert.deepEqual(
      server.seen.map(({ method }) => method),
      ['PATCH'],
    );
    assert.match(server.seen[0]?.body ?? '', /"op":"test","path":"\/metadata\/uid","value":"of-a"/);
    uid = 'two';
    await assert.rejects(cluster.patch(K.ConfigMap, ref, [], 'kubectl'), /kube-system has UID two, not one/);
  });

  it('replaces an instance by its UID without a look before, and looks at the cluster where that is refused', async () => {
    let uid = 'one';
    const server = await on(({ method, url }, response) => {
      if (method === 'PUT' && uid === 'two') sendStatus(response, 409, 'Conflict', 'Precondition failed: UID in precondition');
      else sendJson(response, url.endsWith('kube-system') ? { metadata: { name: 'kube-system', uid } } : MAP);
    });
    const { cluster } = clusterTo(server.url);
    cluster.pin('one');
    const map = { ...MAP, metadata: { ...MAP.metadata, uid: 'of-a' } };
    await cluster.replace(K.ConfigMap, map);
    assert.deepEqual(
      server.seen.map(({ method }) => method),
      ['PUT'],
    );
    assert.match(server.seen[0]?.body ?? '', /"uid":"of-a"/);
    uid = 'two';
    await assert.rejects(cluster.replace(K.ConfigMap, map), /kube-system has UID two, not one/);
  });

  it('reads aggregated discovery, prefers the first version and names groups that are away', async () => {
    const resource = (name: string, kind: string, scope: string, verbs?: readonly string[]) => ({
      ...{ resource: name, responseKind: { kind }, scope },
      ...(verbs ? { verbs } : {}),
    });
    const server = await on(({ url }, response) => {
      const core = { metadata: {}, versions: [{ version: 'v1', resources: [resource('nodes', 'Node', 'Cluster')] }] };
      const items = [
        {
          metadata: { name: 'g.io' },
          versions: [
            {
              version: 'v2',
              resources: [resource('as', 'A', 'Namespaced', ['get', 'list']), resource('reviews', 'R', 'Cluster', ['create'])],
            },
            { version: 'v1', resources: [resource('as', 'A', 'Namespaced'), resource('bs', 'B', 'Cluster')] },
          ],
        },
        { metadata: { name: 'away.io' }, versions: [{ version: 'v3', freshness: 'Stale' }] },
      ];
      sendJson(response, { kind: 'APIGroupDiscoveryList', items: url === '/api' ? [core] : items });
    });
    assert.deepEqual(await clusterTo(server.url).cluster.discover(), {
      kinds: [
        { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
        { group: 'g.io', version: 'v2', kind: 'A', plural: 'as', namespaced: true },
        { group: 'g.io', version: 'v2', kind: 'R', plural: 'reviews', namespaced: false, unlisted: true },
        { group: 'g.io', version: 'v1', kind: 'B', plural: 'bs', namespaced: false },
      ],
      failed: ['away.io'],
    });
    assert.deepEqual(server.seen.map(({ url }) => url).toSorted(), ['/api', '/apis', '/readyz?exclude=shutdown']);
  });

  for (const [status, says] of [
    [500, /not ready \(\/readyz\)/],
    [403, undefined],
    [404, undefined],
    [502, undefined],
  ] as const)
    it(`${says ? 'does not take the kinds of a server for all of them' : 'is content with what it is told'} where /readyz answers ${status}`, async () => {
      const server = await on(({ url }, response) => {
        if (url.startsWith('/readyz')) return void response.writeHead(status).end('[-]poststarthook/crd-discovery-available failed');
        sendJson(response, { kind: 'APIGroupDiscoveryList', items: [] });
      });
      const discovered = clusterTo(server.url).cluster.discover();
      if (says) await assert.rejects(discovered, says);
      else assert.deepEqual(await discovered, { kinds: [], failed: [] });
    });

  it('asks servers without aggregated discovery group by group', async () => {
    const server = await on(({ url }, response) => {
      const groups = [
        { name: 'g.io', versions: [{ version: 'v1' }, { version: 'v2' }], preferredVersion: { version: 'v2' } },
        { name: 'away.io', versions: [{ version: 'v3' }] },
      ];
      if (url === '/api') return sendJson(response, { kind: 'APIVersions', versions: ['v1'] });
      if (url === '/apis') return sendJson(response, { kind: 'APIGroupList', groups });
      if (url.includes('away')) return sendStatus(response, 403, 'Forbidden', 'no');
      const resources = [
        { name: 'as', kind: 'A', namespaced: true },
        { name: 'as/status', kind: 'A', namespaced: true },
      ];
      sendJson(response, { resources });
    });
    const { kinds, failed } = await clusterTo(server.url).cluster.discover();
    assert.deepEqual(
      kinds.map(({ group, version, plural }) => `${group}/${version}/${plural}`),
      ['/v1/as', 'g.io/v2/as'],
    );
    assert.deepEqual(failed, ['away.io']);
  });

  it('finds a kind that was installed after it was first asked for, and remembers it then', async () => {
    let installed = false;
    const server = await on((_, response) => {
      if (!installed) return sendStatus(response, 404, 'NotFound', 'no');
      sendJson(response, { resources: [{ name: 'as', kind: 'A', namespaced: true }] });
    });
    const { cluster } = clusterTo(server.url);
    assert.equal(await cluster.resolve('g.io/v1', 'A'), undefined);
    installed = true;
    const found = { group: 'g.io', version: 'v1', kind: 'A', plural: 'as', namespaced: true };
    assert.deepEqual(await cluster.resolve('g.io/v1', 'A'), found);
    assert.deepEqual(await cluster.resolve('g.io/v1', 'A'), found);
    assert.equal(server.seen.length, 2);
  });

  it('says so when something that is no API server answers', async () => {
    const server = await on((_, response) => void response.writeHead(200).end('<html>hello</html>'));
    await assert.rejects(clusterTo(server.url).cluster.version(), (thrown) => thrown instanceof ApiFailure && thrown.reason === 'NotJson');
  });
});
