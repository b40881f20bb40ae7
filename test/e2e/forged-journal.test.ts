import assert from 'node:assert/strict';
import type { JournalEntry } from '../../src/kernel/journal.ts';
import type { ApiObject } from '../control-plane/api.ts';
import { collectorStartsAnew } from '../support/collector-settles.ts';
import { shared } from '../support/installed-cluster.ts';
import { ownedPlane } from '../support/owned-cluster.ts';
import { GROUP, SPACE, V3 } from '../support/owned-objects.ts';
import { withJournal } from '../support/owner-graph.ts';
import { restoreWork } from '../support/perform-stage.ts';

const ATTACKER = 'system:serviceaccount:default:attacker';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system';

/** What the journal says of the owner, which is there, and of the reference to it that was removed. */
interface Forgery {
  readonly title: string;
  readonly owner: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly reference: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  /** Whose end it would be. */
  readonly victim: 'Namespace' | 'ConfigMap';
  readonly said: RegExp;
}

const SET = { kind: 'GlobalNetworkSet', name: 'owner-set' };
const FORGERIES: readonly Forgery[] = [
  {
    title: 'a reference to an object of another group',
    owner: SET,
    reference: { apiVersion: 'v1', kind: 'Node', name: SET.name },
    victim: 'Namespace',
    said: /v1 Node\/owner-set/,
  },
  {
    title: 'a reference to another kind of the group',
    owner: SET,
    reference: { apiVersion: V3, kind: 'IPPool', name: SET.name },
    victim: 'Namespace',
    said: /IPPool\/owner-set/,
  },
  {
    title: 'a reference to another name',
    owner: SET,
    reference: { apiVersion: V3, kind: SET.kind, name: 'nobody' },
    victim: 'Namespace',
    said: /GlobalNetworkSet\/nobody/,
  },
  {
    title: 'a reference to an owner of another namespace',
    owner: { kind: 'NetworkSet', name: 'owner-space', namespace: SPACE },
    reference: { apiVersion: V3, kind: 'NetworkSet', name: 'owner-space' },
    victim: 'ConfigMap',
    said: /NetworkSet\/shop\/owner-space/,
  },
];

describe('a journal that an account forged which may write Secrets in kube-system', function () {
  this.timeout(280_000);
  const owned = shared(() => ownedPlane(1, { maxMinutes: 10 }));
  before(async () => {
    const { api } = owned.plane;
    const metadata = { name: 'writes-secrets' };
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['*'] }];
    await api.send('POST', `${ROLES}/roles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules });
    await api.send('POST', `${ROLES}/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'attacker' }],
    });
  });

  /** As that account, with the program's own means: digests and numbers are right. */
  const forge = (work: Parameters<typeof withJournal>[1]) => withJournal(owned.plane, work, { as: ATTACKER });

  async function makeVictim(kind: Forgery['victim'], name: string): Promise<string> {
    const { api } = owned.plane;
    await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    if (kind === 'Namespace') return `/api/v1/namespaces/${name}`;
    await api.send('POST', `/api/v1/namespaces/${name}/configmaps`, { apiVersion: 'v1', kind, metadata: { name } });
    return `/api/v1/namespaces/${name}/configmaps/${name}`;
  }

  async function entryOf({ owner, reference }: Pick<Forgery, 'owner' | 'reference'>, kind: string, path: string): Promise<JournalEntry> {
    const { api } = owned.plane;
    const { metadata } = await api.get<ApiObject>(path);
    const { name, namespace, uid } = metadata;
    const scope = owner.namespace === undefined ? '' : `namespaces/${owner.namespace}/`;
    const served = await api.get<ApiObject>(`/apis/${V3}/${scope}${owner.kind.toLowerCase()}s/${owner.name}`);
    const place = namespace === undefined ? {} : { namespace };
    return {
      object: { apiVersion: 'v1', kind, plural: `${kind.toLowerCase()}s`, name, uid, ...place },
      references: [{ ...reference, uid: served.metadata.uid }],
      removed: [0],
      owners: [{ place: 0, group: GROUP, ...owner }],
    };
  }

  /** What the journal holds rightly: the owner's kind is looked up for its sake. */
  async function honestEntry({ owner }: Forgery, name: string): Promise<JournalEntry> {
    const path = `/api/v1/namespaces/${SPACE}/configmaps`;
    await owned.plane.api.send('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    return entryOf({ owner, reference: { apiVersion: V3, kind: owner.kind, name: owner.name } }, 'ConfigMap', `${path}/${name}`);
  }

  afterEach(() => forge((journal) => journal.forget()));

  FORGERIES.forEach((forgery, index) => {
    it(`puts back no ${forgery.title.replace(/^a /, '')}, says which, and its object lives`, async () => {
      const { plane } = owned;
      const path = await makeVictim(forgery.victim, `victim-${index}`);
      const entries = [await honestEntry(forgery, `honest-${index}`), await entryOf(forgery, forgery.victim, path)];
      await forge((journal) => journal.append(entries));
      const { exit, message, steps } = await restoreWork.perform(owned.around);
      await collectorStartsAnew(plane);
      const { metadata } = await plane.api.get<ApiObject>(path);
      assert.deepEqual([metadata.ownerReferences, metadata.deletionTimestamp], [undefined, undefined]);
      assert.equal(exit, 'stale');
      const said = [message, ...steps].join('\n');
      assert.match(said, forgery.said);
      assert.match(said, new RegExp(`${forgery.victim}/.*victim-${index}`));
      assert.match(said, /Secret\/kube-system\/netsvc-upgrade-owners/);
    });
  });
});
