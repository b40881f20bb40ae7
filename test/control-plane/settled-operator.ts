import { setTimeout as pause } from 'node:timers/promises';
import { components, OPERATORS, SPACE, SYSTEM } from '../support/netsvc-operated.ts';
import { type Api, type ApiObject, find } from './api.ts';
import { playByLooking } from './played.ts';
import { runningImage, type Workload } from './workloads.ts';

/** How an operator that writes no statuses takes its time, in milliseconds. */
export interface SettledManner {
  /** From its pod's being ready to the first change. */
  readonly idleMs: number;
  /** From the agents to the controllers, and from these to the API server. */
  readonly apartMs: number;
  /** From the first roll of the agents to a second one; none unless given. */
  readonly againMs?: number;
}

const INSTALLATION = '/apis/operator.netsvc.io/v1/installations/default';
const TICK_MS = 200;

/** Plays the operator under the document's names whose image its Deployment runs: it brings its release, and says nothing of it. */
export function playSettledOperator(api: Api, manner: SettledManner) {
  let [changedAt, brought] = [0, ''];
  const changed = () => {
    changedAt = Date.now();
  };
  const look = async (signal: AbortSignal) => {
    const operator = await find<Workload>(api, `/apis/apps/v1/namespaces/${SPACE}/deployments/${SPACE}`);
    const tag = operator && runningImage(operator)?.split(':').at(-1);
    const release = Object.entries(OPERATORS).find(([, version]) => version === tag)?.[0];
    const installation = await find(api, INSTALLATION);
    if (!release || !installation || release === brought) return;
    const after = (ms: number) => pause(brought === '' ? 0 : ms, undefined, { signal });
    const { name, uid } = installation.metadata;
    const [agents, controllers, server] = components(release, { name, uid });
    await after(manner.idleMs);
    if (!(await find(api, `/api/v1/namespaces/${SYSTEM}`)))
      await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } });
    for (const [index, one] of [agents, controllers, server].entries()) {
      if (index > 0) await after(manner.apartMs);
      await bring(api, one as unknown as ApiObject, changed);
    }
    if (brought !== '' && manner.againMs !== undefined) {
      await after(manner.againMs);
      await api.send('PATCH', pathOf(agents as unknown as ApiObject), {
        spec: { template: { metadata: { annotations: { rolled: 'again' } } } },
      });
      changed();
    }
    brought = release;
  };
  /** `changedAt`: when it last changed anything, by the clock of this machine; milliseconds. */
  return { changedAt: () => changedAt, ...playByLooking(TICK_MS, (signal) => look(signal).catch(unlessStopped(signal))) };
}

const unlessStopped = (signal: AbortSignal) => (thrown: unknown) => {
  if (!signal.aborted) throw thrown;
};

const pathOf = ({ kind, metadata }: ApiObject) => `/apis/apps/v1/namespaces/${SYSTEM}/${String(kind).toLowerCase()}s/${metadata.name}`;

async function bring(api: Api, wanted: ApiObject, changed: () => void): Promise<void> {
  const live = await find<Workload>(api, pathOf(wanted));
  const { spec } = wanted as unknown as Workload;
  const images = ({ template }: Workload['spec']) => JSON.stringify(template.spec.containers.map(({ image }) => image));
  if (live && images(live.spec) === images(spec)) return;
  changed();
  if (live) await api.send('PATCH', pathOf(wanted), { spec: { template: spec.template } });
  else await api.send('POST', pathOf(wanted).replace(/\/[^/]*$/, ''), wanted);
}
