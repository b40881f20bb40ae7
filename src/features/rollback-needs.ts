import { K } from '../kernel/kinds.ts';
import { POLICY_PLURALS } from './policies/index.ts';
import { allow, type Needs } from './rights/index.ts';

/** What the upgrade added and nothing uses. */
export const addedObjects: Needs = () => {
  const why = 'objects that the upgrade added and nothing uses';
  const kinds = [K.ClusterRole, K.ClusterRoleBinding, K.Role, K.RoleBinding, K.PodDisruptionBudget, K.ServiceAccount];
  const users = [K.ClusterRoleBinding, K.RoleBinding, K.Pod, K.CronJob, K.DaemonSet, K.Deployment, K.StatefulSet];
  return [...allow(['list'], users, why), ...allow(['delete'], kinds, why)];
};

/** What the newer operator has made, and the older one does not know. */
export const newerObjects: Needs = ({ operator: { end }, operatorGroup, crdGroup }, { operated = true }) => {
  if (!end || !operated) return [];
  const why = 'objects of the newer operator that the older one does not know';
  const stored = ['tiers', ...POLICY_PLURALS].map((plural) => ({ group: crdGroup, plural }));
  const ofApi = [K.Deployment, K.Service, K.PodDisruptionBudget, K.ServiceAccount, K.RoleBinding];
  return [
    ...allow(['list', 'delete'], [{ group: operatorGroup, plural: end.statusPlural }, ...stored], why),
    ...allow(['list', 'delete'], ofApi, why),
  ];
};
