import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import type { Installation } from '../core/installation.ts';
import type { Sources } from '../core/ports.ts';
import type { AddOn, Variant } from '../core/profile.ts';
import { manifestOf } from '../merge/artifact-manifest.ts';
import { type Manifest, parseManifest } from '../merge/manifest.ts';
import { operatorVariant } from './operator-variant.ts';
import { assertIsOperator, assertIsTarget } from './target-identity.ts';

export interface TargetAddOn {
  readonly id: AddOn['id'];
  readonly file: string;
  readonly url: string;
  readonly sha256: string;
  readonly manifest: Manifest;
}

/** What the cluster becomes: the full manifest of its variant, and the manifests of what is installed beside it (§4.1). */
export interface Target {
  /** The name that the procedure gives it: `upgrade.yaml`. */
  readonly file: string;
  readonly url: string;
  readonly sha256: string;
  readonly release: string;
  readonly manifest: Manifest;
  readonly addOns: readonly TargetAddOn[];
}

/** Name under which the full-install file is saved (§4.1). */
export const UPGRADE_FILE = 'upgrade.yaml';

/** Reads and checks the target: the person's own `--upgrade-file`, or the release's manifest of the installed variant. */
export async function readTarget(sources: Sources, context: Context, installation: Installation): Promise<Target> {
  const variant = variantOf(context, installation);
  const { release, upgradeFile } = context.options;
  const main = upgradeFile === undefined ? await fetched(sources, release, variant.file) : await own(sources, upgradeFile);
  if (installation.path === 'operator') assertIsOperator(main.manifest, variant, context, installation);
  else assertIsTarget(main.manifest, variant, release, upgradeFile);
  const addOns = await Promise.all(
    addOnsOf(context, installation).map(async (addOn) => ({
      id: addOn.id,
      file: addOn.file,
      ...(await fetched(sources, release, addOn.file)),
    })),
  );
  return { file: UPGRADE_FILE, release, ...main, addOns };
}

/** Components with a manifest of their own that are installed beside the variant; an operator brings them itself. */
export function addOnsOf({ profile }: Context, installation: Installation): readonly AddOn[] {
  if (installation.path === 'operator') return [];
  return profile.addOns.filter((addOn) => (addOn.id === 'apiserver' ? installation.hasApiServer : installation.hasCsiDriver));
}

/** The variant that is installed; on the operator path its own manifest stands for one, and a chart has none. */
export function variantOf(context: Context, installation: Installation): Variant {
  if (installation.path === 'operator') return operatorVariant(context.profile);
  const variant = context.profile.variants.find((one) => one.id === installation.variant);
  if (variant) return variant;
  throw new Fault('blocked', `an installation by ${installation.path} has no full manifest to upgrade with`, [
    'this version upgrades manifest and operator installs; see docs/coverage.md for what is still to come',
  ]);
}

interface Read {
  readonly url: string;
  readonly sha256: string;
  readonly manifest: Manifest;
}

async function fetched({ artifacts }: Sources, release: string, file: string): Promise<Read> {
  const artifact = await artifacts.fetch(release, `manifests/${file}`);
  return { url: artifact.url, sha256: artifact.sha256, manifest: manifestOf(artifact) };
}

/** The manifest of another release from the same source, for comparing; undefined if there is none. */
export async function readReleaseManifest(sources: Sources, release: string, file: string): Promise<Manifest | undefined> {
  if (!(await sources.artifacts.has(release, `manifests/${file}`))) return undefined;
  return (await fetched(sources, release, file)).manifest;
}

async function own({ files }: Sources, path: string): Promise<Read> {
  const text = await files.readText(path);
  return { url: path, sha256: await sha256Of(text), manifest: parseManifest(text, path) };
}

/** Web Crypto is part of the language's surroundings: no import, in Node as in a browser. */
export async function sha256Of(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
