import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { chartOperatorImage } from '../install-chart/index.ts';
import { addOnsOf, readTarget, variantOf } from '../install-manifest/index.ts';
import { type OperatorImageOf, operatorImage, readExpectation, stillBringing } from '../install-operator/index.ts';
import type { Awaited } from '../ownerrefs/index.ts';
import { readNodes, readRollouts, rolloutTargets } from '../rollout/index.ts';

/** What is left of the upgrade before every pod of the API server is new, on any install path. */
export async function upgradeWaits(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  const [rollout, operator] = await Promise.all([
    apiServerRollout(sources, context, installation),
    operatorsWork(sources, context, installation),
  ]);
  return [...rollout, ...operator];
}

async function apiServerRollout(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  if (!installation.hasApiServer || !['manifest', 'kvstore'].includes(installation.path)) return [];
  const target = await readTarget(sources, context, installation);
  const addOns = target.addOns.flatMap(({ id, manifest }) => {
    const addOn = id === 'apiserver' ? addOnsOf(context, installation).find((one) => one.id === id) : undefined;
    return addOn ? [{ addOn, documents: manifest.documents.map(({ object }) => object) }] : [];
  });
  const own = rolloutTargets(variantOf(context, installation), { documents: [] }, addOns);
  const progress = await readRollouts(sources, own, await readNodes(sources));
  const open = progress.filter(({ done }) => !done).map(({ target: one }) => one);
  if (open.length === 0) return [];
  const until = { type: 'rollout', targets: open, maxFailed: context.options.maxFailed } as const;
  return [{ until, title: `wait for ${open.map(refText).join(', ')}` }];
}

const IMAGES: Readonly<Partial<Record<Installation['path'], OperatorImageOf>>> = { operator: operatorImage, chart: chartOperatorImage };

/** Where an operator moves the API server: whether all its pods are new is part of the rule for the end of the whole upgrade (§4.3/2). */
async function operatorsWork(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  const imageOf = IMAGES[installation.path];
  // With --undo nothing is waited for.
  if (!installation.hasApiServer || imageOf === undefined || context.options.undo) return [];
  const until = await readExpectation(sources, context, installation, imageOf);
  const title = `wait until the operator has upgraded every component to ${until.target.release}`;
  return (await stillBringing(sources, until)) ? [{ until, title }] : [];
}
