import { EXIT, type Fault } from '../../kernel/fault.ts';
import { visible } from '../../kernel/visible.ts';
import { junitOfFailure } from '../../report/report-junit.ts';
import { failureMarkdown } from '../../report/report-markdown.ts';
import { errorDocument, errorLines } from '../error-text.ts';
import type { OutputFormat } from '../output.ts';

/** What stands in the report file of a command that ended before it had a document: the error, in the file's format. */
export async function failureText(command: string, fault: Fault, format: OutputFormat): Promise<string> {
  const { code, message, suggestions } = fault;
  const failure = { command, exit: `${code} (exit ${EXIT[code]})`, message, suggestions };
  switch (format) {
    case 'json':
      return visible(`${JSON.stringify(errorDocument(fault), undefined, 2)}\n`);
    case 'yaml':
      return (await import('../yaml-text.ts')).yamlText(errorDocument(fault));
    case 'markdown':
      return failureMarkdown(failure);
    case 'junit':
      return junitOfFailure(failure);
    case 'html': {
      const { htmlText } = await import('../../report/report-html.ts');
      const facts = { findings: [], plans: [], stages: [], facts: [], next: suggestions[0] ?? '' };
      return htmlText({ ...facts, title: command, outcome: { code, number: EXIT[code] }, message, suggestions }, () => '');
    }
    default:
      return errorLines(fault)
        .map((line) => `${line}\n`)
        .join('');
  }
}
