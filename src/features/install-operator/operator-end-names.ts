import type { Profile } from '../../kernel/profile.ts';
import type { OperatorEndNames } from './operator-view.ts';

/**
 * The names that the rule for the end needs, with the operator's Deployment where it was found; undefined where the profile does
 * not know them: then no end may be declared.
 */
export function operatorEndNames(
  { operator }: Pick<Profile, 'operator'>,
  found?: OperatorEndNames['deployment'],
): OperatorEndNames | undefined {
  const { namespace, deployment: name, end, statusVersionField: versionField } = operator;
  if (!end || versionField === undefined) return undefined;
  const required = [operator.agent, operator.controllers].map((workload) => `${workload.kind}/${workload.name}`);
  return {
    deployment: found ?? { namespace, name },
    installation: { ...operator.installationKind, namespaced: false },
    workloads: operator.workloadNamespace,
    versionField,
    required,
    ...end,
  };
}
