import { command } from '../../kernel/argv.ts';
import { type Check, ok } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { continues } from '../../kernel/run-record.ts';
import { noneAtZero } from '../rollout/index.ts';
import { failed } from '../survey/index.ts';
import { chartReleaseChecks, withStored } from './chart-checks.ts';
import type { ChartJudged, StoredRelease } from './chart-facts.ts';
import { chartPlaceChecks } from './chart-place.ts';
import { chartTargetChecks } from './chart-target.ts';

function doubtsOf({ storage, object, record }: StoredRelease, facts: ChartJudged, context: Context): readonly string[] {
  const inConfigMap = `it is read from ${object}, and more accounts may write ConfigMaps than Secrets`;
  const elsewhere = `the operator names namespace ${facts.named}, and any account that may write in ${record.namespace} could have stored it there`;
  // A move that this run began leaves it so until it ends.
  const isMoved = facts.named === undefined || continues(facts.record, context);
  return [...(storage === 'ConfigMap' ? [inConfigMap] : []), ...(isMoved ? [] : [elsewhere])];
}

function valuesOf({ storage, record: { name, namespace } }: StoredRelease): string {
  const values = command`helm get values ${name} --namespace ${namespace}`;
  return storage === 'ConfigMap' ? `HELM_DRIVER=configmap ${values}` : values;
}

/** The checks of a chart upgrade in the order in which they are shown. */
export const chartChecks: readonly Check<ChartJudged>[] = [
  ...chartTargetChecks,
  ...chartReleaseChecks,
  /**
   * The values of the stored release decide which operator runs, with all its rights. Helm is pointed at a store that more accounts may
   * write only where the user names the release.
   */
  {
    id: 'NS-247',
    title: 'chart release in Secrets where its operator says',
    category: 'installation',
    severity: 'error',
    ref: '§4.2/2',
    judge: withStored((stored, facts, context) => {
      const { name, namespace } = stored.record;
      const doubts = doubtsOf(stored, facts, context);
      if (doubts.length === 0) return ok(`release ${namespace}/${name} is in ${stored.object}`);
      const subject = `${namespace}/${name}`;
      return failed(
        `release ${subject}: ${doubts.join('; ')}`,
        `Read its values, for they decide which operator runs. If they are yours: --accept NS-247=${subject}. If not, delete ${stored.object} in namespace ${namespace}.`,
        {
          evidence: [{ text: subject, detail: stored.object }],
          byName: true,
          eachByName: true,
          next: valuesOf(stored),
        },
      );
    }),
  },

  ...chartPlaceChecks,

  noneAtZero,
];
