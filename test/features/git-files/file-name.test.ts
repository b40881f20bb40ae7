import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileName } from '../../../src/features/git-files/content.ts';

const nameOf = (kind: string, name: string, namespace?: string, apiVersion = 'v1') =>
  fileName({ apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });

describe('the file of an object for Git', () => {
  it('is named by its namespace, kind and name', async () => {
    assert.equal(await nameOf('DaemonSet', 'calico-node', 'kube-system', 'apps/v1'), 'kube-system/daemonset-calico-node.yaml');
    assert.equal(
      await nameOf('ClusterRole', 'calico-node', undefined, 'rbac.authorization.k8s.io/v1'),
      '_cluster/clusterrole-calico-node.yaml',
    );
  });

  it('has the group of a kind that Kubernetes does not define', async () => {
    const names = await Promise.all(
      ['networking.k8s.io/v1', 'projectcalico.org/v3'].map((apiVersion) => nameOf('NetworkPolicy', 'web', 'shop', apiVersion)),
    );
    assert.deepEqual(names, ['shop/networkpolicy-web.yaml', 'shop/networkpolicy.projectcalico.org-web.yaml']);
  });

  const ATTACKS = [
    '../../etc/passwd',
    '..',
    '.',
    '/etc/cron.d/x',
    '..\\..\\x',
    'a\0b',
    '_cluster',
    '-rf',
    'system:node',
    'Web',
    'a\nb',
    'é',
    '',
  ];
  for (const attack of ATTACKS)
    for (const place of ['name', 'namespace', 'kind', 'group'])
      it(`stays a plain name in the folder: ${place} ${JSON.stringify(attack)}`, async () => {
        const of = { name: 'n', namespace: 'ns', kind: 'Kind', group: 'x.example', [place]: attack };
        const path = await nameOf(of.kind, of.name, of.namespace, `${of.group}/v1`);
        assert.match(path, /^(?:_cluster|[a-z0-9][a-z0-9._-]*)\/[a-z0-9][a-z0-9._-]*\.yaml$/);
        assert.ok(join('/folder', path).startsWith('/folder/'), path);
        assert.equal(path.split('/').length, 2);
      });

  it('is another one for another name, and no longer than file systems allow', async () => {
    const names = ['web', 'Web', 'WEB', 'web_', 'web:', 'w'.repeat(253), `${'w'.repeat(252)}x`];
    const paths = await Promise.all(names.map((name) => nameOf('ClusterRole', name)));
    assert.equal(new Set(paths).size, names.length, paths.join('\n'));
    for (const path of paths) assert.ok(Math.max(...path.split('/').map((part) => part.length)) <= 255, path);
    assert.notEqual(await nameOf('ConfigMap', 'a', '_cluster'), await nameOf('ConfigMap', 'a'));
  });
});
