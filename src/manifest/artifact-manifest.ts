import type { Artifact } from '../kernel/ports.ts';
import { type Manifest, parseManifest } from './manifest.ts';

/** Reading a manifest takes longer than fetching it, and every stage reads the same one: what was read once is known. */
const known = new WeakMap<Artifact, Manifest>();

/** The manifest in an artifact. Throws Fault('usage') with file and line. */
export function manifestOf(artifact: Artifact): Manifest {
  const manifest = known.get(artifact) ?? parseManifest(new TextDecoder().decode(artifact.bytes), artifact.url);
  known.set(artifact, manifest);
  return manifest;
}
