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
  return [...ties.values()].flatMap((tie) => swappedIn(tie, profile));
}

/** From the last one in force to the first: what comes after a policy is known by then. */
function swappedIn(tie: readonly KubeObject[], profile: Names): readonly Evidence[] {
  const keyed = tie.map((object) => ({ object, was: keyBefore(object), becomes: keyAfter(object, profile), acts: actsOf(object) }));
  const after = new After();
  const lines = keyed
    .toSorted((a, b) => (a.was < b.was ? 1 : -1))
    .flatMap((first) => {
      const passing = after.passing(first);
      after.add(first);
      const [other] = passing.map(({ first: one }) => one).toSorted((a, b) => (a.becomes < b.becomes ? -1 : 1));
      if (other === undefined) return [];
      const more = passing.reduce((sum, { count }) => sum + count, -1);
      const others = more > 0 ? ` and ${counted(more, 'other')}` : '';
      return [evidenceOf(first.object, `comes before ${refText(refOf(other.object))}${others} now, and after it then`)];
    });
  return lines.toReversed();
}

interface Keyed {
  readonly object: KubeObject;
  readonly becomes: string;
  readonly acts: Acts;
}

/** Policies that do the same with packets, in the order that they will have: all of them, and those of each namespace. */
interface Alike {
  readonly acts: Acts;
  readonly all: Keyed[];
  readonly ofNamespace: Map<string | undefined, Keyed[]>;
}

/** What comes after a policy now. Thousands may have one order, so no two are compared with each other. */
class After {
  /** There are few: what policies do is one of some actions, in two directions. */
  readonly #alike = new Map<string, Alike>();

  add(policy: Keyed): void {
    const { acts, object } = policy;
    const key = JSON.stringify([...acts].map(([way, actions]) => [way, ...[...actions].sort()]));
    const alike = this.#alike.get(key) ?? { acts, all: [], ofNamespace: new Map() };
    this.#alike.set(key, alike);
    const { namespace } = object.metadata;
    const own = alike.ofNamespace.get(namespace) ?? [];
    alike.ofNamespace.set(namespace, own);
    for (const list of [alike.all, own]) list.splice(countBefore(list, policy.becomes), 0, policy);
  }

  /** Those that will come before it, and decide otherwise: of each list how many, and the first. Those of two namespaces select no endpoint in common. */
  passing({ object, becomes, acts }: Keyed): readonly { readonly count: number; readonly first: Keyed }[] {
    const { namespace } = object.metadata;
    return [...this.#alike.values()]
      .filter((alike) => differ(alike.acts, acts))
      .flatMap(({ all, ofNamespace }) =>
        namespace === undefined ? [all] : [ofNamespace.get(namespace) ?? [], ofNamespace.get(undefined) ?? []],
      )
      .flatMap((list) => {
        const [first] = list;
        const count = countBefore(list, becomes);
        return first !== undefined && count > 0 ? [{ count, first }] : [];
      });
  }
}

/** Of a list in that order. */
function countBefore(list: readonly Keyed[], becomes: string): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.becomes ?? '') < becomes) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `PolicyKVLess` of the agents: by the name that is stored, with its namespace before it. */
function keyBefore({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function keyAfter(object: KubeObject, profile: Names): string {
  return `${policyName(object, profile)}/${object.metadata.namespace ?? ''}/${object.kind}`;
}

type Acts = ReadonlyMap<string, ReadonlySet<string>>;

/** What its rules do with packets, by direction, and where they stand before others: `ingress of preDNAT: Deny`. */
function actsOf({ spec }: KubeObject): Acts {
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
function differ(a: Acts, b: Acts): boolean {
  return [...a].some(([way, acts]) => {
    const others = b.get(way) ?? new Set();
    return acts.size > 0 && others.size > 0 && new Set([...acts, ...others]).size > 1;
  });
}
