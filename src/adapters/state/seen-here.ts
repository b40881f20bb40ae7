import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import { isRecord, parsedJson } from '../../kernel/json.ts';
import type { WorkFolder } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';

/** The newest run record that this machine has seen, by its serial number. */
export interface SeenHere {
  /** Throws Fault('stale') for a record that is older than the newest that was seen here. */
  check(where: string, serial: number): Promise<void>;
  note(where: string, serial: number): Promise<void>;
}

const FILE = 'records-seen.json';

/** A file in the work folder (0600). A folder that only stands in for it remembers nothing. */
export function seenHere({ path, standsInFor, read, write }: Omit<WorkFolder, 'freeBytes'>): SeenHere {
  const seen = async () => {
    const value = parsedJson((await read(FILE)) ?? '');
    return isRecord(value) ? value : {};
  };
  const newest = async (where: string) => Number((await seen())[where]) || 0;
  return {
    async check(where, serial) {
      if (serial < (await newest(where))) throw olderState(where, join(path, FILE));
    },
    async note(where, serial) {
      if (standsInFor !== undefined || serial <= (await newest(where))) return;
      await write(FILE, JSON.stringify({ ...(await seen()), [where]: serial }));
    },
  };
}

/** Of a record that another one replaces. Time and order in one, so that a record that was deleted and begun again is newer too. */
export function nextSerial(before: number): number {
  return Math.max(before + 1, Date.now());
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
export function keptHere({ path, standsInFor, read }: Pick<WorkFolder, 'path' | 'standsInFor' | 'read'>): KeptHere {
  return {
    async note(contents) {
      if (contents.length === 0 || standsInFor !== undefined) return;
      await appendFile(join(path, KEPT_FILE), contents.map((content) => `${digestOf(content)}\n`).join(''), { mode: 0o600 });
    },
    has: async (content) => ((await read(KEPT_FILE)) ?? '').split('\n').includes(digestOf(content)),
  };
}

/** Of the content as it comes back from the cluster: once through JSON. */
function digestOf(content: unknown): string {
  return sha256Of(JSON.stringify(content ?? null));
}
