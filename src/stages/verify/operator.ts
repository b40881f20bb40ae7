import type { Context } from '../../core/context.ts';
import type { Installation } from '../../core/installation.ts';
import { operatorLags } from '../../core/operator-points.ts';
import type { OperatorLag } from '../../core/operator-view.ts';
import type { Sources } from '../../core/ports.ts';
import { readOperatorView } from '../../core/read-operator.ts';
import { readExpectation } from '../operator/end.ts';
import { operatorImage } from '../operator/target.ts';

/** What lags by the rule for the end, at one look; undefined on paths that it does not judge. */
export async function readOperatorLags(
  sources: Sources,
  context: Context,
  installation: Installation,
): Promise<readonly OperatorLag[] | undefined> {
  if (installation.path !== 'operator') return undefined;
  const expected = await readExpectation(sources, context, installation, operatorImage);
  return operatorLags(await readOperatorView(sources.cluster, expected, sources.clock.now().getTime()));
}
