import { readFile, writeFile } from 'node:fs/promises';
import type { Context } from '../core/context.ts';
import { Fault, messageOf } from '../core/fault.ts';
import { withoutCredentials } from '../core/hidden.ts';
import { OUTPUT_VERSION, type PlanDocument } from './documents.ts';

const AGAIN = 'make a new one: kubectl netsvc-upgrade plan --out';

/** A plan as it was read from its file. */
export interface SavedPlan {
  readonly file: string;
  readonly document: PlanDocument;
}

/** What is compared later is the digest: credentials are left out of the file, which goes from hand to hand. */
export async function savePlan(file: string, document: PlanDocument): Promise<void> {
  try {
    await writeFile(file, `${withoutCredentials(JSON.stringify(document, undefined, 2))}\n`, { mode: 0o600 });
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
export function confirmSaved({ file, document: saved }: SavedPlan, context: Context, digest: string): void {
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

/** Throws Fault('usage') for a file that cannot be read or holds no plan; before the cluster is asked anything. */
export async function loadPlan(file: string): Promise<SavedPlan> {
  const again = [`${AGAIN} ${file}`];
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    const missing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Fault('usage', missing ? `--plan-file ${file} does not exist` : `--plan-file ${file}: ${messageOf(thrown)}`, again, thrown);
  });
  const document = planIn(text);
  if (!document) throw new Fault('usage', `${file} is not a saved plan`, again);
  return { file, document };
}

function planIn(text: string): PlanDocument | undefined {
  try {
    const document = JSON.parse(text) as PlanDocument | null;
    return document?.apiVersion === OUTPUT_VERSION && document.kind === 'Plan' && document.digest ? document : undefined;
  } catch {
    return undefined;
  }
}
