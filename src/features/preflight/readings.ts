import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { slimNode, slimPod } from '../../kube/lean-objects.ts';
import { readPulled } from '../node-probe/index.ts';
import { allow, type Needs } from '../rights/index.ts';
import { readClis } from '../service-cli/index.ts';
import { attempt, podView, readClient, readInjectors, readProxyMode, readWorkFolder } from '../survey/index.ts';
import { readPodWebhooks } from './pod-webhooks.ts';

/** One thing that is read by itself, and what that asks of the account beside what it takes to find the installation. */
interface Row<T> {
  read(sources: Sources, context: Context): Promise<T>;
  readonly needs: readonly Needs[];
}

const row = <T>(how: Row<T>['read'], ...needs: readonly Needs[]): Row<T> => ({ read: how, needs });

const list = (kind: Kind) =>
  row(
    ({ cluster }) => cluster.list(kind),
    () => allow(['list'], kind, 'state of the cluster'),
  );

const webhooks: Needs = () => [
  ...allow(['list'], [K.ValidatingWebhookConfiguration, K.MutatingWebhookConfiguration], 'webhooks that are asked about new pods', {
    required: false,
  }),
  ...allow(['get'], K.Service, 'pods behind these webhooks', { required: false }),
];

/** What the preflight reads that depends on nothing else it reads. A check finds each under its name; its type and the right follow from the row. */
export const READINGS = {
  discovery: row(({ cluster }) => cluster.discover()),
  server: row(({ cluster }) => cluster.version()),
  clockSkewMs: row(({ cluster }) => cluster.clockSkewMs()),
  nodes: row(({ cluster }) => cluster.list(K.Node, { keep: slimNode })),
  pods: row(async ({ cluster }) => (await cluster.list(K.Pod, { keep: slimPod })).map(podView)),
  namespaces: list(K.Namespace),
  budgets: list(K.PodDisruptionBudget),
  apiServices: list(K.APIService),
  lockHolder: row(({ lock }) => lock.holder()),
  injectors: row(({ cluster }, { profile }) => readInjectors(cluster, profile)),
  proxyMode: row(
    ({ cluster }) => readProxyMode(cluster),
    () => allow(['get'], K.ConfigMap, 'settings of the agents and of kube-proxy'),
  ),
  podWebhooks: row(({ cluster }) => readPodWebhooks(cluster), webhooks),
  client: row(({ tools }) => readClient(tools)),
  clis: row(({ tools }, { profile }) => readClis(tools, profile)),
  chartTool: row(({ tools }) => tools.which('helm')),
  work: row(({ work, files }) => readWorkFolder({ work, files })),
  pulled: row(({ work }, context) => readPulled(work, context)),
};

type Rows = typeof READINGS;
type Name = keyof Rows;

/** What was read of them. */
export type Readings = { readonly [N in Name]: Reading<Awaited<ReturnType<Rows[N]['read']>>> };

/** Each begun at once, for whoever waits for one alone. */
export type Begun = { readonly [N in Name]: Promise<Readings[N]> };

export function beginReadings(sources: Sources, context: Context): Begun {
  const all = Object.entries<Row<unknown>>(READINGS).map(([name, { read }]) => [name, attempt(() => read(sources, context))]);
  return Object.fromEntries(all) as Begun;
}

export const readingNeeds: readonly Needs[] = Object.values<Row<unknown>>(READINGS).flatMap(({ needs }) => needs);
