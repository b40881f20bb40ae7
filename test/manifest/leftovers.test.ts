import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { dropAt } from '../../src/kube/fields-v1.ts';
import { findLeftovers, type Leftover } from '../../src/manifest/leftovers.ts';

const profile = { leftovers: { containers: ['mount-bpffs'], env: ['OLD_FLAG'], volumes: ['sysfs'] } } as unknown as Profile;
const isOldImage = (image: string) => image.endsWith(':old');

function daemonSet(spec: object): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agent' }, spec: { template: { spec } } };
}

const target = daemonSet({
  initContainers: [{ name: 'install-cni', image: 'cni:new' }],
  containers: [{ name: 'agent', image: 'node:new', env: [{ name: 'IP' }], volumeMounts: [{ name: 'run', mountPath: '/run' }] }],
  volumes: [{ name: 'run' }],
});

const without = (live: KubeObject, found: readonly Leftover[]) => found.reduce((object: unknown, { path }) => dropAt(object, path), live);

describe('findLeftovers', () => {
  it('removes exactly what old releases had, whatever its place, and nothing that someone added', () => {
    const live = daemonSet({
      initContainers: [
        { name: 'mount-bpffs', image: 'node:new' },
        { name: 'install-cni', image: 'cni:new', env: [{ name: 'OLD_FLAG' }] },
        { name: 'someone-elses', image: 'busybox:1' },
      ],
      containers: [
        { name: 'forgotten', image: 'node:old' },
        {
          name: 'agent',
          image: 'node:new',
          env: [{ name: 'OLD_FLAG' }, { name: 'IP' }, { name: 'MINE' }],
          volumeMounts: [
            { name: 'sysfs', mountPath: '/sys/fs' },
            { name: 'run', mountPath: '/run' },
          ],
        },
      ],
      volumes: [{ name: 'sysfs' }, { name: 'run' }, { name: 'mine' }],
    });
    const found = findLeftovers(live, target, profile, isOldImage);
    const expected = daemonSet({
      initContainers: [
        { name: 'install-cni', image: 'cni:new', env: [] },
        { name: 'someone-elses', image: 'busybox:1' },
      ],
      containers: [
        { name: 'agent', image: 'node:new', env: [{ name: 'IP' }, { name: 'MINE' }], volumeMounts: [{ name: 'run', mountPath: '/run' }] },
      ],
      volumes: [{ name: 'run' }, { name: 'mine' }],
    });
    assert.deepEqual(without(live, found), expected);
    assert.deepEqual(found.map(({ name }) => name).sort(), [
      'containers[agent].env[OLD_FLAG]',
      'containers[agent].volumeMounts[/sys/fs]',
      'containers[forgotten]',
      'initContainers[install-cni].env[OLD_FLAG]',
      'initContainers[mount-bpffs]',
      'volumes[sysfs]',
    ]);
  });

  describe('a variable with the name of an old one', () => {
    const container = { name: 'agent', image: 'node:new', env: [{ name: 'IP' }, { name: 'OLD_FLAG', value: 'debug' }] };
    const set = { 'k:{"name":"OLD_FLAG"}': { '.': {}, 'f:name': {}, 'f:value': {} } };
    const fieldsV1 = {
      'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"agent"}': { 'f:env': set } } } } },
    };
    const owned = (...owners: readonly (readonly [string, string])[]): KubeObject => {
      const live = daemonSet({ containers: [container] });
      const managedFields = owners.map(([manager, operation]) => ({ manager, operation, fieldsV1 }));
      return { ...live, metadata: { ...live.metadata, managedFields } };
    };
    const table: readonly (readonly [string, KubeObject, boolean])[] = [
      ['stays if kubectl set env made it', owned(['kubectl-set', 'Update']), true],
      ['stays if kubectl edit made it', owned(['kubectl-edit', 'Update']), true],
      ['goes if an old install made it', owned(['kubectl-create', 'Update']), false],
      ['goes if an old install owns it as well', owned(['kubectl-set', 'Update'], ['kubectl-replace', 'Update']), false],
      ['goes if nobody is known to own it', owned(), false],
    ];
    for (const [title, live, stays] of table)
      it(title, () => assert.equal(findLeftovers(live, target, profile, isOldImage).length === 0, stays));
  });

  it('finds nothing where the template is as the target says', () =>
    assert.deepEqual(findLeftovers(target, target, profile, isOldImage), []));

  it('keeps an old volume that a container of somebody else mounts', () => {
    const sidecar = { name: 'someone-elses', image: 'busybox:1', volumeMounts: [{ name: 'sysfs', mountPath: '/sys' }] };
    const live = daemonSet({
      initContainers: [],
      containers: [{ name: 'agent', image: 'node:new' }, sidecar],
      volumes: [{ name: 'sysfs' }],
    });
    assert.deepEqual(findLeftovers(live, target, profile, isOldImage), []);
  });

  it('keeps an old volume that a container of the target mounts: without it the server refuses the patch', () => {
    const beside = { name: 'beside', image: 'mine:1', volumeMounts: [{ name: 'sysfs', mountPath: '/sys' }] };
    const agent = { name: 'agent', image: 'node:new', env: [{ name: 'OLD_FLAG' }] };
    const live = daemonSet({ containers: [agent, beside], volumes: [{ name: 'sysfs' }] });
    const carried = daemonSet({ containers: [{ ...agent, env: [] }, beside], volumes: [] });
    const names = findLeftovers(live, carried, profile, isOldImage).map(({ name }) => name);
    assert.deepEqual(names, ['containers[agent].env[OLD_FLAG]']);
  });
});
