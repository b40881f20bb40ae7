import assert from 'node:assert/strict';
import { openStoredBases, type StoredBases } from '../../src/adapters/stored-bases.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { grants, isRole, permissionsIn } from '../../src/manifest/permissions.ts';
import { OLDER_RULES, roleOfBoth, withoutOlderRules } from '../../src/manifest/roles-of-both.ts';
import { calico } from '../../src/profiles/calico.ts';
import { objectOf } from '../support/inventory.ts';

const { olderRules: OLDER = [], defaultRelease: TARGET } = calico;
/** v3.16 read every Secret of the cluster; its workloads start without. */
const NOT_NEEDED = ['secrets'];

const role = (...rules: readonly unknown[]): KubeObject =>
  objectOf('rbac.authorization.k8s.io/v1', 'ClusterRole', 'calico-node', { rules });
const rule = (resource: string, ...verbs: readonly string[]) => ({ apiGroups: ['policy.networking.k8s.io'], resources: [resource], verbs });
const PODS = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };

describe('a role while both releases run', () => {
  it('grants what the live role grants to older workloads besides, and all of the target', () => {
    const target = role(PODS);
    const live = role(rule('adminnetworkpolicies', 'list', 'watch'), rule('mine', 'get'));
    const found = roleOfBoth(target, live, OLDER);
    assert.deepEqual(found?.both.object.rules, [PODS, rule('adminnetworkpolicies', 'list', 'watch')]);
    assert.deepEqual(found?.kept, ['adminnetworkpolicies.policy.networking.k8s.io']);
  });

  for (const [what, live] of [
    ['the live role lacks it as well', role(PODS)],
    ['the rules of the live role have another shape', role('list')],
  ] as const)
    it(`is the target’s own where ${what}`, () => assert.equal(roleOfBoth(role(PODS), live, OLDER), undefined));

  it('is the target’s own where that grants it', () => {
    const asked = rule('adminnetworkpolicies', 'list');
    assert.equal(roleOfBoth(role(asked), role(asked), OLDER), undefined);
  });

  it('is without them the role that it was made of, and keeps an equal rule of a user', () => {
    const older = rule('adminnetworkpolicies', 'list');
    const both = roleOfBoth(role(PODS), role(older), OLDER)?.both.object ?? assert.fail();
    assert.deepEqual(withoutOlderRules(both).rules, [PODS]);
    assert.deepEqual(withoutOlderRules(both).metadata.annotations, {});
    assert.deepEqual(withoutOlderRules({ ...both, rules: [older, ...(both.rules as object[])] }).rules, [older, PODS]);
  });

  it('is left as it is where its note says nothing', () => {
    const noted = (text: string) => ({ ...role(PODS), metadata: { name: 'calico-node', annotations: { [OLDER_RULES]: text } } });
    for (const text of ['', '{}', '[1]', 'null']) assert.deepEqual(withoutOlderRules(noted(text)).rules, [PODS], text);
    const plain = role(PODS);
    assert.equal(withoutOlderRules(plain), plain);
  });

  it('is for roles alone', () => {
    const live = role(rule('adminnetworkpolicies', 'list'));
    assert.equal(roleOfBoth({ ...role(), kind: 'ConfigMap' }, live, OLDER), undefined);
  });

  describe('of the published releases', () => {
    let stored: StoredBases;
    before(async () => {
      stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
    });

    for (const { file } of calico.variants)
      it(`keeps whatever the target’s ${file} no longer grants`, () => {
        const target = (stored.documentsOf(TARGET, file) ?? []).filter(isRole);
        for (const release of stored.releasesOf(file)) {
          for (const live of (stored.documentsOf(release, file) ?? []).filter(isRole)) {
            const same = target.find(({ metadata }) => metadata.name === live.metadata.name);
            if (!same) continue;
            const kept = permissionsIn(roleOfBoth(same, live, OLDER)?.both.object.rules ?? same.rules) ?? [];
            const lost = (permissionsIn(live.rules) ?? []).filter((one) => !NOT_NEEDED.includes(one.resource) && !grants(kept, one));
            assert.deepEqual(lost, [], `${release} ${live.metadata.name}`);
          }
        }
      });
  });
});
