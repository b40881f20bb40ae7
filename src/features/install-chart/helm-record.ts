import { type JsonMap, mapAt, textAt } from '../../kernel/json.ts';

/** How the chart tool writes the objects of a release: helm 4 says it, older ones always patch. */
export type ApplyMethod = 'client-side' | 'server-side';

/** One stored revision of a chart release, as far as the upgrade looks at it (domain §2.2). */
export interface HelmRecord {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  /** `deployed`, `superseded`, `failed`, `pending-upgrade`, … */
  readonly status: string;
  /** When its status was written; milliseconds since the epoch, undefined where it does not say. */
  readonly changedAt?: number;
  /** The tool's own last words about it. */
  readonly description: string;
  readonly chart: { readonly name: string; readonly version: string };
  /** Values that the user gave; may hold secrets: never shown. */
  readonly values: JsonMap;
  /** Values that the chart of this revision came with. */
  readonly defaults: JsonMap;
  /** The rendered objects. */
  readonly manifest: string;
  readonly applyMethod: ApplyMethod;
}

/** Reads the JSON of a stored revision. Throws Error with what is missing. */
export function parseHelmRecord(json: string): HelmRecord {
  const record = parsed(json);
  const chart = mapAt(record, 'chart', 'metadata');
  const status = textAt(record, 'info', 'status');
  if (typeof record.name !== 'string' || typeof record.version !== 'number' || status === undefined || typeof chart.name !== 'string') {
    throw new Error('it has no name, revision, status or chart');
  }
  const changedAt = Date.parse(textAt(record, 'info', 'last_deployed') ?? '');
  return {
    ...(Number.isNaN(changedAt) ? {} : { changedAt }),
    name: record.name,
    namespace: textAt(record, 'namespace') ?? '',
    revision: record.version,
    status,
    description: textAt(record, 'info', 'description') ?? '',
    chart: { name: chart.name, version: textAt(chart, 'version') ?? '' },
    values: mapAt(record, 'config'),
    defaults: mapAt(record, 'chart', 'values'),
    manifest: textAt(record, 'manifest') ?? '',
    applyMethod: textAt(record, 'apply_method') === 'ssa' ? 'server-side' : 'client-side',
  };
}

function parsed(json: string): JsonMap {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('it is not JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonMap;
  throw new Error('it is not a release');
}

/** An operation that has not ended: every other one is refused by the chart tool. */
export function isPending({ status }: Pick<HelmRecord, 'status'>): boolean {
  return status.startsWith('pending-') || status === 'uninstalling';
}
