import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Label that puts a node under a fault, and annotation by which the simulation answers. */
export const FAULT_LABEL = 'netsvc-upgrade.test/fault';
export const SIMULATED_ANNOTATION = 'netsvc-upgrade.test/simulated';

const SLOW_MS = 5000;
const SOURCES = new URL('stages/', import.meta.url);
const FILES = {
  none: ['common', 'node-ready', 'pod-ready'],
  slow: ['common', 'node-ready', 'pod-ready'],
  'image-pull': ['common', 'node-ready', 'image-pull'],
  'crash-loop': ['common', 'node-ready', 'crash-loop'],
  'not-ready': ['common', 'node-ready', 'not-ready'],
  down: ['down'],
};

/**
 * What befalls the pods that start on a node, or the node itself (`down`). Pods that already run keep running.
 * `slow`: they need five seconds. `image-pull`: their first image cannot be had. `crash-loop`: the first container
 * crashes again and again. `not-ready`: it runs and never gets ready.
 */
export type NodeFault = keyof typeof FILES;

/** Whether a label's value names a fault. */
export function isNodeFault(value: string | undefined): value is NodeFault {
  return value !== undefined && Object.hasOwn(FILES, value);
}

/** Label selector of the nodes that a simulation owns. */
export function selectorOf(fault: NodeFault): string {
  return fault === 'none' ? `!${FAULT_LABEL}` : `${FAULT_LABEL}=${fault}`;
}

/** A number of its own for each simulation. */
export function numberOf(fault: NodeFault): number {
  return Object.keys(FILES).indexOf(fault);
}

/** Writes the stages of one simulation below the folder; the files, in the order in which kwok takes them. */
export async function writeStages(folder: string, fault: NodeFault, readyAfterMs: number): Promise<readonly string[]> {
  const target = join(folder, fault);
  await mkdir(target, { recursive: true });
  const values = { simulation: fault, readyAfterMs: String(fault === 'slow' ? SLOW_MS : readyAfterMs) };
  return Promise.all(
    ['node-taken', ...FILES[fault]].map(async (name) => {
      const file = join(target, `${name}.yaml`);
      await writeFile(file, fillIn(await readFile(new URL(`${name}.yaml`, SOURCES), 'utf8'), values));
      return file;
    }),
  );
}

/** Replaces `__name__` by its value; a name without a value is a defect of the stage file. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/__([a-zA-Z]+)__/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for ${name}`);
    return value;
  });
}
