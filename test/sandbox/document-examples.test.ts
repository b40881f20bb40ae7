import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { CommandBench } from '../support/command-bench.ts';
import { shapeOf } from '../support/document-shape.ts';
import { ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { releases } from '../support/releases.ts';
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

/** Of pods the last part of the name is made anew. */
const steadied = (text: string) => text.replaceAll(/calico-node-[0-9a-f]{5}/g, 'calico-node-x');

describe('the example of a notification in docs/use/notifications.md', function () {
  this.timeout(60_000);

  it('is what is sent where a node cannot pull the new image', async () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'use', 'notifications.md'), 'utf8');
    const [, example = ''] = /^```json\n([\s\S]*?)^```$/m.exec(text) ?? [];
    const scenario = await installedSandbox({
      profile: calico,
      nodes: 4,
      installed: 'v3.27.5',
      file: 'calico.yaml',
      releasesFolder: releases,
      cli: false,
    });
    scenario.cluster.nodes.fault('node-02', 'image-pull');
    const sent: string[] = [];
    const bench = sandboxCommand(scenario, calico);
    Object.assign(bench.seams, { openNotifier: async () => ({ to: 'here', send: async (body: string) => void sent.push(body) }) });
    await bench.run('run', '--yes', '--notify', './notify.sh');
    const [shown, last] = [example, sent.at(-1) ?? ''].map((one) => JSON.parse(steadied(one)) as Record<string, unknown>);
    const places = ['runId', 'context', 'clusterUid', 'at', 'text'];
    assert.deepEqual(Object.keys(shown ?? {}).sort(), Object.keys(last ?? {}).sort());
    for (const [name, value] of Object.entries(last ?? {})) if (!places.includes(name)) assert.deepEqual(shown?.[name], value, name);
    assert.equal(shown?.text, String(last?.text).replace(/context "[^"]*"/, 'context "prod"'));
  });
});
