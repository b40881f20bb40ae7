import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { refText } from '../../kernel/object.ts';
import { failed, failIfAny, sameFile, table } from '../survey/index.ts';
import { withStored } from './chart-checks.ts';
import type { ChartCheck, ChartJudged, FieldConflict, TargetChart } from './chart-facts.ts';
import { dryRunsOnServer, keepsValues } from './helm-argv.ts';

export const chartTargetChecks: readonly ChartCheck[] = table({ category: 'manifest', severity: 'error', ref: '§4.2/2' }, [
  {
    id: 'NS-234',
    title: 'chart tool fits the release',
    category: 'tools',
    isNeverWaived: true,
    judge({ helm }) {
      const version = read(helm);
      if (version.major < 3)
        return failed(`helm ${version.text} cannot upgrade such a release`, 'Put helm 3.14 or newer on PATH.', {
          next: command`helm version`,
        });
      const how = keepsValues(version) ? 'keeps the values of the release' : 'is given the values of the release as a file';
      return ok(`helm ${version.text} ${how}`);
    },
  },
  {
    id: 'NS-235',
    title: 'chart of the target release',
    ref: '§9/8',
    isNeverWaived: true,
    judge({ target }, { goal, profile }) {
      const { name, version, place, named } = read(target);
      if (name !== profile.operator.chart) {
        return failed(`${place} is the chart ${name}, not ${profile.operator.chart}`, 'Name the operator’s chart with --chart.', {
          next: command`helm show chart ${named}`,
        });
      }
      if (version === goal.release) return ok(`${name} ${version} from ${place}`);
      return failed(`${place} is ${name} ${version}, not ${goal.release}`, 'Give the chart of the target release, or name that release.', {
        next: command`kubectl netsvc-upgrade preflight --release ${version}`,
      });
    },
  },
  /** Its templates run with the rights of whoever upgrades, and read what they like: Secrets among it. */
  {
    id: 'NS-248',
    title: 'SHA-256 of the target chart confirmed',
    judge({ target, upgraded }) {
      const { sha256, unconfirmed, place, ...of } = read(target);
      if (upgraded) return notApplicable('the release is upgraded already');
      if (sha256 === undefined) return notApplicable(`${place} is a folder`);
      if (!unconfirmed) return ok(`${chartFile(of)} has sha256 ${sha256}`);
      const file = chartFile(of);
      return failed(
        `${place} has sha256 ${sha256}, and this program does not know which one ${file} has to have: the chart is rendered without the cluster, and not installed`,
        `Compare it with what the publisher of the chart says, then confirm it with --artifact-digest ${file}=${sha256}.`,
        {
          evidence: [{ text: file, detail: `sha256 ${sha256}` }],
          byName: true,
          next: command`kubectl netsvc-upgrade plan --artifact-digest ${`${file}=${sha256}`}`,
        },
      );
    },
  },
  /** As for a manifest: a run continues with the very chart that it began with (exit 7). */
  {
    id: 'NS-206',
    title: 'target unchanged since the run began',
    judge({ target, record }) {
      const { sha256, place, ...of } = read(target);
      if (sha256 === undefined) return notApplicable(`${place} is a folder`);
      return sameFile(record, { file: chartFile(of), sha256, url: place });
    },
  },
  /** The default of newer charts takes the driver away (operator facts §3). */
  {
    id: 'NS-240',
    title: 'CSI driver kept by the chart upgrade',
    category: 'workloads',
    judge({ losesCsi, upgraded }, { profile }) {
      const csi = profile.operator.chartNames?.csi;
      if (csi === undefined || upgraded) return notApplicable('this upgrade does not decide about the CSI driver');
      if (!losesCsi) return ok('the CSI driver is not taken away');
      return failed(
        `the new chart takes the CSI driver away: its default of ${csi.value} is ${csi.off}`,
        `Keep it with a file for --values that sets ${csi.value} to the kubelet's folder (usually /var/lib/kubelet); accept by name what may go.`,
        { evidence: [{ text: 'CSI driver' }], next: command`kubectl netsvc-upgrade explain NS-240` },
      );
    },
  },
  /** The server renders and validates the upgrade as it will be made; nothing is stored. */
  {
    id: 'NS-239',
    title: 'chart upgrade accepted beforehand',
    judge: withStored((_stored, facts, { options }) => {
      const { trial, helm, upgraded, misplaced } = facts;
      if (upgraded) return notApplicable('the release is upgraded already');
      if (misplaced && !options.moveRelease) return notApplicable('the release is not upgraded where it is: see NS-244');
      if ('value' in helm && !dryRunsOnServer(helm.value)) {
        return failed(
          `helm ${helm.value.text} cannot ask the server beforehand`,
          'Use helm 3.13 or newer to have the values checked first.',
          { next: command`helm version`, severity: 'warning' },
        );
      }
      const answer = read(trial);
      if (answer.type === 'accepted') return ok(`the server accepts all ${counted(answer.documents.length, 'object')} of the upgrade`);
      if (answer.type === 'untold') return notApplicable(answer.because);
      return refusal(answer.because, facts);
    }),
  },
  /** helm 4 stops at a field of another in a server-side release, with a failed revision; all else is mostly written over (operator facts §3). */
  {
    id: 'NS-241',
    title: 'no field taken by the chart upgrade',
    judge: withStored((_stored, { conflicts, upgraded }) => {
      if (upgraded) return notApplicable('the release is upgraded already');
      if (conflicts === undefined) return notApplicable('not known before the server accepts the upgrade: see NS-239');
      const found = read(conflicts);
      if (found.length === 0)
        return ok('helm writes no field that another manager has set to something else, and puts back nothing that was removed');
      return failed(
        undone(found),
        'Put what you want to keep into a file for --values; accept by name to set all of these fields to the chart’s values.',
        {
          next: command`kubectl netsvc-upgrade explain NS-241`,
          exit: 'conflicts',
          evidence: found.map(({ ref, change, manager }) => ({
            text: `${refText(ref)} ${change.path}`.trim(),
            detail: manager === undefined ? 'removed in the cluster' : `set by ${manager}`,
          })),
        },
      );
    }),
  },
  /** helm silently ignores a value that no template reads any more. */
  {
    id: 'NS-242',
    title: 'chart values known to the target chart',
    severity: 'warning',
    judge: withStored((_stored, { forgottenValues, target, upgraded }, { goal }) => {
      if (upgraded) return notApplicable('the release is upgraded already');
      const { named } = read(target);
      const evidence = forgottenValues.map((text) => ({ text }));
      return failIfAny(evidence, 'the target chart names every value that the installed one names and you have set', (names) => ({
        because: `the chart of ${goal.release} no longer names ${counted(forgottenValues.length, 'value')} that you have set: ${names}`,
        hint: 'Find the new names in the values of the target chart, and set them in a file for --values. Values that the chart no longer reads have no effect.',
        next: command`helm show values ${named}`,
      }));
    }),
  },
]);

/** Under which name the digest of a chart is recorded. */
export function chartFile({ name, version }: Pick<TargetChart, 'name' | 'version'>): string {
  return `${name}-${version}.tgz`;
}

function refusal(because: string, { lostData }: ChartJudged): Verdict {
  const fact = `helm would refuse the upgrade: ${because}`;
  if (!/from current release manifest/.test(because)) {
    const hint = 'Correct the value, or the object, that it names; values of your own go into a file with --values.';
    return failed(fact, hint, { next: command`kubectl netsvc-upgrade plan -o wide` });
  }
  const gone = 'The release names kinds that this server no longer has.';
  // Today nothing but this refusal keeps helm from deleting what NS-243 names.
  const isSafe = 'value' in lostData && lostData.value.length === 0;
  return isSafe
    ? failed(fact, `${gone} Update its record with the helm plugin mapkubeapis.`, { next: command`helm plugin list` })
    : failed(fact, `${gone} First fix NS-243. Then update the record with the helm plugin mapkubeapis.`, {
        next: command`kubectl netsvc-upgrade explain NS-243`,
      });
}

export function undone(found: readonly FieldConflict[]): string {
  const managers = found.flatMap(({ manager }) => manager ?? []);
  const removed = found.length - managers.length;
  const set = `set ${counted(managers.length, 'field')} that ${[...new Set(managers)].join(', ')} has set otherwise, or stop there`;
  const back = `put back ${counted(removed, 'field or object', 'fields or objects')} that someone has removed`;
  return `helm would ${[...(managers.length > 0 ? [set] : []), ...(removed > 0 ? [back] : [])].join('; and ')}`;
}
