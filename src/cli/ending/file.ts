import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EXIT, Fault, messageOf } from '../../kernel/fault.ts';
import { mask } from '../../kernel/hidden.ts';
import { visible } from '../../kernel/visible.ts';
import { errorDocument, errorLines } from '../error-text.ts';
import { toFault } from '../faults.ts';
import type { OutputFormat } from '../flags.ts';

const FORMATS: Readonly<Record<string, OutputFormat>> = {
  json: 'json',
  yaml: 'yaml',
  yml: 'yaml',
  md: 'markdown',
  html: 'html',
  txt: 'table',
};

/** Format of a report file by its suffix; undefined if the suffix says none. */
export function formatOfFile(file: string): OutputFormat | undefined {
  return FORMATS[/\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? ''];
}

/** Refuses, before the cluster is asked anything, a report file that could not be written or has no known form. Throws Fault('usage'). */
export async function openReport(file: string, say: (line: string) => void) {
  const format = formatOfFile(file);
  if (format === undefined)
    throw new Fault('usage', `--report-file ${file}: its suffix is no known format`, [
      `name it with one of ${Object.keys(FORMATS)
        .map((suffix) => `.${suffix}`)
        .join(' ')}`,
    ]);
  await assertPlace('--report-file', file);
  let isWritten = false;
  /** The command's document. What goes wrong is said and does not change how the command ends. */
  const write = async (text: (format: OutputFormat) => Promise<string>): Promise<void> => {
    isWritten = true;
    try {
      const { writeDurably } = await import('../../adapters/durable-write.ts');
      await writeDurably(file, Buffer.from(mask(await text(format))), 0o600);
    } catch (thrown) {
      say(`Warning: the report could not be written to ${file}: ${messageOf(thrown)}`);
    }
  };
  /** The error of a command that ended before it had a document. */
  const writeFailure = async (command: string, thrown: unknown): Promise<void> => {
    if (isWritten) return;
    const fault = toFault(thrown, { command, flags: [] });
    await write((as) => failureText(command, fault, as));
  };
  return { write, writeFailure };
}

/** The file of `--report-file`: written once, whole or not at all, readable by its owner only. */
export type ReportFile = Awaited<ReturnType<typeof openReport>>;

/** What stands in the report file of a command that ended before it had a document: the error, in the file's format. */
async function failureText(command: string, fault: Fault, format: OutputFormat): Promise<string> {
  const { code, message, suggestions, end } = fault;
  switch (format) {
    case 'json':
      return visible(`${JSON.stringify(errorDocument(fault), undefined, 2)}\n`);
    case 'yaml':
      return (await import('../yaml-text.ts')).yamlText(errorDocument(fault));
    case 'markdown':
    case 'html': {
      const none = { findings: [], plans: [], stages: [] };
      const [outcome, next] = [{ code, number: EXIT[code] }, end?.next.plain ?? suggestions[0] ?? ''];
      const facts = [['result', `${code} (exit ${EXIT[code]})`]] as const;
      const { reportText } = await import('./facts.ts');
      return reportText(format, { ...none, title: command, outcome, facts, message, suggestions, next }, async () => () => '');
    }
    default:
      return errorLines(fault)
        .map((line) => `${line}\n`)
        .join('');
  }
}

/** Puts a file into its place whole, for every account to read (0644). */
export async function replaceForAll(file: string, text: string): Promise<void> {
  const { writeForOthers } = await import('../../adapters/durable-write.ts');
  await writeForOthers(file, Buffer.from(text), 0o644);
}

/** Throws Fault('usage') for a file that is a folder or lacks one, before the run and not when its report would be lost. */
export async function assertPlace(flag: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  if (await isFolder(file)) throw new Fault('usage', `${flag} ${file} is a folder`, [`name a file in it: ${flag} FILE`]);
  const folder = dirname(file);
  if (!(await isFolder(folder)))
    throw new Fault('usage', `${flag} ${file}: there is no folder ${folder}`, ['make the folder, or name a file in another one']);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
