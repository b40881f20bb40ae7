import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { look, text } from '../../kernel/step.ts';
import { applyCrds, type CrdFacts, changes, readCrdFacts } from '../install-manifest/index.ts';
import { type CrdsJudged, crdsChecks, crdsPlan, LEFT_TO_OPERATOR, readHealth } from '../install-operator/index.ts';
import { pathPart } from '../survey/index.ts';
import { isDeployed } from './operator-image.ts';

const AT_ONCE = 'run apply at once: an old operator that restarts with the new CRDs does not come up';

/** The chart's new operator applies the CRDs itself: as asked for, or because the installed one would put its own back (domain §11.5). */
export function leavesCrds({ options }: Pick<Context, 'options'>, { restoresCrds }: Pick<Installation, 'restoresCrds'>): boolean {
  return options.manageCrds === true || restoresCrds;
}

interface ChartCrdsFacts extends CrdsJudged {
  /** Undefined where the chart's new operator applies them itself. */
  readonly facts: CrdFacts | undefined;
}

/** The new CRDs before the chart's new operator starts (§4.2). */
export const chartCrds = pathPart<ChartCrdsFacts>({
  checks: crdsChecks,
  async survey(sources, context, installation) {
    const { goal } = context;
    const facts = leavesCrds(context, installation) ? undefined : await readCrdFacts(sources, context, installation);
    const writes = facts !== undefined && changes(facts);
    const [record, upgraded, health] = await Promise.all([
      sources.records.load(),
      writes && isDeployed(sources.cluster, installation, goal.release),
      writes ? readHealth(sources, context, installation) : undefined,
    ]);
    // How many pods the operator gets, the chart says: apply evaluates it.
    return { installation, record, facts, previews: facts?.previews ?? [], writes, upgraded, atZero: [], health };
  },
  plan({ facts, installation }, context) {
    if (!facts) return { skip: context.options.manageCrds ? 'the new operator applies the CRDs itself (--manage-crds)' : LEFT_TO_OPERATOR };
    return crdsPlan(facts, () => {
      refuseMisplaced(installation, context);
      return { actions: applyCrds(facts, '§4.2/1', context, installation), notes: [AT_ONCE] };
    });
  },
});

/** What `apply` always refuses is refused before the CRDs, as an old operator must not meet new ones (NS-244). */
function refuseMisplaced({ chart, operator }: Installation, { options }: Context): void {
  if (!chart || !operator || chart.namespace === operator.namespace || options.moveRelease) return;
  throw new Fault(
    'blocked',
    `release ${chart.namespace}/${chart.name} is not in the namespace of its operator, ${operator.namespace}: it cannot be upgraded there`,
    ['have it moved with --move-release', look(text`see: ${command`kubectl netsvc-upgrade explain NS-244`}`)],
  );
}
