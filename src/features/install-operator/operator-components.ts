import { groupOf, type KubeObject } from '../../kernel/object.ts';
import { imageAge } from '../../kernel/release.ts';
import type { OperatorLag, OperatorView } from './operator-view.ts';
import { workloadLags } from './operator-workloads.ts';

/** What lags among the workloads of the components (point 4 of the rule). */
export function componentLags(view: OperatorView): readonly OperatorLag[] {
  const { workloads, names, target } = view;
  const there = new Set(workloads.map(nameOf));
  const missing = names.required.filter((one) => !there.has(one)).map((subject) => ({ point: 4 as const, subject, why: 'does not exist' }));
  const lagging = workloads.flatMap((one) => {
    const standing = standingOf(one, view);
    if (standing === 'foreign') return [];
    const subject = `${one.kind}/${one.metadata.namespace ?? ''}/${one.metadata.name}`;
    const wayOut = `; if it is not the operator’s, move it out of ${names.workloads}: it is waited for there`;
    return workloadLags(one, (image) => imageLag(image, target), standing === 'required').map((why) => {
      return { point: 4 as const, subject, why: standing === 'untold' ? `${why}${wayOut}` : why };
    });
  });
  return [...missing, ...lagging];
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`;
}

/**
 * Whose a workload in the namespace of the components is. The operator owns all that it makes: where it owns what must be there, what
 * it does not own is somebody else's, and says nothing about the end.
 */
function standingOf(workload: KubeObject, { workloads, names }: OperatorView): 'required' | 'owned' | 'foreign' | 'untold' {
  const isRequired = (one: KubeObject) => names.required.includes(nameOf(one));
  const isOwned = ({ metadata }: KubeObject) =>
    metadata.ownerReferences?.some((owner) => groupOf(owner.apiVersion) === names.installation.group) === true;
  if (isRequired(workload)) return 'required';
  if (isOwned(workload)) return 'owned';
  return workloads.filter(isRequired).some(isOwned) ? 'foreign' : 'untold';
}

function imageLag(image: string, { release, registry, digests }: OperatorView['target']): string {
  if (registry !== undefined && !image.startsWith(registry)) return `runs ${image}, which is not from ${registry}`;
  const age = imageAge(image, release, digests);
  if (age === 'untold') return `runs ${image}, which tells no release: an ImageSet of ${release} with its digest would`;
  return age === 'of' ? '' : `runs ${image}, not ${release}`;
}
