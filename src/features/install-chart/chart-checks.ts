import { type Command, command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { continues } from '../../kernel/run-record.ts';
import { type Said, text } from '../../kernel/step.ts';
import { failed, listed, type PreflightCheck, table } from '../survey/index.ts';
import type { ChartCheck, ChartJudged, StoredRelease, Takeover } from './chart-facts.ts';
import type { HelmRecord } from './helm-record.ts';

/** Evaluates only what there is a release for: NS-231 says once why there is none. */
export function withStored<Facts extends Pick<ChartJudged, 'stored'>>(
  judge: (stored: StoredRelease, facts: Facts, context: Context) => Verdict,
): (facts: Facts, context: Context) => Verdict {
  return (facts, context) => {
    if ('unread' in facts.stored) return notApplicable('the chart release could not be read: see NS-231');
    return judge(facts.stored.value, facts, context);
  };
}

export const chartReleaseChecks: readonly ChartCheck[] = table({ category: 'installation', severity: 'error', ref: 'domain §11.4' }, [
  {
    id: 'NS-231',
    title: 'chart release readable',
    ref: '§4.2/2',
    isNeverWaived: true,
    judge({ stored }) {
      const { record, object } = read(stored);
      return ok(`${record.namespace}/${record.name} revision ${record.revision}, ${record.chart.name} ${record.chart.version} (${object})`);
    },
  },
  /** The state in which the last operation left the release; the chart tool refuses to continue from most of them (domain §2.2). */
  {
    id: 'NS-232',
    title: 'chart release settled',
    ref: 'domain §2.2',
    judge: withStored((stored, facts, context) => {
      const { record } = stored;
      if (record.status === 'deployed') return ok(`revision ${record.revision} is deployed`);
      const what = `revision ${record.revision} of ${record.namespace}/${record.name} is ${record.status}: ${record.description || 'no reason given'}`;
      if (facts.takeover) return interruptedRevision(what, facts.takeover, record);
      if (record.status === 'failed') return failedRevision(what, stored, facts, context);
      if (!hasOneBefore(record))
        return failed(what, 'Finish or undo that operation first, with what began it: helm, Argo CD or Flux.', { next: historyOf(record) });
      return failed(what, pendingHint(stored), { next: historyOf(record) });
    }),
  },
  /** A release that keeps the old operator would say that it is upgraded while nothing is (domain §11.4). */
  {
    id: 'NS-233',
    title: 'operator not pinned by chart values',
    judge({ pins, stored, target }) {
      read(stored);
      read(target);
      if (pins.length === 0) return ok('no value holds the operator at another release');
      const all = pins.map(({ value, pinned }) => `${value}=${pinned}`).join(', ');
      const wanted = pins.map(({ value, target: to }) => `${value}: ${to ?? 'the chart’s own'}`).join(', ');
      const evidence = pins.map(({ value, pinned }) => ({ text: value, detail: pinned }));
      return failed(
        `the values of the release pin the operator: ${all}`,
        `Give the target's own in a file with --values (${wanted}): with the pin the release would be upgraded and the service would not.`,
        { evidence, next: command`kubectl netsvc-upgrade explain NS-233` },
      );
    },
  },
  /** Option 2 of §4.2 needs an operator that can do it, on both sides. */
  {
    id: 'NS-238',
    title: 'operator able to apply CRDs by itself',
    ref: '§4.2',
    judge({ managesCrds, stored, target }, { goal, options }) {
      if (!options.manageCrds) return notApplicable('the CRDs are applied first');
      read(stored);
      read(target);
      if (managesCrds.target) return ok('the operator of the target applies the CRDs by itself');
      return failed(
        `the chart of ${goal.release} cannot have its operator apply CRDs`,
        'Leave --manage-crds out: the CRDs are then applied first.',
        { next: command`kubectl netsvc-upgrade plan` },
      );
    },
  },
  /** Charts up to v3.17.1 hold the CRDs as ordinary objects: an upgrade to a chart without them deletes them, with all data (domain §11.4). */
  {
    id: 'NS-236',
    title: 'no CRD deleted by the chart upgrade',
    category: 'resources',
    isNeverWaived: true,
    judge: withStored(({ base }, { lostCrds }) => {
      if (lostCrds.length === 0) return ok('the upgrade of the release deletes no CRD');
      return failed(
        `the upgrade would delete ${counted(lostCrds.length, 'CRD')} with all ${lostCrds.length === 1 ? 'its' : 'their'} data: ${base.chart.name} ${base.chart.version} holds them as its own objects`,
        'Mark each of them to be kept, then run again; the mark has to be on the live CRD.',
        {
          evidence: lostCrds.map((name) => ({ text: `CustomResourceDefinition/${name}` })),
          fix: repairCommand`kubectl annotate crd ${lostCrds} helm.sh/resource-policy=keep`,
          next: command`kubectl get crd ${lostCrds}`,
        },
      );
    }),
  },
  {
    id: 'NS-237',
    title: 'no CRD of another chart release',
    category: 'resources',
    severity: 'warning',
    judge({ foreignCrds }) {
      if (foreignCrds.length === 0) return ok('no CRD belongs to another chart release');
      const owners = [...new Set(foreignCrds.map(({ owner }) => owner))].join(', ');
      return failed(
        `${counted(foreignCrds.length, 'CRD')} of another chart release: ${owners}`,
        'They are applied nevertheless. Upgrade that release to the same target afterwards, or its next upgrade puts the old ones back.',
        {
          evidence: foreignCrds.map(({ name, owner }) => ({ text: `CustomResourceDefinition/${name}`, detail: owner })),
          // Not `helm list`: it would ask whatever cluster helm is set to.
          next: command`kubectl get secrets -A -l owner=helm`,
        },
      );
    },
  },
]);

/** helm without --wait is at work for seconds. */
const QUIET_MS = 30_000;

export function interruptedRevision(
  what: string,
  { ref, quietMs }: Takeover,
  { namespace }: HelmRecord,
  again = command`kubectl netsvc-upgrade run`,
  oldOperator = 'Until then the old operator runs with the new CRDs, and cannot start again with them.',
): Verdict {
  const left = `${what}; it was left by the run that is resumed`;
  if (quietMs < QUIET_MS) {
    const hint = `It may still be at work: run the same command again in half a minute. ${oldOperator}`;
    return failed(left, hint, { next: again });
  }
  const mark = repairCommand`kubectl delete ${ref.kind.toLowerCase()} ${ref.name} --namespace ${namespace}`;
  return failed(left, text`Continue the run: it deletes the mark (${mark}) and begins again. ${oldOperator}`, {
    expected: true,
    next: again,
  });
}

/** Only an upgrade and a rollback mark a revision as theirs; any other record is all that helm knows of the release. */
function hasOneBefore({ status }: HelmRecord): boolean {
  return status === 'pending-upgrade' || status === 'pending-rollback';
}

function pendingHint({ record: { namespace, name, revision }, object }: StoredRelease): readonly Said[] {
  const copy = `${name}.v${revision}.yaml`;
  return [
    'See that nobody is at work on it: the command below shows since when it is pending. Ask whoever runs helm, Argo CD or Flux here.',
    'If it was never finished, store a copy of its record, then delete it. The revision before it stays, and the next run upgrades again.',
    text`copy:     ${command`kubectl get ${object} --namespace ${namespace} -o yaml`} > ${copy}`,
    text`delete:   ${repairCommand`kubectl delete ${object} --namespace ${namespace}`}`,
    text`put back: ${repairCommand`kubectl create -f ${copy}`}`,
  ];
}

export function historyOf({ name, namespace }: HelmRecord): Command {
  return command`helm history ${name} --namespace ${namespace}`;
}

function failedRevision(failure: string, { record, base }: StoredRelease, facts: ChartJudged, context: Context): Verdict {
  const ours = continues(facts.record, context) && record.chart.version === context.goal.release;
  const other = base.revision !== record.revision;
  const what = other ? `${failure}; helm takes the values and objects of revision ${base.revision}` : failure;
  const values = other ? ` Values that only revision ${record.revision} has count again only in a file for --values.` : '';
  if (ours)
    return failed(`${what}; it was left by the run that is resumed`, `Continue the run.${values}`, {
      expected: true,
      next: command`kubectl netsvc-upgrade run`,
    });
  const hint =
    'Fix the cause, or accept this check by name: the upgrade then starts from what is there. Do not use helm rollback once the new CRDs are there.';
  return failed(what, `${hint}${values}`, { next: historyOf(record) });
}

export const chartPreflightChecks: readonly PreflightCheck[] = [
  /** What `apply` would find now, told before anything is written (§4.2/2). */
  {
    id: 'NS-608',
    title: 'chart release can be upgraded',
    category: 'manifest',
    severity: 'error',
    ref: '§4.2/2',
    judge(facts, { chain }) {
      // In a chain that continues to it, its own findings are shown.
      if (chain?.later.includes('apply')) return notApplicable('checked by apply');
      const findings = read(facts.chart);
      if (findings === undefined) return notApplicable('this path does not use the chart tool');
      const open = findings.filter(({ outcome }) => outcome === 'error');
      const [first] = open;
      if (first === undefined) return ok('the chart release can be upgraded');
      const ids = listed(open.map(({ id }) => id));
      const conflicts = open.every(({ exit }) => exit === 'conflicts');
      const more = open.length > 1 ? ` (and ${counted(open.length - 1, 'more finding')}: the details of each are shown with -o wide)` : '';
      return failed(
        `${counted(open.length, 'finding')} against the upgrade of the chart release: ${ids}`,
        `${first.id}: ${first.hint ?? first.message}${more}`,
        {
          evidence: open.map(({ id, message }) => ({ text: id, detail: message })),
          next: first.next ?? command`kubectl netsvc-upgrade explain ${first.id}`,
          ...(conflicts ? { exit: 'conflicts' } : {}),
        },
      );
    },
  },
];
