import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { AddOn, Profile, Variant } from '../../kernel/profile.ts';
import type { WorkloadName } from '../../kernel/rollout.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { type Manifest, manifestOf, objectsIn, readManifest } from '../../manifest/manifest.ts';
import { readCarried, withCarried } from './carried.ts';
import { assertIsOperator, assertIsTarget, type Target, type TargetFile } from './identity.ts';
import { movedFile, operatorMove } from './operator-namespace.ts';

/** Name under which the full-install file is saved; an operator's keeps its own (§4.1). */
const UPGRADE_FILE = 'upgrade.yaml';

/** What the cluster becomes: `--upgrade-file`, or the release's manifest with the edits that the recorded run carries. */
export async function readTarget(sources: Sources, context: Context, installation: Installation): Promise<Target> {
  const released = await readReleasedTarget(sources, context, installation);
  const carried = context.options.upgradeFile === undefined ? await readCarried(sources.records, context) : undefined;
  return carried ? withCarried(released, carried) : released;
}

/** Reads and checks the target without anybody's edits. */
export async function readReleasedTarget(sources: Sources, context: Context, installation: Installation): Promise<Target> {
  const variant = variantOf(context, installation);
  const { release } = context.goal;
  const { upgradeFile } = context.options;
  const main = upgradeFile === undefined ? await readMain(sources, context, installation) : withoutJobs(await own(sources, upgradeFile));
  if (installation.path === 'operator') assertIsOperator(main.manifest, variant, context, installation);
  else assertIsTarget(main.manifest, variant, release, upgradeFile);
  const addOns = await Promise.all(
    addOnsOf(context, installation).map(async ({ id, file }) => ({ id, ...(await fetched(sources, release, file)) })),
  );
  const file = installation.path === 'operator' ? variant.file : UPGRADE_FILE;
  return { ...main, file, release, addOns };
}

/** The release's file; for an operator in a namespace of another name, with that name in it. */
async function readMain(sources: Sources, context: Context, installation: Installation): Promise<Read & Pick<Target, 'moved'>> {
  const read = withoutJobs(await fetched(sources, context.goal.release, variantOf(context, installation).file));
  const move = operatorMove(context, installation);
  return move ? { ...read, ...movedFile(read, move) } : read;
}

/** Components with a manifest of their own that are installed beside the variant; an operator installs them itself. */
export function addOnsOf({ profile }: Context, installation: Installation): readonly AddOn[] {
  if (installation.path === 'operator') return [];
  return profile.addOns.filter((addOn) => (addOn.id === 'apiserver' ? installation.hasApiServer : installation.hasCsiDriver));
}

/** The variant that is installed; on the operator path its own manifest stands for one, and a chart has none. */
export function variantOf(context: Context, installation: Installation): Variant {
  if (installation.path === 'operator') return operatorVariant(context.profile, installation.operator?.namespace);
  const variant = context.profile.variants.find((one) => one.id === installation.variant);
  if (variant) return variant;
  throw new Fault('blocked', `an installation by ${installation.path} has no full manifest to upgrade with`, [
    'a chart is upgraded with `apply` or `run`: its operator makes the workloads, and no manifest is written',
  ]);
}

/** Every object of the target, what is installed beside the variant included. */
export function targetDocuments({ manifest, addOns }: Target): readonly KubeObject[] {
  return [manifest, ...addOns.map((addOn) => addOn.manifest)].flatMap(objectsIn);
}

type Read = Omit<TargetFile, 'file'>;

/** A file of a release, by the release's name for it. */
export async function fetched({ artifacts }: Sources, release: string, file: string): Promise<TargetFile> {
  const artifact = await artifacts.fetch(release, `manifests/${file}`);
  const { url, sha256, bytes } = artifact;
  return { file, url, sha256, text: new TextDecoder().decode(bytes), manifest: await manifestOf(artifact) };
}

/** Jobs of a release configured the store once; they cannot be changed, and would overwrite later settings (domain §0.10). */
export function isLeftOut({ kind }: Pick<KubeObject, 'kind'>): boolean {
  return kind === 'Job';
}

function withoutJobs(read: Read): Read {
  const { documents, notes = [] } = read.manifest;
  const jobs = documents.filter(({ object }) => isLeftOut(object)).map(({ object }) => refText(refOf(object)));
  if (jobs.length === 0) return read;
  const note = `${jobs.join(', ')} is left out: it ran when the service was installed, and cannot be changed`;
  const manifest = { ...read.manifest, documents: documents.filter(({ object }) => !isLeftOut(object)), notes: [...notes, note] };
  return { ...read, manifest };
}

/** The manifest of another release from the same source, for comparing; undefined if there is none. */
export async function readReleaseManifest(sources: Sources, release: string, file: string): Promise<Manifest | undefined> {
  if (!(await sources.artifacts.has(release, `manifests/${file}`))) return undefined;
  return (await fetched(sources, release, file)).manifest;
}

async function own({ files }: Sources, path: string): Promise<Read> {
  const text = await files.readText(path);
  return { url: path, sha256: sha256Of(text), text, manifest: await readManifest(text, path) };
}

/** The operator's manifest as a variant, so that it is fetched, compared and previewed like a full one (§4.3/1). */
function operatorVariant({ operator }: Pick<Profile, 'operator'>, namespace = operator.namespace): Variant {
  const { deployment: name, file } = operator;
  const own: WorkloadName = { kind: 'Deployment', namespace, name, container: name, ready: { type: 'all-containers' } };
  return { id: 'operator', title: 'operator', file, datastore: 'api', agent: own, controllers: own, configMap: '', signs: [] };
}
