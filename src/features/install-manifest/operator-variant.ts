import type { Profile, Variant, WorkloadName } from '../../kernel/profile.ts';

/**
 * The operator's manifest in the words of a variant, so that it is fetched, compared and previewed like any full manifest (§4.3/1);
 * `namespace` is where the operator runs.
 */
export function operatorVariant({ operator }: Pick<Profile, 'operator'>, namespace = operator.namespace): Variant {
  const { deployment: name, file } = operator;
  const own: WorkloadName = { kind: 'Deployment', namespace, name, container: name, ready: { type: 'all-containers' } };
  return { id: 'operator', title: 'operator', file, datastore: 'api', agent: own, controllers: own, configMap: '', signs: [] };
}
