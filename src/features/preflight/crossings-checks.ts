import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { type Installation, isOperated } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses, isOlder, parseRelease } from '../../kernel/release.ts';
import { POLICY_PLURALS } from '../policies/index.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  type OperatedFacts,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  sourceRelease,
  specOf,
  table,
  withInstallation,
  withResources,
} from '../survey/index.ts';
import { judgeImageSet } from './image-set.ts';

export interface Operated {
  readonly names: OperatorCrossings;
  readonly operated: OperatedFacts;
  readonly installation: Installation;
  readonly facts: PreflightFacts;
  readonly context: Context;
}

/** Evaluates an installation that an operator holds, where the profile knows its names. */
export function withOperated(judge: (given: Operated) => Verdict): (facts: PreflightFacts, context: Context) => Verdict {
  return withInstallation((installation, facts, context) => {
    const names = context.profile.operator.crossings;
    if (!names) return notApplicable('the profile knows no names of the operator’s settings');
    const operated = isOperated(installation) ? facts.operated : undefined;
    return operated ? judge({ names, operated, installation, facts, context }) : notApplicable('no operator runs the service here');
  });
}

export const crossingsChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'warning', ref: 'domain §11.3' }, [
  /** If images are pinned by sets of digests, the target needs one: the operator stays degraded without it (domain §11.3). */
  {
    id: 'NS-622',
    title: 'image set of the target release',
    severity: 'error',
    judge: withOperated(({ names: { imageSet }, operated, context: { goal } }) => {
      const sets = read(operated.imageSets).filter(({ metadata }) => metadata.name.startsWith(imageSet.prefix));
      const wanted = `${imageSet.prefix}${goal.release}`;
      if (sets.length === 0) return ok('no image set pins the images');
      const target = sets.find(({ metadata }) => metadata.name === wanted);
      if (target) return judgeImageSet(target, imageSet, goal.release);
      return failed(
        `images are pinned by an image set, and there is none of the target: the new operator stays degraded without ${imageSet.kind}/${wanted}`,
        `Make ${imageSet.kind}/${wanted} with the digest of every image of the target, before the upgrade.`,
        { evidence: sets.map((one) => evidenceOf(one)), next: command`kubectl netsvc-upgrade plan -o images` },
      );
    }),
  },
  /** Policies and the order of tiers that go by a tier's old name (domain §11.3, §12.2). */
  {
    id: 'NS-625',
    title: 'tiers keep their names',
    judge: withResources((installation, facts, context): Verdict => {
      const { tierRename: rename, crdGroup } = context.profile;
      if (!rename || !crosses(sourceRelease(installation, facts, context), context.goal.release, rename.since))
        return notApplicable('no tier gets another name on this way');
      const tiers = objectsOf(facts, 'tiers');
      if (!tiers.some(({ metadata }) => metadata.name === rename.from)) return ok(`there is no tier ${rename.from}`);
      const policies = POLICY_PLURALS.flatMap((plural) => objectsOf(facts, plural)).filter((policy) => specOf(policy).tier === rename.from);
      const inside = policies.filter(isPersons);
      const services = [rename.from, rename.to, ...rename.others];
      const beside = tiers.filter((tier) => isPersons(tier) && !services.includes(tier.metadata.name));
      const renamed = `the tier ${rename.from} is called ${rename.to} in the target`;
      const evidence = [
        ...inside.map((policy) => evidenceOf(policy, 'no controller owns it')),
        ...beside.map((tier) => evidenceOf(tier, `order ${String(specOf(tier).order ?? 'not set')}`)),
      ];
      return failIfAny(evidence, `${renamed}; no policy of yours is in it, and no tier of yours is ordered around it`, (names) => ({
        because: `${renamed}, which policies of yours in it and tiers of yours around it do not follow: ${names}`,
        hint: `Move policies of yours into ${rename.to} or a tier of your own, and check the order of your tiers; they are not renamed for you.`,
        next: command`kubectl get tiers.${crdGroup} -o custom-columns=NAME:.metadata.name,ORDER:.spec.order`,
      }));
    }),
  },
  /** An admission policy of the Gateway API may refuse the CRDs that the operator installs, which ends it (domain §12/34). */
  {
    id: 'NS-626',
    title: 'CRDs of the Gateway API may be changed',
    ref: 'domain §12/34',
    judge: withOperated(({ names: { gateway }, operated, context }) => {
      const { profile } = context;
      const [wanting] = read(operated.gateways);
      if (!wanting) return ok(`the operator installs no Gateway API: there is no ${gateway.kind}`);
      if (specOf(wanting)[gateway.field] === gateway.value) return ok(`${gateway.field} is ${gateway.value}`);
      const policy = read(operated.gatewayPolicy);
      if (!policy) return judgeDefinitions(gateway, read(operated.gatewayDefinitions), wanting, context);
      return failed(
        `the operator installs newer CRDs of the Gateway API. ${gateway.policy} may refuse them, and then the operator stops`,
        `Set spec.${gateway.field} of ${gateway.kind}/${wanting.metadata.name} to ${gateway.value}, or install the CRDs yourself as the policy allows it.`,
        {
          evidence: [evidenceOf(policy), evidenceOf(wanting)],
          ...edited(gateway, wanting, profile),
        },
      );
    }),
  },
  /** Some component statuses stay degraded for ever where a resource is not there (domain §11.2, §12/23). */
  {
    id: 'NS-627',
    title: 'every component status can become good',
    ref: 'domain §12/23',
    judge: withOperated(({ operated, context: { profile, goal } }) => {
      const kinds = read(operated.components).map(({ kind }) => kind);
      const { statusKind, statuses = [] } = profile.operator.end ?? {};
      const stuck = statuses.filter(({ needs }) => needs !== undefined && !kinds.includes(needs.kind));
      const evidence = stuck.map(
        ({ name, needs }): Evidence => ({ text: `${statusKind}/${name}`, detail: `needs ${needs?.kind}/default` }),
      );
      const missing = [...new Set(stuck.flatMap(({ needs }) => needs?.kind ?? []))];
      return failIfAny(evidence, 'every component status can become good', (names) => ({
        because: `${names} stays degraded without ${missing.map((kind) => `${kind}/default`).join(', ')}: the wait for ${goal.release} ignores it`,
        hint: `Create ${missing.map((kind) => `${kind}/default`).join(', ')} before the upgrade if you want the v3 API. Otherwise do nothing.`,
        next: command`kubectl get ${statusKind?.toLowerCase() ?? ''}`,
      }));
    }),
  },
]);

function edited({ plural }: Pick<OperatorCrossings['gateway'], 'plural'>, { metadata }: KubeObject, { operatorGroup }: Profile) {
  const object = [`${plural}.${operatorGroup}`, metadata.name];
  return { fix: repairCommand`kubectl edit ${object}`, next: command`kubectl get ${object} -o yaml` };
}

/** No controller made it, so the user did. */
function isPersons({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).length === 0;
}

/** No guard protects them; existing ones are not changed by the operator, unless it is set to install its own. */
function judgeDefinitions(
  { definitions: { annotation, bundles }, ...gateway }: OperatorCrossings['gateway'],
  found: readonly KubeObject[],
  wanting: KubeObject,
  { profile, goal }: Context,
): Verdict {
  const wanted = bundles.findLast(({ since }) => !isOlder(goal.release, since))?.version;
  const old = found.filter(({ metadata: { annotations } }) => {
    const bundle = annotations?.[annotation];
    // One that is no release may be older.
    return bundle !== undefined && wanted !== undefined && (!parseRelease(bundle) || isOlder(bundle, wanted));
  });
  return failIfAny(
    old.map((one) => evidenceOf(one, `bundle ${one.metadata.annotations?.[annotation]}`)),
    wanted === undefined
      ? `nothing called ${gateway.policy} guards the CRDs of the Gateway API`
      : `no definition of the Gateway API is older than ${wanted}`,
    (names) => ({
      because: `the operator does not update installed CRDs of the Gateway API, and the gateway of ${goal.release} needs ${wanted}: ${names}`,
      hint: `Set spec.${gateway.field} of ${gateway.kind}/${wanting.metadata.name} to ${gateway.value}, or install the CRDs of ${wanted} yourself before the upgrade.`,
      ...edited(gateway, wanting, profile),
    }),
  );
}
