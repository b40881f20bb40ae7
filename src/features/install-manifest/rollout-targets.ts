import type { Context } from '../../kernel/context.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { rolloutTargets } from '../rollout/index.ts';
import type { Target } from './target-file.ts';

/** Every workload of the target, in the order in which they are rolled. */
export function targetsOf(context: Context, target: Target, variantId: string): readonly RolloutTarget[] {
  const variant = context.profile.variants.find((one) => one.id === variantId);
  if (!variant) return [];
  const addOns = target.addOns.flatMap(({ id, manifest }) => {
    const addOn = context.profile.addOns.find((one) => one.id === id);
    return addOn ? [{ addOn, documents: manifest.documents.map((one) => one.object) }] : [];
  });
  return rolloutTargets(variant, { documents: target.manifest.documents.map((one) => one.object) }, addOns);
}
