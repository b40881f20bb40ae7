import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { readTarget, type Target, variantOf } from '../install-manifest/index.ts';
import { neededTarget } from '../rollout/index.ts';

/** What the operator's Deployment must become; its name is the live one, which the target has been found to have. */
export function operatorTarget(target: Target, context: Context, installation: Installation): RolloutTarget {
  const { agent } = variantOf(context, installation);
  const { namespace, name } = installation.operator ?? agent;
  const documents = target.manifest.documents.map(({ object }) => object);
  const found = neededTarget({ ...agent, namespace, name }, { documents });
  if (found) return found;
  throw new Error(`${target.file} has no container ${agent.container} in Deployment ${namespace}/${name}`);
}

/** The image that the operator gets (point 1 of the rule for the end). */
export async function operatorImage(sources: Sources, context: Context, installation: Installation): Promise<string> {
  return operatorTarget(await readTarget(sources, context, installation), context, installation).image;
}
