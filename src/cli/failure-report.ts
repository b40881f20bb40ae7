import { EXIT, type Fault } from '../core/fault.ts';
import { junitOfFailure } from '../ui/report-junit.ts';
import { failureMarkdown } from '../ui/report-markdown.ts';
import { errorDocument, errorLines } from './faults.ts';
import type { OutputFormat } from './output.ts';

/** What stands in the report file of a command that ended before it had a document: the error, in the file's format. */
export async function failureText(command: string, fault: Fault, format: OutputFormat): Promise<string> {
  const { code, message, suggestions } = fault;
  const failure = { command, exit: `${code} (exit ${EXIT[code]})`, message, suggestions };
  switch (format) {
    case 'json':
      return `${JSON.stringify(errorDocument(fault), undefined, 2)}\n`;
    case 'yaml':
      return (await import('./yaml-text.ts')).yamlText(errorDocument(fault));
    case 'markdown':
      return failureMarkdown(failure);
    case 'junit':
      return junitOfFailure(failure);
    default:
      return errorLines(fault)
        .map((line) => `${line}\n`)
        .join('');
  }
}
