import { command } from '../../kernel/argv.ts';
import { notApplicable, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import {
  crosses,
  evidenceOf,
  failIfAny,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  sourceRelease,
  withInstallation,
} from '../survey/index.ts';

type Guarded = NonNullable<OperatorCrossings['guarded']>;

export const guardedNamespaceChecks: readonly PreflightCheck[] = [
  /** The operator puts its policies before all others: other workloads no longer reach its pods, nor do they reach them. */
  {
    id: 'NS-632',
    title: 'no other objects in the operator’s pod namespace',
    category: 'resources',
    severity: 'warning',
    ref: 'domain §11.3',
    judge: withInstallation((installation, facts, context): Verdict => {
      const guarded = context.profile.operator.crossings?.guarded;
      if (!facts.operated || !guarded) return notApplicable('no operator guards a namespace here');
      if (!crosses(sourceRelease(installation, facts, context), context.options.release, guarded.since))
        return notApplicable('the operator guards its namespace as it does now');
      const found = [
        ...read(facts.operated.reaching)
          .filter((one) => isAffected(one, guarded))
          .map((one) => evidenceOf(one, 'leads to pods in it')),
        ...foreignWorkloads(facts, guarded).map((one) => evidenceOf(one, 'the operator did not make it')),
        ...foreignPolicies(facts, guarded).map((one) => evidenceOf(one, 'comes after the policies of the operator')),
      ];
      return failIfAny(found, `nothing but the operator's own is in ${guarded.namespace}, or leads to it`, (names) => ({
        because: `from ${guarded.since} on policies of the operator come before all others in ${guarded.namespace}, and ${counted(found.length, 'object')} of yours may no longer work: ${names}`,
        hint: `Metrics of the controllers may then be read from namespace ${guarded.scrapers} alone, and the flow UI takes no traffic from outside. Move workloads of yours elsewhere. To allow more, add a policy in tier ${guarded.tier} with a lower order than those of the operator, after the upgrade.`,
        next: command`kubectl -n ${guarded.namespace} get services,pods`,
      }));
    }),
  },
];

function isAffected({ metadata }: KubeObject, { scrapers }: Guarded): boolean {
  return metadata.namespace !== scrapers && !isOwned(metadata);
}

function isOwned({ ownerReferences = [] }: KubeObject['metadata']): boolean {
  return ownerReferences.length > 0;
}

function foreignWorkloads(facts: PreflightFacts, { namespace }: Guarded): readonly KubeObject[] {
  return [...read(facts.daemonSets), ...read(facts.deployments)].filter(
    ({ metadata }) => metadata.namespace === namespace && !isOwned(metadata),
  );
}

function foreignPolicies(facts: PreflightFacts, { namespace, tier }: Guarded): readonly KubeObject[] {
  const policies = objectsOf(facts, 'networkpolicies').filter(({ metadata }) => metadata.namespace === namespace && !isOwned(metadata));
  return policies.filter(({ spec }) => jsonAt(spec, 'tier') !== tier);
}
