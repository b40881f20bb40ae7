import { join } from 'node:path';
import { startInjector } from '../test/control-plane/injecting-webhook.ts';
import { type InstalledCluster, installedCluster } from '../test/support/installed-cluster.ts';
import { meshObjects, NEW, namespaces, OLD, publishTemplates, templateOf, workload } from '../test/support/mesh-objects.ts';
import { manifestFile, ownReleases } from '../test/support/releases.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { interleave } from './measure.ts';
import { ratioTable, type Section } from './report.ts';

const REPLICAS = 10;

/** The plan of `alp` beside `kubectl get pods -A -o json` of the same cluster: half of the pods are meshed and have an older sidecar. */
export async function alpPlan(pods: number): Promise<Section> {
  const cluster = await installedCluster({
    manifest: manifestFile(NEW, 'netsvc.yaml', ownReleases),
    nodes: 1,
    maxMinutes: 60,
    requestsPerSecond: 400,
  });
  try {
    const source = join(cluster.around.home, 'releases');
    await publishTemplates(source);
    await fill(cluster, pods);
    const env = surroundingsEnv(cluster.around);
    const kubectl = {
      name: '`kubectl get pods -A -o json`',
      program: cluster.around.kubectl,
      args: ['get', 'pods', '-A', '-o', 'json'],
      env,
    };
    const args = ['alp', '--profile', 'netsvc', '--manifest-url', source, '--dry-run=client'];
    return {
      title: `Plan of alp on ${pods} pods`,
      aim: 'at most twice as long as kubectl takes for the list of all pods',
      lines: ratioTable(await interleave([kubectl, { name: '`alp --dry-run=client`', program, args, env }], 3)),
    };
  } finally {
    await cluster.stop();
  }
}

/** Deployments of ten pods each that no scheduler takes: the pods are what is measured, not nodes. */
async function fill({ plane }: InstalledCluster, pods: number): Promise<void> {
  const create = (objects: readonly object[]) =>
    plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await create(namespaces);
  await create(meshObjects(templateOf(OLD)));
  const injector = await startInjector(plane.api);
  try {
    const names = Array.from({ length: pods / REPLICAS / 2 }, (_, index) => `web-${index}`);
    for (const namespace of ['shop', 'plain']) await create(names.map((name) => unscheduled(namespace, name)));
    await created(plane, pods);
  } finally {
    await injector.stop();
  }
}

/** As large as pods of real workloads are: with their environment, probes and volumes. */
function unscheduled(namespace: string, name: string): object {
  const env = Array.from({ length: 20 }, (_, index) => ({
    name: `SETTING_${index}`,
    value: `a value that somebody gave to setting ${index}`,
  }));
  const probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 };
  const app = {
    name: 'app',
    image: 'shop/app:1',
    env,
    livenessProbe: probe,
    readinessProbe: probe,
    volumeMounts: [{ name: 'work', mountPath: '/work' }],
  };
  const labels = { app: name };
  const spec = { schedulerName: 'nobody', containers: [app], volumes: [{ name: 'work', emptyDir: {} }] };
  return workload(namespace, name, 'Deployment', { replicas: REPLICAS, template: { metadata: { labels }, spec } });
}

async function created(plane: InstalledCluster['plane'], pods: number): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { metadata, items } = await plane.api.get<{ metadata: { remainingItemCount?: number }; items: readonly unknown[] }>(
      '/api/v1/pods?limit=1',
    );
    if (items.length + (metadata.remainingItemCount ?? 0) >= pods) return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error('the pods were not created in ten minutes');
}
