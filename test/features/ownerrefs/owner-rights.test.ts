import assert from 'node:assert/strict';
import { mayRestore, readRights } from '../../../src/features/ownerrefs/owner-rights.ts';
import { readLive } from '../../../src/features/ownerrefs/restore-live.ts';
import { judgeAll } from '../../../src/kernel/judge.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { type AccessRequest, ApiFailure } from '../../../src/kernel/ports.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { DEPENDENT, entryFor, reference } from '../../support/owner-entries.ts';

const set = reference('v3:set');
const SETS: Kind = { group: set.apiVersion.split('/')[0] ?? '', version: 'v3', kind: set.kind, plural: 'sets', namespaced: true };

/** Objects in these namespaces whose reference has to be removed. */
function removable(namespaces: readonly string[], flags = {}) {
  const owned = { ...set, ...flags };
  const fate = { place: 0, reference: owned, owner: { name: set.name }, servedUid: set.uid, removal: 'uid-change' } as const;
  return namespaces.map((namespace) => ({ owned: { object: { ...DEPENDENT, namespace }, references: [owned] }, fates: [fate] }));
}

type Denies = (request: AccessRequest) => boolean;

async function told(objects: ReturnType<typeof removable>, denies: Denies, plugin: ApiFailure | undefined = undefined) {
  const { cluster, requests } = clusterOf([], { kinds: [K.ConfigMap, SETS], denies });
  const dryRuns: KubeObject[] = [];
  const dryRunCreate = async (_: Kind, object: KubeObject) => {
    dryRuns.push(object);
    if (plugin) throw plugin;
    return object;
  };
  const rights = await readRights({ ...cluster, dryRunCreate }, objects);
  const [finding] = judgeAll([mayRestore], { references: undefined, recorded: [], rights }, contextOf());
  const names = finding?.evidence.map(({ text }) => text);
  return { outcome: finding?.outcome, names, next: finding?.next, hint: finding?.hint ?? '', dryRuns, requests };
}

const lacks =
  (...verbs: readonly string[]): Denies =>
  ({ verb }) =>
    verbs.includes(verb);
const ENFORCED = new ApiFailure(
  403,
  'Forbidden',
  'secrets "x" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping',
);

describe('the rights to remove and to restore owner references', () => {
  it('are asked for all namespaces at once, and nothing is tried where there are all', async () => {
    const { outcome, dryRuns, requests } = await told(removable(['a', 'b', 'c']), () => false);
    assert.deepEqual([outcome, dryRuns.length, requests], ['ok', 0, ['review 1', 'review 1']]);
  });

  it('are asked for each namespace where they are not had in all of them', async () => {
    const { outcome, names, next } = await told(removable(['a', 'b']), ({ verb, namespace }) => verb === 'patch' && namespace !== 'a');
    assert.deepEqual([outcome, names], ['error', ['patch configmaps in b']]);
    assert.equal(String(next), 'kubectl auth can-i patch configmaps -n b');
  });

  it('are patch alone where the server asks for no more', async () => {
    const { outcome, dryRuns } = await told(removable(['a'], { blockOwnerDeletion: true }), lacks('delete', 'update'));
    assert.equal(outcome, 'ok');
    assert.deepEqual([dryRuns.length, dryRuns[0]?.metadata.namespace], [1, 'kube-system']);
  });

  it('are delete, and the finalizers of owners that are blocked, where the server enforces them', async () => {
    const { outcome, names, next } = await told(removable(['a'], { blockOwnerDeletion: true }), lacks('delete', 'update'), ENFORCED);
    assert.deepEqual([outcome, names], ['error', ['delete configmaps in a', `update sets.${SETS.group}/finalizers in a`]]);
    assert.equal(String(next), 'kubectl auth can-i delete configmaps -n a');
  });

  it('are no finalizers where nothing blocks an owner', async () => {
    assert.equal((await told(removable(['a']), lacks('update'), ENFORCED)).outcome, 'ok');
  });

  it('are warned of where nobody could see whether the server enforces them', async () => {
    const { outcome, hint } = await told(removable(['a']), lacks('delete'), new ApiFailure(403, 'Forbidden', 'secrets is forbidden'));
    assert.equal(outcome, 'warning');
    assert.match(hint, /OwnerReferencesPermissionEnforcement/);
  });

  it('do not include get: what is to be restored is found by a list where that is refused', async () => {
    const entry = entryFor([set]);
    const { name, namespace, uid } = DEPENDENT;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid, ...(namespace ? { namespace } : {}) } };
    const { cluster } = clusterOf([object], { kinds: [K.ConfigMap] });
    const barred = { ...cluster, get: () => Promise.reject(new ApiFailure(403, 'Forbidden', 'configmaps is forbidden')) };
    const { found, unread } = await readLive(barred, [entry]);
    assert.deepEqual([found.size, unread], [1, []]);
  });
});
