import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ownReleases, releases } from '../support/releases.ts';
import type { Api, ApiObject } from './api.ts';
import type { UpOptions } from './arguments.ts';
import type { ControlPlane } from './control-plane.ts';
import { until } from './until.ts';
import type { Workload } from './workloads.ts';

/** The manifest to install; throws with every place that was looked at. */
export function findManifest({ install = '', variant, manifests }: UpOptions, exists: (file: string) => boolean = existsSync): string {
  const places = [...(manifests === undefined ? [] : [manifests]), releases, ownReleases].map((folder) =>
    join(folder, install, 'manifests', `${variant}.yaml`),
  );
  const found = places.find(exists);
  if (found === undefined)
    throw new Error(`no manifest ${variant}.yaml of ${install}; looked for\n${places.map((place) => `  ${place}`).join('\n')}`);
  return found;
}

/**
 * Installs as a person did: plain `kubectl apply`. Old manifests hold kinds that a new server does not know any more;
 * those are refused, the rest is created. Returns what was refused; throws if nothing was created.
 */
export async function installManifest(controlPlane: ControlPlane, file: string, limitMs = 180_000): Promise<readonly string[]> {
  const result = await controlPlane.apply(file);
  if (result.exitCode !== 0 && !result.stdout.includes(' created')) throw new Error(`kubectl apply -f ${file} failed:\n${result.stderr}`);
  await until('every pod runs', () => everyPodRuns(controlPlane.api), limitMs, 200);
  return result.stderr.split('\n').filter((line) => line.trim() !== '');
}

/** True once the controllers have seen every workload and as many pods run as they want. */
export async function everyPodRuns(api: Api): Promise<boolean> {
  const list = async <T = ApiObject>(path: string) => (await api.get<{ readonly items: readonly T[] }>(path)).items;
  const [agents, others, pods] = await Promise.all([
    list<Workload>('/apis/apps/v1/daemonsets'),
    list<Workload>('/apis/apps/v1/deployments'),
    list('/api/v1/pods'),
  ]);
  const seen = ({ metadata, status }: Workload) => (status?.observedGeneration ?? 0) >= metadata.generation;
  const wanted = sum(agents.map(({ status }) => status?.desiredNumberScheduled ?? 0)) + sum(others.map(({ spec }) => spec.replicas ?? 1));
  const running = pods.filter((pod) => (pod.status as { phase?: string } | undefined)?.phase === 'Running').length;
  return [...agents, ...others].every(seen) && running >= wanted;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
