import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { K } from '../../src/core/kinds.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { clusterRoleRules, documentKinds, permissionsOf } from '../../src/stages/permissions.ts';
import { hasReleases, manifestFile } from '../support/shared.ts';

const page = join(import.meta.dirname, '..', '..', 'docs', 'permissions.md');
const everything = { stateNamespace: 'kube-system', documents: documentKinds, path: 'chart', searchesOwners: true } as const;
const textOf = (scope: Parameters<typeof permissionsOf>[1]) =>
  permissionsOf(netsvc, scope).map(({ request }) =>
    `${request.verb} ${request.resource}.${request.group} ${request.namespace ?? ''}`.trim(),
  );

describe('permissions', () => {
  it('are the ClusterRole of docs/permissions.md', () => {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
    assert.deepEqual((parse(yaml) as { rules: unknown }).rules, clusterRoleRules(permissionsOf(netsvc, everything)));
  });

  it('ask for each thing once', () => {
    const all = textOf(everything);
    assert.equal(new Set(all).size, all.length);
  });

  it('follow the documents of the target and their namespaces', () => {
    const scope = { stateNamespace: 's', documents: [{ kind: K.Service, namespace: 'kube-system' }], searchesOwners: false };
    const asked = textOf(scope);
    for (const verb of ['get', 'create', 'patch']) assert.ok(asked.includes(`${verb} services. kube-system`), verb);
    assert.ok(asked.includes('update leases.coordination.k8s.io s'));
    assert.deepEqual(
      asked.filter((one) => /secrets|escalate|\*\.\*/.test(one)),
      [],
    );
  });

  it('ask for what helm writes in the namespace of the release, and nowhere else', () => {
    const asked = textOf({ ...everything, chartNamespace: 'tigera-operator' });
    const secrets = asked.filter((one) => /^(create|update|delete) secrets/.test(one) && one.endsWith('tigera-operator'));
    assert.equal(secrets.length, 3);
  });

  it('ask for roles only if the target holds some, and do without escalate', () => {
    const scope = { stateNamespace: 's', documents: [{ kind: K.ClusterRole }], searchesOwners: false };
    const escalate = permissionsOf(netsvc, scope).filter(({ request }) => request.verb === 'escalate');
    assert.deepEqual(
      escalate.map(({ request, required }) => [request.resource, required]),
      [['clusterroles', false]],
    );
  });

  it('cover every built-in kind that the manifests of the release beside the repository hold', function () {
    if (!hasReleases()) this.skip();
    const known = new Set(documentKinds.map(({ kind }) => kind.kind));
    const files = ['calico.yaml', 'calico-typha.yaml', 'calico-etcd.yaml', 'canal.yaml', 'tigera-operator.yaml', 'apiserver.yaml'];
    const kinds = files.flatMap((file) =>
      [...readFileSync(manifestFile('v3.32.1', file), 'utf8').matchAll(/^kind: (\w+)/gm)].map(([, kind]) => kind),
    );
    assert.ok(kinds.length > 100);
    assert.deepEqual(
      [...new Set(kinds)].filter((kind) => !known.has(kind ?? '')),
      [],
    );
  });
});
