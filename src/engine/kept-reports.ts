import type { EnginePorts } from '../kernel/engine-ports.ts';

/** Reports are small, but a run that is continued every minute for a week must not fill the cluster. */
const REPORTS_PER_RUN = 10;

/** Stores a report of one part of a run, which began then. A run of very many parts keeps the first ones and the last one. */
export async function keepReport(
  { records }: Pick<EnginePorts, 'records'>,
  runId: string,
  startedAt: Date,
  report: unknown,
): Promise<void> {
  const folder = `${runId}/report/`;
  const kept = await records.keptWith(folder);
  const last = kept.length >= REPORTS_PER_RUN ? kept.at(-1) : undefined;
  await records.keep(last?.id ?? `${folder}${startedAt.toISOString()}`, report);
}
