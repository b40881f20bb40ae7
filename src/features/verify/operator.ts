import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { deployedOperatorImage } from '../install-chart/index.ts';
import type { OperatorLag } from '../install-operator/index.ts';
import { operatorImage, operatorLags, readExpectation, readOperatorView } from '../install-operator/index.ts';

/** What lags by the rule for the end, at one look; undefined on paths without an operator. */
export async function readOperatorLags(
  sources: Sources,
  context: Context,
  installation: Installation,
): Promise<readonly OperatorLag[] | undefined> {
  const { path } = installation;
  if (path !== 'operator' && path !== 'chart') return undefined;
  const expected = await readExpectation(sources, context, installation, path === 'operator' ? operatorImage : releasedImage);
  return operatorLags(await readOperatorView(sources.cluster, expected, sources.clock.now().getTime()));
}

/** No chart is rendered to verify: where the release does not tell the image, statuses, release and API are judged all the same. */
async function releasedImage(sources: Sources, context: Context, installation: Installation): Promise<string> {
  const workload = installation.operator && refText({ kind: 'Deployment', ...installation.operator });
  const running = installation.components.find((one) => one.component === 'operator' && one.workload === workload)?.image;
  return (await deployedOperatorImage(sources, context, installation)) ?? running ?? '';
}
