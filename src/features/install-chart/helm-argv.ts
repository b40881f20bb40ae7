import type { Invocation } from '../../kernel/argv.ts';
import type { HelmStorage } from '../../kernel/installation.ts';
import { type ChartPlace, helmOn } from '../install-manifest/index.ts';
import type { Setting } from './helm-values.ts';

export interface HelmVersion {
  readonly major: number;
  readonly minor: number;
  readonly text: string;
}

/** One upgrade of a release (§4.2/2). */
export interface HelmUpgrade {
  readonly name: string;
  readonly namespace: string;
  readonly chart: ChartPlace;
  readonly storage: HelmStorage;
  readonly helm: HelmVersion;
  /** The release's values as a file (0600), for a chart tool that cannot take them from the release. */
  readonly savedValues?: string;
  /** The user's own file of values. */
  readonly valuesFile?: string;
  readonly settings: readonly Setting[];
  /** The user has said that fields of others may be taken: only where the tool writes on the server's side. */
  readonly takeFields: boolean;
  /** The release is not upgraded where it is: it is installed again in `namespace`, over the objects that are there. */
  readonly moves?: true;
}

/** `helm version --short` of helm 3 and 4: `v3.19.5+g1234`; helm 2 says `Client: v2…`. */
export function parseHelmVersion(text: string): HelmVersion | undefined {
  const [, major, minor, patch] = /v(\d+)\.(\d+)\.(\d+)/.exec(text) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), text: `v${major}.${minor}.${patch}` };
}

const isSince =
  (least: number) =>
  ({ major, minor }: HelmVersion): boolean =>
    major > 3 || (major === 3 && minor >= least);

/** `--reset-then-reuse-values` came with helm 3.14. */
export const keepsValues = isSince(14);
/** `--dry-run=server` came with helm 3.13. */
export const dryRunsOnServer = isSince(13);

/**
 * `helm upgrade` with release, namespace and version named and the user's values kept. Never `--reuse-values`, which would keep the old
 * chart's defaults as well, and `--set` only beside the kept values: alone it drops them all.
 */
export function helmUpgrade(upgrade: HelmUpgrade, dryRun = false): Invocation {
  const { name, namespace, chart, storage, helm, savedValues, takeFields } = upgrade;
  if (savedValues === undefined && !keepsValues(helm)) throw new Error(`helm ${helm.text} needs the saved values of the release`);
  const kept = keepsValues(helm) ? ['--reset-then-reuse-values'] : ['--values', savedValues ?? ''];
  const forced = takeFields ? ['--force-conflicts'] : [];
  const asked = dryRun ? ['--dry-run=server', '--output', 'json'] : [];
  const more = ['--namespace', namespace, ...kept, ...valueArgs(upgrade), ...forced, ...asked];
  return { ...helmOn(chart, ['upgrade', name], more), ...inStorage(storage) };
}

/** A rollback of a release to a revision that the chart tool itself keeps. */
export interface HelmRollback extends Pick<HelmUpgrade, 'name' | 'namespace' | 'storage' | 'helm'> {
  readonly revision: number;
  /** The tool writes on the server's side, where this program has stopped the operator: that number of replicas is taken back. */
  readonly onServer: boolean;
}

/**
 * `helm rollback` with release, namespace and revision named: objects and values as they were, and what only the newer chart has goes. Hooks
 * of a stored revision, which no chart of the service has, are objects that no plan shows.
 */
export function helmRollback({ name, namespace, storage, helm, revision, onServer }: HelmRollback): Invocation {
  const forced = onServer && helm.major >= 4 ? ['--force-conflicts'] : [];
  return {
    tool: 'helm',
    args: ['rollback', name, `${revision}`, '--namespace', namespace, '--no-hooks', ...forced],
    ...inStorage(storage),
  };
}

/** The user's own values, and what is set beside them. */
export function valueArgs({ valuesFile, settings }: Pick<HelmUpgrade, 'valuesFile' | 'settings'>): readonly string[] {
  const file = valuesFile === undefined ? [] : ['--values', valuesFile];
  return [...file, ...settings.flatMap(({ value, to }) => ['--set', `${value}=${to}`])];
}

const inStorage = (storage: HelmStorage) => (storage === 'ConfigMap' ? { env: { HELM_DRIVER: 'configmap' } } : {});

/**
 * `helm install` of a release that moves to another namespace, the chart's own way from before v3.23; its annotated objects are adopted.
 * Client-side, as they were written: fields of others are no conflict, and custom resources do not change.
 */
export function helmInstall({ name, namespace, chart, storage, helm, savedValues, ...values }: HelmUpgrade): Invocation {
  if (savedValues === undefined) throw new Error('a release that moves needs its saved values');
  const clientSide = helm.major >= 4 ? ['--server-side=false'] : [];
  const more = ['--namespace', namespace, '--values', savedValues, ...valueArgs(values), ...clientSide];
  return { ...helmOn(chart, ['install', name], more), ...inStorage(storage) };
}
