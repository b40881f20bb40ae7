import type { Action } from '../../kernel/action.ts';
import { type Context, goingTo } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { PreconditionTypes } from '../../kernel/effect-type.ts';
import { Outdated } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { isRecord, type JsonMap, jsonAt, mapAt, sameValue, textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import type { Sources } from '../../kernel/ports.ts';
import { named } from '../../kube/lean-objects.ts';
import { hasEnded } from '../../kube/pod-facts.ts';
import { identityOf } from '../../manifest/prepare.ts';
import { attempt } from '../survey/index.ts';
import { readBaseOf } from './base.ts';
import { readCarriedThen } from './kept-edits.ts';
import type { Orphans } from './own-objects.ts';

/** Kinds whose use can be told; the order in which they go. Whatever else the upgrade added stays, and the plan names it. */
const ORDER = ['ClusterRoleBinding', 'RoleBinding', 'ClusterRole', 'Role', 'PodDisruptionBudget', 'ServiceAccount'];

/**
 * What the upgrade added, the older release has not and nothing uses any more. Only what the upgrade recorded as not there before counts: an
 * object of the same name that you made is yours. So is one into which you have put something since.
 */
export async function readAdded(
  sources: Sources,
  context: Context,
  installation: Installation,
  { live }: Orphans,
): Promise<readonly KubeObject[]> {
  const { takesBack } = context.goal;
  if (!takesBack || live.length === 0) return [];
  const added = new Set((await readCarriedThen(sources.records, takesBack))?.former?.added);
  const candidates = live.filter((one) => ORDER.includes(one.kind) && added.has(identityOf(one)));
  if (candidates.length === 0) return [];
  const read = await attempt(() => readBaseOf(sources, goingTo(context, takesBack.to), installation, takesBack.to));
  const released = new Map('value' in read ? read.value.map((one) => [identityOf(one), one]) : []);
  const same = candidates.filter((one) => isAsReleased(one, released.get(identityOf(one))));
  const changed = candidates.filter((one) => one.kind.endsWith('Role') && !same.includes(one));
  // A role that stays keeps those to whom it is given.
  const found = same.filter((one) => !changed.some(({ kind, metadata }) => refersTo(one, kind, metadata.name, metadata.namespace)));
  const isUsed = await readUses(sources, found.map(refOf), new Set(found.map(identityOf)));
  return found.filter((one) => !isUsed(refOf(one))).toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

/** A binding for somebody else, too, a budget with another content and a role with other rules have a use that nothing else tells. */
function isAsReleased(live: KubeObject, released: KubeObject | undefined): boolean {
  if (live.kind === 'ServiceAccount') return true;
  if (live.kind === 'PodDisruptionBudget') return released !== undefined && sameValue(live.spec, released.spec);
  if (live.kind.endsWith('Role')) return released !== undefined && sameValue(grantOf(live), grantOf(released));
  const own = new Set(subjectsOf(released).map(subjectText));
  return subjectsOf(live).every((one) => own.has(subjectText(one)));
}

/** What a role grants, and by which labels other roles take that over. */
function grantOf(role: KubeObject): readonly unknown[] {
  const labels = Object.entries(role.metadata.labels ?? {}).filter(([name]) => name.startsWith('rbac.authorization.k8s.io/aggregate-to-'));
  return [jsonAt(role, 'rules'), jsonAt(role, 'aggregationRule'), Object.fromEntries(labels)];
}

function subjectsOf(binding: KubeObject | undefined): readonly JsonMap[] {
  const subjects = jsonAt(binding, 'subjects');
  return Array.isArray(subjects) ? subjects.filter(isRecord) : [];
}

const subjectText = ({ kind, namespace = '', name }: JsonMap): string => [kind, namespace, name].join('/');

type Named = Pick<ObjectRef, 'kind' | 'name' | 'namespace'>;

/** Whether something uses one of them, besides what goes with them. */
async function readUses(
  { cluster }: Pick<Sources, 'cluster'>,
  found: readonly Named[],
  going: ReadonlySet<string> = new Set(),
): Promise<(object: Named) => boolean> {
  const isAsked = (...kinds: readonly string[]) => found.some(({ kind }) => kinds.includes(kind));
  const [whole, inNamespaces, users] = await Promise.all([
    isAsked('ClusterRole', 'ServiceAccount') ? cluster.list(K.ClusterRoleBinding) : [],
    isAsked('ClusterRole', 'Role', 'ServiceAccount') ? cluster.list(K.RoleBinding) : [],
    isAsked('ServiceAccount') ? eachOf(RUN_AS, 2, (kind) => cluster.list(kind, { keep: accountAlone })) : [],
  ]);
  const bindings = [...whole, ...inNamespaces].filter((one) => !going.has(identityOf(one)));
  return ({ kind, name, namespace }) => {
    if (kind === 'ClusterRole' || kind === 'Role') return bindings.some((one) => refersTo(one, kind, name, namespace));
    if (kind !== 'ServiceAccount') return false;
    const runsAs = (one: KubeObject) => !hasEnded(one) && one.metadata.namespace === namespace && jsonAt(one.spec, 'account') === name;
    return users.flat().some(runsAs) || bindings.some((one) => grantsTo(one, name, namespace));
  };
}

/** Nothing uses it, right before it is removed: the bindings of the upgrade have gone by then. */
interface Unused {
  readonly type: 'unused';
  readonly target: ObjectRef;
}

declare module '../../kernel/action.ts' {
  interface Preconditions {
    readonly unused: Unused;
  }
}

export const manifestPreconditions: Pick<PreconditionTypes, 'unused'> = {
  unused: {
    async assert({ cluster }, { target }) {
      if ((await readUses({ cluster }, [target]))(target)) throw new Outdated(`something uses ${refText(target)} by now`);
    },
  },
};

function refersTo(binding: KubeObject, kind: string, name: string, namespace: string | undefined): boolean {
  const role = mapAt(binding, 'roleRef');
  return role.kind === kind && role.name === name && (kind === 'ClusterRole' || binding.metadata.namespace === namespace);
}

function grantsTo(binding: KubeObject, name: string, namespace: string | undefined): boolean {
  return subjectsOf(binding).some((one) => one.kind === 'ServiceAccount' && one.name === name && one.namespace === namespace);
}

/** Pods, and what makes them when nobody looks: a CronJob between two runs, a workload at 0 replicas. */
const RUN_AS = [K.Pod, K.CronJob, K.DaemonSet, K.Deployment, K.StatefulSet] as const;

/** Whom it runs as, and what tells that a pod has ended. */
function accountAlone(user: KubeObject): KubeObject {
  const { spec } = user;
  const template = jsonAt(spec, 'template', 'spec') ?? jsonAt(spec, 'jobTemplate', 'spec', 'template', 'spec') ?? spec;
  const phase = textAt(user.status, 'phase');
  return { ...named(user, 'uid'), spec: { account: textAt(template, 'serviceAccountName') }, ...(phase ? { status: { phase } } : {}) };
}

/**
 * After everything else: until then newer workloads may use it. Each as it was read, and recorded first; `made`: what only the newer operator
 * makes, which goes whatever of it is still ending.
 */
export function removeAdded(added: readonly KubeObject[], made: readonly KubeObject[] = []): readonly Action[] {
  return [...made, ...added].map((object, index) => {
    const { resourceVersion } = object.metadata;
    const target = refOf(object);
    return {
      id: `added-${index + 1}`,
      title: `remove ${refText(target)}, which the upgrade added and nothing uses`,
      ref: '§4.4/2',
      undo: 'full',
      // Of what was added each is looked at right before.
      ...(index === 0 && made.length > 0 ? { afresh: true } : {}),
      keep: { changes: [changeTo(object, { '': undefined })] },
      effect: {
        type: 'delete',
        target,
        ...(resourceVersion ? { resourceVersion } : {}),
        ...(index < made.length ? {} : { onlyIf: { type: 'unused', target } }),
      },
    };
  });
}
