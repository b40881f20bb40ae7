import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/control-plane.ts';

/** What came of an installation as people did it. */
export interface ClientSideInstall {
  /** Too large for the annotation of a client-side apply: created. */
  readonly created: readonly string[];
  /** Kinds that the server no longer has: left out. */
  readonly leftOut: readonly string[];
}

const TOO_LARGE = /The (\w+) "([^"]+)" is invalid: metadata\.annotations: Too long/g;
const NO_KIND = /name: "([^"]+)" namespace: "[^"]*" from "[^"]*": no matches for kind "(\w+)" in version "([^"]+)"/g;
const NOT_SERVED = /no matches for kind "(\w+)" in version "([^"]+)"/g;

/**
 * Installs a manifest as people did: `kubectl apply`, and `kubectl create` for what is too large for its annotation. Kinds that
 * the server no longer has are left out and listed. Throws for anything else that the server refuses.
 */
export async function installClientSide(plane: ControlPlane, file: string): Promise<ClientSideInstall> {
  const strict = await plane.apply(file);
  // A field that nobody knows is let pass by `--validate=false`: a file with one was once installed so.
  const applied = strict.stderr.includes('strict decoding error') ? await plane.kubectl(['apply', '--validate=false', '-f', file]) : strict;
  const large = [...applied.stderr.matchAll(TOO_LARGE)].map(([, kind = '', name = '']) => `${kind}/${name}`);
  const named = [...applied.stderr.matchAll(NO_KIND)].map(([, name = '', kind = '']) => `${kind}/${name}`);
  const leftOut = named.length > 0 ? named : [...applied.stderr.matchAll(NOT_SERVED)].map(([, kind = '']) => kind);
  const expected = /metadata\.annotations: Too long|no matches for kind|ensure CRDs are installed first|^Warning: /;
  const strange = applied.stderr.split('\n').filter((line) => line.trim() !== '' && !expected.test(line));
  if (strange.length > 0) throw new Error(`${file}: ${strange.join('\n')}`);
  if (large.length > 0) await createLarge(plane, file, large);
  // Whoever plans right now would find that the server does not have a kind.
  const { exitCode, stderr } = await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  if (exitCode !== 0 && !/no matching resources/.test(stderr)) throw new Error(`definitions of ${file} are not established: ${stderr}`);
  return { created: large, leftOut };
}

/** By the manifest's own documents, as someone would cut them out. */
async function createLarge(plane: ControlPlane, file: string, names: readonly string[]): Promise<void> {
  const documents = (await readFile(file, 'utf8')).split(/^---.*$/m);
  const cut = documents.filter((text) => names.some((one) => isOf(text, one)));
  const part = join(plane.dir, 'too-large.yaml');
  await writeFile(part, cut.join('\n---\n'));
  const { exitCode, stderr } = await plane.kubectl(['create', '-f', part]);
  if (exitCode !== 0) throw new Error(`kubectl create of ${names.join(', ')}: ${stderr}`);
}

function isOf(text: string, named: string): boolean {
  const [kind, name] = named.split('/');
  return new RegExp(`^kind: ${kind}\\s*$`, 'm').test(text) && new RegExp(`^  name: ${name}\\s*$`, 'm').test(text);
}
