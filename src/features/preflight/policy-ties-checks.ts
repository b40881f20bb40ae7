import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses } from '../../kernel/release.ts';
import { policyName } from '../../kube/stored-metadata.ts';
import { evidenceOf, failIfAny, objectsOf, type PreflightCheck, sourceRelease, table, withResources } from '../survey/index.ts';

export const policyTiesChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'warning', ref: 'domain §12' }, [
  /** Which of two policies of equal order decides goes by their names, and since then by another part of them first. */
  {
    id: 'NS-513',
    title: 'policies of equal order keep their order',
    judge: withResources((installation, facts, context): Verdict => {
      const { profile, goal } = context;
      const since = profile.policyRenaming?.since;
      if (since === undefined || !crosses(sourceRelease(installation, facts, context), goal.release, since))
        return notApplicable('the target orders policies as the installed release does');
      const policies = [...objectsOf(facts, 'globalnetworkpolicies'), ...objectsOf(facts, 'networkpolicies')];
      return failIfAny(swapped(policies, profile), 'no two policies that decide otherwise change places', (names) => ({
        because: `from ${since} on the agents order policies of equal order by name, then by namespace: where two of them match, another one decides. It is so for ${names}`,
        hint: 'Traffic that one of them denies may pass, or the other way round. Until the last node is upgraded both orders are in force. Give the first of each pair a lower order before the upgrade.',
        next: command`kubectl get globalnetworkpolicies.${profile.crdGroup},networkpolicies.${profile.crdGroup} -A -o custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,TIER:.spec.tier,ORDER:.spec.order`,
      }));
    }),
  },
]);

type Names = Pick<Profile, 'apiGroup' | 'policyRenaming'>;

/** One line per policy that will come behind another, or will no longer. */
function swapped(policies: readonly KubeObject[], profile: Names): readonly Evidence[] {
  const ties = Map.groupBy(policies, ({ spec }) => JSON.stringify([textAt(spec, 'tier') || 'default', jsonAt(spec, 'order') ?? null]));
  return [...ties.values()].flatMap((tie) => {
    const keyed = tie.map((object) => ({ object, was: keyBefore(object), becomes: keyAfter(object, profile), acts: actsOf(object) }));
    const inForce = keyed.toSorted((a, b) => (a.was < b.was ? -1 : 1));
    return inForce.flatMap((first, index) => {
      const behind = inForce.slice(index + 1).filter((later) => later.becomes < first.becomes && mayMeet(first.object, later.object));
      const others = behind.filter(({ acts }) => differ(first.acts, acts)).map(({ object }) => refText(refOf(object)));
      const [other] = others;
      if (other === undefined) return [];
      const more = others.length > 1 ? ` and ${counted(others.length - 1, 'other')}` : '';
      return [evidenceOf(first.object, `comes before ${other}${more} now, and after it then`)];
    });
  });
}

/** `PolicyKVLess` of the agents: by the name that is stored, with its namespace before it. */
function keyBefore({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function keyAfter(object: KubeObject, profile: Names): string {
  return `${policyName(object, profile)}/${object.metadata.namespace ?? ''}/${object.kind}`;
}

/** Those of two namespaces select no endpoint in common. */
function mayMeet(a: KubeObject, b: KubeObject): boolean {
  const [one, other] = [a.metadata.namespace, b.metadata.namespace];
  return one === undefined || other === undefined || one === other;
}

/** What its rules do with packets, by direction, and where they stand before others: `ingress of preDNAT: Deny`. */
function actsOf({ spec }: KubeObject): ReadonlyMap<string, ReadonlySet<string>> {
  const place = ['preDNAT', 'doNotTrack'].find((one) => jsonAt(spec, one) === true) ?? '';
  return new Map(
    ['ingress', 'egress'].map((way) => {
      const rules = jsonAt(spec, way);
      const actions = (Array.isArray(rules) ? rules : []).map((rule) => textAt(rule, 'action') ?? '').filter((one) => one !== 'Log');
      return [`${way} ${place}`, new Set(actions)];
    }),
  );
}

/** Which of them comes first matters: in one direction one does what the other does not. */
function differ(a: ReadonlyMap<string, ReadonlySet<string>>, b: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  return [...a].some(([way, acts]) => {
    const others = b.get(way) ?? new Set();
    return acts.size > 0 && others.size > 0 && new Set([...acts, ...others]).size > 1;
  });
}
