import { readFile, writeFile } from 'node:fs/promises';
import type { Context } from '../core/context.ts';
import { Fault, messageOf } from '../core/fault.ts';
import { OUTPUT_VERSION, type PlanDocument } from './documents.ts';

const AGAIN = 'make a new one: kubectl netsvc-upgrade plan --out';

export async function savePlan(file: string, document: PlanDocument): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(document, undefined, 2)}\n`, { mode: 0o600 });
  } catch (thrown) {
    throw new Fault(
      'failed',
      `the plan could not be written: ${messageOf(thrown)}`,
      ['name a file in a folder that exists: --out FILE'],
      thrown,
    );
  }
}

/** Fails with `stale` unless the saved plan is exactly what would be done now. */
export async function confirmSaved(file: string, context: Context, digest: string): Promise<void> {
  const saved = await loadPlan(file);
  if (saved.cluster.uid !== context.clusterUid) {
    throw new Fault('stale', `${file} was made for another cluster (${saved.cluster.context}, ${saved.cluster.uid})`, [`${AGAIN} ${file}`]);
  }
  if (saved.target !== context.options.release) {
    throw new Fault('stale', `${file} leads to ${saved.target}, this command to ${context.options.release}`, [`${AGAIN} ${file}`]);
  }
  if (saved.digest !== digest) {
    throw new Fault('stale', `${file} is stale: the cluster or an artifact has changed since it was made`, [
      `${AGAIN} ${file}`,
      'compare the two, then run the new one',
    ]);
  }
}

async function loadPlan(file: string): Promise<PlanDocument> {
  try {
    const document = JSON.parse(await readFile(file, 'utf8')) as PlanDocument;
    if (document.apiVersion === OUTPUT_VERSION && document.kind === 'Plan' && document.digest) return document;
  } catch (thrown) {
    throw new Fault('usage', `--plan-file: ${messageOf(thrown)}`, [`${AGAIN} ${file}`], thrown);
  }
  throw new Fault('usage', `${file} is not a saved plan`, [`${AGAIN} ${file}`]);
}
