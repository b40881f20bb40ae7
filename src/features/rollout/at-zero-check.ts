import { command } from '../../kernel/argv.ts';
import type { Check } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { WorkloadName } from '../../kernel/rollout.ts';
import { failIfAny, PROGRAM } from '../survey/index.ts';

/** A Deployment of which a pod must run, and which the upgrade would leave with none. */
export interface AtZero {
  readonly ref: Pick<WorkloadName, 'namespace' | 'name'>;
  /** Where the number stands; only one in the cluster can be fixed there. */
  readonly place: 'cluster' | 'file' | 'begun';
  /** The same for the user. */
  readonly from: string;
}

export interface ReplicasJudged {
  readonly atZero: readonly AtZero[];
}

/** Its pods would be waited for to the end of the time limit, and once begun the run writes the 0 again (§4.4/3). */
export const noneAtZero: Check<ReplicasJudged> = {
  id: 'NS-213',
  title: 'workloads that are waited for keep a replica',
  category: 'workloads',
  severity: 'error',
  ref: '§4.4/3',
  judge({ atZero }) {
    const evidence = atZero.map(({ ref, from }) => ({ text: `Deployment/${ref.namespace}/${ref.name}`, detail: from }));
    return failIfAny(evidence, 'what is waited for keeps a replica', (names) => ({
      because: `${counted(atZero.length, 'workload')} that the service needs would have no pod: ${names}`,
      hint: [...new Set(atZero.map(({ place }) => FIXES[place]))].join(' '),
      next: nextFor(atZero),
    }));
  },
};

const FIXES: Readonly<Record<AtZero['place'], string>> = {
  cluster: 'Scale it up, then run again.',
  file: 'Give it a replica in that file, then run again.',
  begun: 'Give it a replica in a copy of upgrade.yaml, and resume with --upgrade-file FILE --accept NS-206.',
};

function nextFor(atZero: readonly AtZero[]): string {
  const ref = atZero.find(({ place }) => place === 'cluster')?.ref;
  return ref ? command`kubectl scale deployment ${ref.name} -n ${ref.namespace} --replicas=1` : `${PROGRAM} plan -o wide`;
}
