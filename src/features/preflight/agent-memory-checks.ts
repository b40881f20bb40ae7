import { command } from '../../kernel/argv.ts';
import { notApplicable, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { serviceWorkloads } from '../rollout/index.ts';
import { failIfAny, type PreflightCheck, withInstallation } from '../survey/index.ts';

export const agentMemoryChecks: readonly PreflightCheck[] = [
  /** Limits of memory are carried into the target, which needs no less: who runs out of it now will do so then. */
  {
    id: 'NS-410',
    title: 'memory of agents and controllers suffices',
    category: 'workloads',
    severity: 'warning',
    ref: 'domain §12',
    judge: withInstallation((installation, facts, { profile }): Verdict => {
      const workloads = serviceWorkloads(installation, profile);
      if (!workloads) return notApplicable('the names of the workloads are not known');
      const own = [workloads.agent, workloads.controllers, workloads.typha].flatMap((one) => one ?? []);
      const short = read(facts.pods).filter(
        ({ namespace, labels, outOfMemory = [] }) =>
          outOfMemory.length > 0 && own.some((one) => one.namespace === namespace && labels['k8s-app'] === one.name),
      );
      const [first] = short;
      return failIfAny(
        short.map(({ namespace, name, node, outOfMemory = [] }) => ({
          text: `Pod/${namespace}/${name}`,
          detail: `${outOfMemory.join(', ')} on ${node} was OOMKilled`,
        })),
        'no container was ended for lack of memory',
        (names) => ({
          because: `${counted(short.length, 'pod')} ran out of memory lately: ${names}. The limits are carried into the target, which needs as much or more`,
          hint: 'Raise the memory limit of the container, or remove it, before the upgrade.',
          next: command`kubectl -n ${first?.namespace ?? ''} describe pod ${first?.name ?? ''}`,
        }),
      );
    }),
  },
];
