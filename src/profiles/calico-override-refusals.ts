import type { FieldRule, Refusal } from '../kernel/refusal.ts';
import { is, isNot, isSet } from './refusal-rules.ts';

const RESOURCES = '/spec/template/spec';
const overridden = ['calicoNodeDaemonSet', 'calicoNodeWindowsDaemonSet', 'calicoKubeControllersDeployment', 'typhaDeployment'].concat(
  'csiNodeDriverDaemonSet',
);

const NAME = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const keyWith = (letter: string) => {
  const part = `[${letter}0-9](?:[-${letter}0-9]*[${letter}0-9])?`;
  return `(?:${part}(?:\\.${part})*\\/)?${NAME}`;
};
const LABEL = `^${keyWith('a-z')}=(?:${NAME})?$`;
/** Kubernetes looks at the key of an annotation in small letters. */
const ANNOTATION = `^${keyWith('a-zA-Z')}=`;

interface Placed {
  /** Its name, as the operator writes it. */
  readonly title: string;
  readonly at: string;
}

/** `ValidateLabels`, `ValidateAnnotations` and `ValidatePodSpecNodeSelector`: the syntax of keys and values. */
function mapRefusals({ title, at }: Placed): readonly Refusal[] {
  const of = (field: string, says: string, entryUnlike: string): Refusal => ({
    since: 'v3.24.0',
    says: `${title} is not valid: ${says}`,
    when: [{ field: `${at}/${field}`, entryUnlike }],
  });
  return [
    of('metadata/labels', 'metadata is invalid: metadata.labels: Invalid value', LABEL),
    of('metadata/annotations', 'metadata is invalid: metadata.annotations: Invalid value', ANNOTATION),
    of('spec/template/metadata/labels', 'spec.Template.Metadata is invalid: metadata.labels: Invalid value', LABEL),
    of('spec/template/metadata/annotations', 'spec.Template.Metadata is invalid: metadata.annotations: Invalid value', ANNOTATION),
    of(
      'spec/template/spec/nodeSelector',
      'spec.Template.Spec.NodeSelector is invalid: spec.template.spec.nodeSelector: Invalid value',
      LABEL,
    ),
  ];
}

const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const ofPods = ['podAffinity', 'podAntiAffinity'];

/** `ValidateAffinity`. */
function affinityRefusals({ title, at }: Placed): readonly Refusal[] {
  const affinity = `${at}${RESOURCES}/affinity`;
  const of = (items: string, says: string, ...when: readonly FieldRule[]): Refusal => ({
    since: 'v3.24.0',
    items: `${affinity}/${items}`,
    says: `${title} is not valid: spec.Template.Spec.Affinity is invalid: ${says}`,
    when,
  });
  const node = `nodeAffinity/${REQUIRED}`;
  const expressions = [`${node}/nodeSelectorTerms/matchExpressions`, `nodeAffinity/${PREFERRED}/preference/matchExpressions`];
  const terms = ofPods.flatMap((kind) => [`${kind}/${REQUIRED}`, `${kind}/${PREFERRED}/podAffinityTerm`]);
  return [
    ...['nodeAffinity', ...ofPods].flatMap((kind) =>
      [{ below: 1 }, { above: 100 }].map((range) =>
        of(`${kind}/${PREFERRED}`, 'weight: Invalid value: {weight}: must be in the range 1-100', { field: 'weight', ...range }),
      ),
    ),
    of(node, 'nodeSelectorTerms: Required value: must have at least one node selector term', { field: 'nodeSelectorTerms', absent: true }),
    ...expressions.flatMap((items) => [
      of(items, "values: Required value: must be specified when `operator` is 'In' or 'NotIn'", is('operator', 'In', 'NotIn'), {
        field: 'values',
        empty: true,
      }),
      of(
        items,
        "values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        is('operator', 'Exists', 'DoesNotExist'),
        { field: 'values', empty: false },
      ),
      of(
        items,
        'operator: Invalid value: {operator}: not a valid selector operator',
        isNot('operator', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
      ),
    ]),
    ...terms.map((items) => of(items, 'topologyKey: Required value: can not be empty', { field: 'topologyKey', absent: true })),
  ];
}

const ROLLING = '/typhaDeployment/spec/strategy/rollingUpdate';
const strategy = (says: string, ...when: readonly FieldRule[]): Refusal => ({
  since: 'v3.25.0',
  says: `installation spec.TyphaDeployment is not valid: spec.Strategy is invalid: ${says}`,
  when: [isSet(ROLLING), ...when],
});
const NONE = { oneOf: ['0', '0%'], absent: true };

/** `ValidateDeploymentStrategy`: Typha alone has a strategy. */
const strategyRefusals: readonly Refusal[] = [
  strategy(
    'maxUnavailable: may not be 0 when `maxSurge` is 0',
    { field: `${ROLLING}/maxUnavailable`, ...NONE },
    { field: `${ROLLING}/maxSurge`, ...NONE },
  ),
  strategy('maxUnavailable: must not be greater than 100%', { field: `${ROLLING}/maxUnavailable`, like: '^0*(?!100%)[1-9]\\d\\d+%$' }),
  ...['maxUnavailable', 'maxSurge'].map((field) =>
    strategy(`${field}: Invalid value: {${ROLLING}/${field}}`, { field: `${ROLLING}/${field}`, unlike: '^\\d+%?$' }),
  ),
];

/** What Kubernetes refuses in a pod template, which the operator looks at before it makes one. */
const templateRefusals = overridden.flatMap((name): readonly Refusal[] => {
  const title = `installation spec.${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const because = `${title} is not valid: spec.Template.Spec.`;
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
    ...mapRefusals({ title, at: `/${name}` }),
    ...affinityRefusals({ title, at: `/${name}` }),
  ];
});

export const overrideRefusals: readonly Refusal[] = [...templateRefusals, ...strategyRefusals];
