import { readFileSync, writeFileSync } from 'node:fs';
import type { KubeObject } from '../src/kernel/object.ts';
import { parseManifest } from '../src/manifest/manifest.ts';
import { EDITED_MANIFESTS, type EditedManifest, editedManifests, objectName } from '../test/support/edited-manifests.ts';
import { editsBetween, type ManifestEdit } from '../test/support/manifest-edits.ts';
import { manifestFile } from '../test/support/releases.ts';

/**
 * `node build/edited-manifest.ts NAME FILE` tells again which edits the manifest NAME of `test/data/edited-manifests.json` has: those that
 * FILE, fetched from the source that is named there, has against the release that is named there. Nothing else of FILE is kept.
 */
function told(manifest: EditedManifest, objects: readonly KubeObject[]): EditedManifest {
  const released = objectsOf(manifestFile(manifest.release, manifest.file));
  const [base = new Map(), mine = new Map()] = [released, objects].map((all) => new Map(all.map((one) => [objectName(one), one])));
  const [gone, kept] = [[...base.keys()].filter((name) => !mine.has(name)), [...base.keys()].filter((name) => mine.has(name))];
  const names = [...mine.keys()];
  const come = names.filter((name) => !base.has(name));
  const places = names.map((name) => [...kept, ...come].indexOf(name));
  const { order: _, ...rest } = manifest;
  return {
    ...rest,
    edits: [
      ...gone.map((object): ManifestEdit => ({ object, removed: true })),
      ...kept.flatMap((object) => editsBetween(base.get(object), mine.get(object)).map((edit): ManifestEdit => ({ object, ...edit }))),
      ...come.map((object): ManifestEdit => ({ object, value: mine.get(object) })),
    ],
    ...(places.every((place, index) => place === index) ? {} : { order: places }),
  };
}

const objectsOf = (file: string): readonly KubeObject[] =>
  parseManifest(readFileSync(file, 'utf8'), file).documents.map(({ object }) => object);

/** One edit a line. */
function shown(all: Readonly<Record<string, EditedManifest>>): string {
  const entries = Object.entries(all).map(([name, { edits, ...rest }]) => {
    const lines = Object.entries(rest).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`);
    const own = edits.map((edit) => `   ${JSON.stringify(edit)}`).join(',\n');
    return ` ${JSON.stringify(name)}: {\n${lines.join('\n')}\n  "edits": [\n${own}\n  ]\n }`;
  });
  return `{\n${entries.join(',\n')}\n}\n`;
}

if (import.meta.main) {
  const [, , name = '', file] = process.argv;
  const manifest = editedManifests[name];
  if (!manifest || file === undefined) throw new Error(`name a manifest of ${EDITED_MANIFESTS} and a file`);
  writeFileSync(EDITED_MANIFESTS, shown({ ...editedManifests, [name]: told(manifest, objectsOf(file)) }));
}
