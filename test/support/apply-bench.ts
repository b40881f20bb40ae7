import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Action } from '../../src/kernel/action.ts';
import type { Context } from '../../src/kernel/context.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Artifacts, Sources } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { objectsIn, parseManifest } from '../../src/manifest/manifest.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { contextOf, type Wanted } from '../fixtures/facts.ts';
import { RECORD, upgradeTo } from '../fixtures/stored-record.ts';
import { type ApplyingCluster, appliedClientSide, applyingCluster } from './applying-cluster.ts';
import { artifactsOf, emptySources } from './empty-sources.ts';
import { ownReleases } from './releases.ts';
import { NETSVC_TARGET } from './target.ts';

/** Artifacts from a folder of the release layout. */
export function folderArtifacts(folder: string, present: readonly string[]): Artifacts {
  const textOf = (release: string, path: string) => {
    const file = join(folder, release, path);
    return present.includes(release) && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  return { ...artifactsOf(textOf, folder), releases: async () => present };
}

export interface ApplyBench {
  readonly around: ApplyingCluster;
  readonly sources: Sources;
  readonly context: Context;
  record: RunRecord | undefined;
  /** What was kept beside the record, by id. */
  readonly kept: Map<string, unknown>;
  /** Files of a person, by path. */
  readonly files: Map<string, string>;
}

interface BenchParts {
  readonly profile?: Profile;
  readonly folder?: string;
  readonly releases?: readonly string[];
  readonly options?: Wanted;
}

/** Every bench of this process: next-steps.test.ts follows what the stage prints on each. */
export const benches: ApplyBench[] = [];

/** A cluster with these objects, and everything that the apply stage reads from. */
export function applyBench(installed: readonly KubeObject[], parts: BenchParts = {}): ApplyBench {
  const { profile = netsvc, folder = ownReleases, releases = ['v3.26.4', NETSVC_TARGET], options } = parts;
  const around = applyingCluster(installed);
  const files = new Map<string, string>();
  const kept = new Map<string, unknown>();
  const bench: { record: RunRecord | undefined } = { record: undefined };
  const { tools: _, work: __, ...empty } = emptySources();
  const sources: Omit<Sources, 'tools' | 'work' | 'lock'> = {
    ...empty,
    cluster: around.cluster,
    artifacts: folderArtifacts(folder, releases),
    records: { ...empty.records, load: async () => bench.record, kept: async (id) => kept.get(id) },
    files: {
      ...empty.files,
      readText: async (path) => files.get(path) ?? '',
      exists: async (path) => files.has(path),
      isFolder: async (path) => [...files.keys()].some((file) => file.startsWith(`${path}/`)),
    },
  };
  const context = contextOf({ release: profile.defaultRelease, ...options }, profile);
  const made = Object.assign(bench, { around, files, kept, context, sources: sources as Sources });
  benches.push(made);
  return made;
}

/** Documents of one of our own releases. */
export async function ownDocuments(release: string, file = 'netsvc.yaml', folder = ownReleases): Promise<readonly KubeObject[]> {
  const path = join(folder, release, 'manifests', file);
  return objectsIn(parseManifest(await readFile(path, 'utf8'), path));
}

/** The release as a person once installed it with plain `kubectl apply`. */
export async function installedClientSide(release: string, file?: string, folder?: string): Promise<readonly KubeObject[]> {
  return (await ownDocuments(release, file, folder)).map(appliedClientSide);
}

export const openApply = ({ sources, context }: ApplyBench) => applyStage.open(sources, context);

/** The actions of the plan; empty if the stage has nothing to do. */
export async function planned(bench: ApplyBench): Promise<readonly Action[]> {
  const plan = (await openApply(bench)).plan();
  return 'skip' in plan ? [] : plan.actions;
}

/** A run has begun, which keeps this beside its record. */
export function begin(bench: ApplyBench, content: unknown, more: Partial<RunRecord> = {}): void {
  const id = 'r/apply/edits#1';
  bench.kept.set(id, JSON.parse(JSON.stringify(content)));
  bench.record = runRecord({ kept: [id], ...more });
}

/** Begins a run by the plan, with other content than the plan's in these fields. The actions of the plan. */
export async function begun(bench: ApplyBench, change: object = {}): Promise<readonly Action[]> {
  const plan = (await openApply(bench)).plan();
  assert.ok('actions' in plan && plan.keep);
  const { clusterUid, goal } = bench.context;
  begin(bench, { ...(plan.keep.content as object), ...change }, { intent: upgradeTo(goal.release), clusterUid });
  return plan.actions;
}

/** Plans and performs until nothing is left, as the engine does. Throws if that takes more than five rounds. */
export async function upgrade(bench: ApplyBench): Promise<void> {
  for (let round = 1; round <= 5; round += 1) {
    const plan = (await openApply(bench)).plan();
    if ('skip' in plan || plan.actions.length === 0) return;
    const { clusterUid, goal } = bench.context;
    if (plan.keep && !bench.record) begin(bench, plan.keep.content, { intent: upgradeTo(goal.release), clusterUid });
    for (const action of plan.actions) bench.around.perform(action);
  }
  throw new Error('the apply stage keeps changing');
}

/** An unfinished run to the target on the cluster of the bench. */
export function runRecord(more: Partial<RunRecord>): RunRecord {
  const startedAt = '2026-01-01T11:00:00Z';
  const stages = [{ id: 'apply', state: 'failed', startedAt }] as const;
  const wrote = Object.keys(more.digests ?? {}).length > 0 ? ['apply'] : [];
  return { ...RECORD, clusterUid: 'cluster-1', startedAt, startedBy: 'me', stages, wrote, ...more };
}
