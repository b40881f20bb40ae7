import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import { isRecord, type JsonMap } from '../../kernel/json.ts';
import type { WorkFolder } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { writeDurably } from '../durable-write.ts';

/** The newest run record that this machine has seen, by its serial number. */
export interface SeenHere {
  /** Throws Fault('stale') for a record that is older than the newest that was seen here. */
  check(where: string, serial: number): Promise<void>;
  note(where: string, serial: number): Promise<void>;
}

const FILE = 'records-seen.json';

/** A file in the work folder (0600). A folder that only stands in for it remembers nothing. */
export function seenHere({ path, standsInFor }: Pick<WorkFolder, 'path' | 'standsInFor'>): SeenHere {
  const file = join(path, FILE);
  const newestOf = (seen: JsonMap, where: string) => (typeof seen[where] === 'number' ? seen[where] : 0);
  return {
    async check(where, serial) {
      if (serial < newestOf(await read(file), where)) throw olderState(where, file);
    },
    async note(where, serial) {
      const seen = await read(file);
      if (standsInFor !== undefined || serial <= newestOf(seen, where)) return;
      await writeDurably(file, Buffer.from(JSON.stringify({ ...seen, [where]: serial })), 0o600);
    },
  };
}

/** Of a record that another one replaces. Time and order in one, so that a record that was deleted and begun again is newer too. */
export function nextSerial(before: number): number {
  return Math.max(before + 1, Date.now());
}

async function read(file: string): Promise<JsonMap> {
  const text = await readFile(file, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return '{}';
    throw thrown;
  });
  try {
    const seen: unknown = JSON.parse(text);
    return isRecord(seen) ? seen : {};
  } catch {
    return {};
  }
}

function olderState(where: string, file: string): Fault {
  return new Fault('stale', `${where} is older than what this machine has seen there: an earlier state was put back; nothing was written`, [
    'find out who put it back: the audit log of the API server',
    `if you restored it on purpose, delete what this machine remembers, then run the same command: ${command`rm ${file}`}`,
  ]);
}

/** What this machine kept in the cluster, known again by digest. */
export interface KeptHere {
  note(contents: readonly unknown[]): Promise<void>;
  has(content: unknown): Promise<boolean>;
}

const KEPT_FILE = 'kept-here';

/** One sha256 per line in the work folder (0600). A folder that only stands in for it remembers nothing. */
export function keptHere({ path, standsInFor }: Pick<WorkFolder, 'path' | 'standsInFor'>): KeptHere {
  const file = join(path, KEPT_FILE);
  return {
    async note(contents) {
      if (contents.length === 0 || standsInFor !== undefined) return;
      await appendFile(file, contents.map((content) => `${digestOf(content)}\n`).join(''), { mode: 0o600 });
    },
    async has(content) {
      const text = await readFile(file, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code === 'ENOENT') return '';
        throw thrown;
      });
      return text.split('\n').includes(digestOf(content));
    },
  };
}

/** Of the content as it comes back from the cluster: once through JSON. */
function digestOf(content: unknown): string {
  return sha256Of(JSON.stringify(content ?? null));
}
