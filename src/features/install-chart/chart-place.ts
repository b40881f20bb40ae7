import { command } from '../../kernel/argv.ts';
import { type Check, notApplicable, ok, read } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { refText } from '../../kernel/object.ts';
import { parseRelease } from '../../kernel/release.ts';
import { noneAtZero } from '../rollout/index.ts';
import { failed, listed, table } from '../survey/index.ts';
import { chartReleaseChecks, withStored } from './chart-checks.ts';
import type { ChartCheck, ChartJudged } from './chart-facts.ts';
import { chartTargetChecks } from './chart-target.ts';

const chartPlaceChecks: readonly ChartCheck[] = table({ category: 'installation', severity: 'error', ref: '§4.2/2' }, [
  /** Charts up to v3.22 own the operator's namespace and live in another one; newer charts put the operator where the release is. */
  {
    id: 'NS-244',
    title: 'chart release in the namespace of its operator',
    isNeverWaived: true,
    judge: withStored(({ record }, { misplaced, upgraded }, { options }) => {
      const where = `release ${record.namespace}/${record.name}`;
      if (!misplaced) return ok(`${where} is in the namespace of its operator`);
      const { to, holdsOperator } = misplaced;
      const what = `${where} is not in the namespace of its operator, which is ${to}`;
      if (upgraded) return notApplicable('the release is upgraded already');
      const effect = `the new chart would start a second operator in ${record.namespace}`;
      if (!holdsOperator) {
        return failed(`${what}, and does not hold the operator: ${effect}`, 'Upgrade the operator where it comes from.', {
          next: command`kubectl get secrets -A -l owner=helm`,
        });
      }
      if (options.moveRelease) return ok(`${where} is moved to ${to}, which deletes nothing`);
      return failed(
        `${what}: ${effect} and delete what the old chart holds there, Namespace/${to} with its CA and certificates among it`,
        `Move the release to ${to} with --move-release: its objects are annotated for it, it is installed there with your values, and its old record is deleted.`,
        { evidence: [{ text: `${record.namespace}/${record.name}` }], next: command`kubectl netsvc-upgrade plan --move-release` },
      );
    }),
  },
  /** A chart that holds the operator's as one of several: upgrading it to the operator's alone deletes the rest. */
  {
    id: 'NS-246',
    title: 'release of the chart that is upgraded',
    judge: withStored(({ base }, { upgraded }, { profile, goal }) => {
      const { name, version } = base.chart;
      if (upgraded) return ok(`the release is of the chart ${name}`);
      // The service's own chart has the version of the service: others have used its name for charts of theirs.
      const [own, target] = [parseRelease(version), parseRelease(goal.release)];
      if (name === profile.operator.chart && own && target && own.major !== target.major) {
        return failed(
          `the release is of another chart that is also called ${name}: its version is ${version}, and those of ${profile.title} are v${target.major}`,
          'Read its values: they mean something else there. Upgrade by its own procedure, or accept by name if you have made it from the service’s chart.',
          { evidence: [{ text: name, detail: version }], next: command`helm get values ${base.name} --namespace ${base.namespace}` },
        );
      }
      if (name === profile.operator.chart) return ok(`the release is of the chart ${name}`);
      return failed(
        `the release is of the chart ${name}, not ${profile.operator.chart}: what else it holds would be deleted`,
        'Upgrade the operator in that chart. Accept by name where it is the same chart under another name.',
        { evidence: [{ text: name }], next: command`helm get manifest ${base.name} --namespace ${base.namespace}` },
      );
    }),
  },
  /** What the chart tool deletes with its content: the new chart no longer has it (operator facts §3). */
  {
    id: 'NS-243',
    title: 'chart upgrade deletes no namespace and no data',
    category: 'resources',
    isNeverWaived: true,
    judge: withStored(({ base }, { lostData, misplaced, upgraded }) => {
      if (upgraded) return notApplicable('the release is upgraded already');
      if (misplaced) return notApplicable('the release is not upgraded where it is: see NS-244');
      const lost = read(lostData);
      const [first] = lost;
      if (first === undefined) return ok('the upgrade of the release deletes no namespace and nothing with data');
      const from = `${base.chart.name} ${base.chart.version}`;
      const names = lost.map(refText);
      const object = [first.kind.toLowerCase(), first.name, ...(first.namespace ? ['--namespace', first.namespace] : [])];
      return failed(
        `the upgrade would delete ${counted(lost.length, 'object')} with what is in them: ${listed(names)}; ${from} holds them, the new chart does not`,
        'Mark each live object to be kept, then run again. helm reads the mark from the live object.',
        {
          evidence: lost.map((ref) => ({ text: refText(ref), object: ref })),
          fix: repairCommand`kubectl annotate ${object} helm.sh/resource-policy=keep`,
          next: command`kubectl get ${object} -o yaml`,
        },
      );
    }),
  },
  /** `helm uninstall` of what a move has left would delete the operator. */
  {
    id: 'NS-245',
    title: 'no old record of a moved chart release',
    severity: 'warning',
    judge: withStored(({ record }, { oldRecords }, { options }) => {
      if (oldRecords.length === 0) return ok(`release ${record.name} is stored in one namespace`);
      const names = oldRecords.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      if (options.moveRelease) return ok(`deleted with the move: ${listed(names)}`);
      return failed(
        `the release was moved to ${record.namespace}, and its old record is still there: ${listed(names)}`,
        'Delete it with --move-release: helm uninstall of the old record would delete the operator, and its namespace.',
        { evidence: names.map((text) => ({ text })), next: command`kubectl netsvc-upgrade apply --move-release` },
      );
    }),
  },
]);

/** The stored release's values and objects decide which operator runs, with all its rights: a weaker store needs the user's word. */
export const releaseInSecrets: Check<Pick<ChartJudged, 'stored'>> = {
  id: 'NS-247',
  title: 'chart release stored in Secrets',
  category: 'installation',
  severity: 'error',
  ref: '§4.2/2',
  judge: withStored(({ storage, object, record: { name, namespace } }) => {
    const subject = `${namespace}/${name}`;
    if (storage !== 'ConfigMap') return ok(`release ${subject} is in ${object}`);
    return failed(
      `release ${subject}: it is read from ${object}, and more accounts may write ConfigMaps than Secrets`,
      `Read its values, for they decide which operator runs. If they are yours: --accept NS-247=${subject}. If not, delete ${object} in namespace ${namespace}.`,
      {
        evidence: [{ text: subject, detail: object }],
        byName: true,
        eachByName: true,
        next: command`HELM_DRIVER=configmap helm get values ${name} --namespace ${namespace}`,
      },
    );
  }),
};

/** The checks of a chart upgrade in the order in which they are shown. */
export const chartChecks: readonly ChartCheck[] = [
  ...chartTargetChecks,
  ...chartReleaseChecks,
  releaseInSecrets,
  ...chartPlaceChecks,

  noneAtZero,
];
