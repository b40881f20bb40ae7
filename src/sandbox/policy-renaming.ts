import { textAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import type { Profile } from '../kernel/profile.ts';
import { imageRelease, isOlder } from '../kernel/release.ts';
import { isOfDefaultTier, madeAtOf, policyName } from '../kube/stored-metadata.ts';
import { containersOf } from '../kube/workload.ts';
import type { VirtualClock } from './clock.ts';
import { specOf } from './pods-of.ts';
import { type Store, servedKinds } from './store.ts';

const POLICIES = ['GlobalNetworkPolicy', 'NetworkPolicy'];
/** The controllers check again this long after a change. Virtual milliseconds. */
const DELAY_MS = 1000;

/** The new controllers give stored policies their own names, as soon as they and every agent run (domain §0.6b). */
export function startPolicyRenaming(store: Store, clock: VirtualClock, profile: Profile): void {
  const { policyRenaming, controllersConfiguration } = profile;
  if (policyRenaming === undefined) return;
  let due = false;
  const watched = [K.DaemonSet.plural, K.Deployment.plural, controllersConfiguration.plural];
  store.listen(({ kind }) => {
    if (due || !watched.includes(kind.plural)) return;
    due = true;
    clock.schedule(DELAY_MS, () => {
      due = false;
      if (isTime(store, profile, policyRenaming))
        for (const policies of policyKinds(store, profile)) renamePolicies(store, policies, profile);
    });
  });
}

function isTime(store: Store, profile: Profile, { since, switchField, waitsFor }: NonNullable<Profile['policyRenaming']>): boolean {
  const names = new Set(profile.variants.map(({ controllers }) => controllers.name));
  const controllers = store.list(K.Deployment).find(({ metadata }) => names.has(metadata.name));
  const agents = store.list(K.DaemonSet).find(({ metadata }) => metadata.name === waitsFor);
  if (!controllers || !agents || isHeld(store, profile, switchField)) return false;
  return [controllers, agents].every((one) => isRolledOut(one) && isOf(one, since));
}

function isHeld(store: Store, { crdGroup, controllersConfiguration }: Profile, field: string): boolean {
  const kind = servedKinds(store).find(({ group, plural }) => group === crdGroup && plural === controllersConfiguration.plural);
  return kind !== undefined && textAt(store.get(kind, controllersConfiguration.name), ...field.split('.')) === 'Disabled';
}

function isRolledOut(workload: KubeObject): boolean {
  const status = (workload.status ?? {}) as Readonly<Record<string, number>>;
  const wanted = status.desiredNumberScheduled ?? specOf(workload).replicas ?? 1;
  const fresh = status.updatedNumberScheduled ?? status.updatedReplicas ?? 0;
  const ready = status.numberReady ?? status.readyReplicas ?? 0;
  return wanted > 0 && status.observedGeneration === workload.metadata.generation && Math.min(fresh, ready) >= wanted;
}

function isOf(workload: KubeObject, since: string): boolean {
  const [release] = containersOf(workload).flatMap(({ image = '' }) => imageRelease(image) ?? []);
  return release !== undefined && !isOlder(release, since);
}

function policyKinds(store: Store, { crdGroup }: Profile): readonly Kind[] {
  return servedKinds(store).filter(({ group, kind }) => group === crdGroup && POLICIES.includes(kind));
}

/** Creates each under its new name, with the time of the old one, then deletes the old one (host endpoint notes 4). Returns how many. */
export function renamePolicies(store: Store, kind: Kind, profile: Profile, most = Number.POSITIVE_INFINITY): number {
  const pending = store.list(kind).filter((one) => policyName(one, profile) !== one.metadata.name && isOfDefaultTier(one));
  const now = pending.slice(0, most);
  for (const policy of now) {
    const name = policyName(policy, profile);
    const { uid: _, resourceVersion: __, ...metadata } = policy.metadata;
    const creationTimestamp = madeAtOf(policy, profile.apiGroup);
    const annotations = { ...metadata.annotations, [`${profile.apiGroup}/metadata`]: JSON.stringify({ name, creationTimestamp }) };
    store.insert(kind, { ...policy, metadata: { ...metadata, name, annotations } });
    store.delete(kind, policy.metadata.name, policy.metadata.namespace);
  }
  return now.length;
}
