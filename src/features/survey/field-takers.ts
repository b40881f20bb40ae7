import type { Writer } from '../../kernel/edit.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { PlannedObject, Taker } from '../../kernel/plan.ts';
import { gitOpsOwners, toolOf } from './managed-by.ts';

type Known = Pick<Taker, 'name' | 'kind' | 'hint'>;

interface Sign extends Known {
  /** Field managers by the beginning of their name. */
  readonly managers: readonly string[];
  /** Only through this subresource. */
  readonly subresource?: string;
  /** A controller, unlike helm and delivery tools, which write the user's wish. */
  readonly writesOnItsOwn?: true;
}

/** Its writes come from kube-controller-manager: which one it is, only a list of them tells. */
export const AUTOSCALER = 'a HorizontalPodAutoscaler';

const SCALES = 'It sets its number again within seconds, as long as its own bounds allow that: change those.';
const AGAIN = 'It writes its value again whenever it runs: change that where it is configured.';
const CREATED = 'The object was created with it; nothing sets it again.';
const BY_HAND = 'To keep a value of yours, set it in a copy of the target manifest and give that with --upgrade-file.';

/** Who stands behind a field manager; the first that fits. */
const SIGNS: readonly Sign[] = [
  {
    name: AUTOSCALER,
    kind: 'autoscaler',
    managers: ['kube-controller-manager', 'horizontal-pod-autoscaler'],
    subresource: 'scale',
    hint: SCALES,
  },
  { name: 'cluster-proportional-autoscaler', kind: 'autoscaler', managers: ['cluster-proportional-autoscaler'], hint: SCALES },
  {
    name: 'cluster-proportional-vertical-autoscaler',
    kind: 'autoscaler',
    managers: ['cpvpa', 'cluster-proportional-vertical-autoscaler'],
    hint: SCALES,
  },
  { name: 'KEDA', kind: 'autoscaler', managers: ['keda'], hint: SCALES },
  { name: 'a VerticalPodAutoscaler', kind: 'autoscaler', managers: ['vpa-', 'vertical-pod-autoscaler'], hint: SCALES },
  { name: 'addon-resizer', kind: 'autoscaler', managers: ['addon-resizer', 'pod_nanny'], hint: SCALES },
  { name: 'kubectl scale', kind: 'person', managers: ['kubectl'], subresource: 'scale', hint: BY_HAND },
  { name: 'kubectl create', kind: 'person', managers: ['kubectl-create'], hint: CREATED },
  { name: 'kubectl', kind: 'person', managers: ['kubectl-', 'kubectl'], hint: BY_HAND },
  {
    name: 'helm',
    kind: 'other',
    managers: ['helm', 'Helm'],
    hint: 'The next upgrade of its release puts its values back: change them there.',
  },
  { name: 'a cloud controller', kind: 'other', managers: ['cloud-controller-manager'], hint: AGAIN, writesOnItsOwn: true },
  { name: 'cert-manager', kind: 'other', managers: ['cert-manager-', 'cainjector'], hint: AGAIN, writesOnItsOwn: true },
  { name: 'the mesh Istio', kind: 'other', managers: ['istio', 'pilot-discovery'], hint: AGAIN, writesOnItsOwn: true },
  { name: 'the mesh Linkerd', kind: 'other', managers: ['linkerd'], hint: AGAIN, writesOnItsOwn: true },
  { name: 'Kyverno', kind: 'other', managers: ['kyverno'], hint: AGAIN, writesOnItsOwn: true },
  {
    name: 'a controller of Kubernetes',
    kind: 'other',
    managers: ['kube-controller-manager', 'kube-apiserver'],
    hint: AGAIN,
    writesOnItsOwn: true,
  },
];

/** Who writes this field on its own, if a field manager shows one; undefined for users and tools that apply their wish. */
export function writerBehind({ manager, subresource }: { readonly manager: string; readonly subresource?: string }): Writer | undefined {
  const sign = signOf(manager, subresource);
  if (!sign) return undefined;
  if (sign.kind === 'autoscaler') return { name: sign.name, scales: true };
  return sign.writesOnItsOwn && { name: sign.name, scales: false };
}

/** True of those who restore their value on their own, whatever is applied: nobody's work is lost. */
export function writesAgain({ kind, manager = '', subresource }: Pick<Taker, 'kind' | 'manager' | 'subresource'>): boolean {
  return kind === 'gitops' || writerBehind({ manager, ...(subresource === undefined ? {} : { subresource }) }) !== undefined;
}

/** Everyone whose fields an apply takes, and the delivery tools that own the object though none of their fields is touched. */
export function takersOf(live: KubeObject, taken: PlannedObject['taken'], changes: boolean): readonly Taker[] {
  const groups = Map.groupBy(taken, ({ manager, subresource }) => `${manager}|${subresource ?? ''}`);
  const found = [...groups.values()].flatMap((fields) => {
    const [first] = fields;
    if (!first) return [];
    const { manager, subresource } = first;
    return [{ ...knownOf(first, live), manager, ...(subresource === undefined ? {} : { subresource }), fields: fields.length }];
  });
  const marks = changes ? gitOpsOwners([live]).filter(({ name }) => !found.some((one) => one.name === name)) : [];
  return [...found, ...marks.map(({ name, hint }) => ({ name, kind: 'gitops' as const, fields: 0, hint }))];
}

function knownOf({ manager, subresource }: PlannedObject['taken'][number], live: KubeObject): Known {
  // The tool of this very manager, with the names of its application from the object's marks.
  const only = { ...live, metadata: { ...live.metadata, managedFields: [{ manager }] } };
  const tool = gitOpsOwners([only]).find(({ name }) => name === toolOf(manager));
  if (tool) return { name: tool.name, kind: 'gitops', hint: tool.hint };
  const sign = signOf(manager, subresource);
  if (sign) return { name: sign.name, kind: sign.kind, hint: sign.hint };
  return { name: manager === '' ? 'somebody who gave no name' : manager, kind: 'other', hint: AGAIN };
}

function signOf(manager: string, subresource: string | undefined): Sign | undefined {
  return SIGNS.find((one) => one.managers.some((name) => manager.startsWith(name)) && (one.subresource ?? subresource) === subresource);
}
