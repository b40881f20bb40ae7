import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import type { CommandBench } from '../support/command-bench.ts';
import { shapeOf } from '../support/document-shape.ts';
import { ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

interface Document {
  readonly kind: string;
}

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'output.md'), 'utf8');
const examples = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => JSON.parse(text) as Document);

async function printed(bench: CommandBench, ...argv: readonly string[]): Promise<Document> {
  await bench.run(...argv, '-o', 'json');
  return JSON.parse(bench.out() || bench.err()) as Document;
}

/** One document of each kind, as a command prints it: the upgrade of the sandbox, what stands before and after it, and an error. */
async function printedDocuments(): Promise<readonly Document[]> {
  const scenario = await installedSandbox();
  const documents: Document[] = [];
  for (const argv of [['preflight'], ['plan'], ['run', '--yes'], ['status'], ['run', '--accept', 'NS-9999']])
    documents.push(await printed(sandboxCommand(scenario), ...argv));
  const owners = await ownerSandbox();
  const bench = sandboxCommand(owners.scenario);
  const compose = async (request: ComposeRequest) => {
    const composition = compositionOf(owners.scenario, request);
    return { ...composition, cluster: owners.cluster, profile: renaming, context: { ...composition.context, profile: renaming } };
  };
  Object.assign(bench.seams, { compose });
  const way = await printed(sandboxCommand(scenario), 'path', '--profile', 'calico', '--from', 'v3.31.2', '--kubernetes', '1.34');
  return [...documents, await printed(bench, 'ownerrefs', 'list'), way];
}

describe('the examples of documents in docs/reference/output.md', () => {
  let documents: readonly Document[];
  before(async () => {
    documents = await printedDocuments();
  });

  it('are one of each kind that a command prints', () =>
    assert.deepEqual(examples.map(({ kind }) => kind).sort(), documents.map(({ kind }) => kind).sort()));

  for (const example of examples)
    it(`have the fields and types of the ${example.kind} that is printed`, () =>
      assert.deepEqual(shapeOf(example), shapeOf(documents.find(({ kind }) => kind === example.kind))));
});
