import { readFile } from 'node:fs/promises';
import type { KubeObject } from '../src/kernel/object.ts';
import { differences } from '../src/manifest/carried-file.ts';
import { parseManifest } from '../src/manifest/manifest.ts';
import { mergeManifest } from '../src/manifest/merge.ts';

/** Three files are read, merged as base, mine and target, and what differs from the target is told; with `read` only read. */
const [base, mine, theirs] = await Promise.all(
  process.argv.slice(2, 5).map(async (path) => {
    const text = await readFile(path, 'utf8');
    const documents = path.endsWith('.json')
      ? (JSON.parse(text) as readonly KubeObject[])
      : parseManifest(text, path).documents.map(({ object }) => object);
    return { name: path, text, documents };
  }),
);
if (!base || !mine || !theirs) throw new Error('usage: merge-program BASE MINE TARGET [read]');
if (process.argv[5] === 'read') process.exit();
const merged = mergeManifest({ base: base.documents, mine: mine.documents, theirs: theirs.documents });
const { size } = differences([theirs], merged.documents);
process.stdout.write(`${merged.documents.length} objects, ${merged.edits.length} edits, ${size} files changed\n`);
