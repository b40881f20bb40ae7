import type { FieldRule, Refusal } from '../kernel/refusal.ts';
import { is, isNot, isSet } from './refusal-rules.ts';

const RESOURCES = '/spec/template/spec';
const overridden = ['calicoNodeDaemonSet', 'calicoNodeWindowsDaemonSet', 'calicoKubeControllersDeployment', 'typhaDeployment'].concat(
  'csiNodeDriverDaemonSet',
);

/** What Kubernetes refuses in a pod template, which the operator looks at before it makes one. */
export const overrideRefusals: readonly Refusal[] = overridden.flatMap((name) => {
  const because = `installation spec.${name.charAt(0).toUpperCase()}${name.slice(1)} is not valid: spec.Template.Spec.`;
  const tolerations = { since: 'v3.24.0', items: `/${name}${RESOURCES}/tolerations` };
  const spread = { since: 'v3.25.0', items: `/${name}${RESOURCES}/topologySpreadConstraints` };
  const invalid = (row: Pick<Refusal, 'since' | 'items'>, says: string, ...when: readonly FieldRule[]): Refusal => ({
    ...row,
    says: `${because}${says}`,
    when,
  });
  return [
    invalid(
      tolerations,
      'Tolerations is invalid: operator must be Exists when `key` is empty',
      { field: 'key', absent: true },
      isNot('operator', 'Exists'),
    ),
    invalid(tolerations, 'Tolerations is invalid: value must be empty when `operator` is Exists', is('operator', 'Exists'), isSet('value')),
    invalid(
      tolerations,
      'Tolerations is invalid: operator {operator} is not supported',
      isNot('operator', 'Exists', 'Equal'),
      isSet('operator'),
    ),
    invalid(
      tolerations,
      'Tolerations is invalid: effect {effect} is not supported',
      isSet('effect'),
      isNot('effect', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'),
    ),
    invalid(
      tolerations,
      'Tolerations is invalid: effect must be NoExecute when `tolerationSeconds` is set',
      isSet('tolerationSeconds'),
      isNot('effect', 'NoExecute'),
    ),
    invalid(spread, 'TopologySpreadConstraints is invalid: maxSkew must be greater than zero', { field: 'maxSkew', below: 1 }),
    invalid(spread, 'TopologySpreadConstraints is invalid: topologyKey can not be empty', { field: 'topologyKey', absent: true }),
    invalid(
      spread,
      'TopologySpreadConstraints is invalid: whenUnsatisfiable {whenUnsatisfiable} is not supported',
      isNot('whenUnsatisfiable', 'DoNotSchedule', 'ScheduleAnyway'),
    ),
    invalid({ since: 'v3.25.0' }, 'TerminationGracePeriodSeconds is invalid: cannot be negative', {
      field: `/${name}${RESOURCES}/terminationGracePeriodSeconds`,
      below: 0,
    }),
    {
      since: 'v3.24.0',
      says: `${because.slice(0, -'Template.Spec.'.length)}MinReadySeconds must be greater than or equal to 0`,
      when: [{ field: `/${name}/spec/minReadySeconds`, below: 0 }],
    },
  ];
});
