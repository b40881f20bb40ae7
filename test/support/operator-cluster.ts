import { ApiFailure, type Clock, type ClusterReader } from '../../src/kernel/ports.ts';
import { before, type Moment, type Script, viewOf } from './operator-script.ts';

/** A clock of its own time: sleeping moves it on, nothing waits. */
export function steppingClock(): Clock & { readonly seconds: () => number; jump(ms: number): void } {
  let ms = 0;
  return {
    now: () => new Date(ms),
    sleep: async (by) => {
      ms += by;
    },
    jump: (by) => {
      ms += by;
    },
    seconds: () => ms / 1000,
  };
}

/** What the cluster answers from this second on: a moment, or a failure of every request. */
export type Answers = Script | readonly (readonly [second: number, answer: Moment | ApiFailure])[];

/** A cluster whose objects are those of the script at the clock's second. */
export function operatorCluster(answers: Answers, clock: { readonly seconds: () => number }): ClusterReader {
  const look = () => {
    const answer = answers.findLast(([from]) => from <= clock.seconds())?.[1] ?? before;
    if (answer instanceof ApiFailure) throw answer;
    return viewOf(answer, 0);
  };
  const all = () => {
    const view = look();
    const single = [view.deployment, view.installation, view.apiService, view.oldApiNamespace].filter((one) => one !== undefined);
    return { single: [...single, ...view.resources], lists: [...view.statuses, ...view.workloads] };
  };
  const cluster: Partial<ClusterReader> = {
    get: async (kind, name) => all().single.find((one) => one.kind === kind.kind && one.metadata.name === name),
    list: async (kind) => all().lists.filter((one) => one.kind === kind.kind),
    resolve: async (apiVersion, kind) => ({ group: apiVersion.split('/')[0] ?? '', version: 'v1', kind, plural: kind, namespaced: false }),
  };
  return cluster as ClusterReader;
}
