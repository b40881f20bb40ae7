import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Installation, isByChart, isOperated } from '../../kernel/installation.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { AddOn, Profile, Variant } from '../../kernel/profile.ts';
import type { WorkloadName } from '../../kernel/rollout.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { type Manifest, manifestOf, objectsIn, readManifest } from '../../manifest/manifest.ts';
import type { Move } from '../../manifest/move-namespace.ts';
import { readCarried, withCarried } from './carried.ts';
import { finishedFile } from './finished.ts';
import { assertIsOperator, assertIsTarget, type Target, type TargetFile } from './identity.ts';
import { goingBack, goneDefinitions, storedFile } from './old-files.ts';
import { movedFile, operatorMove } from './operator-namespace.ts';

/** An operator's file keeps its own name in an upgrade. */
const UPGRADE_FILE = 'upgrade.yaml';
const ROLLBACK_FILE = 'rollback.yaml';

/** What the cluster becomes: `--upgrade-file`, or the release's manifest with the edits that the recorded run carries. */
export async function readTarget(sources: Sources, context: Context, installation: Installation): Promise<Target> {
  const released = await readReleasedTarget(sources, context, installation);
  const carried = finishedFile(context) === undefined ? await readCarried(sources.records, context) : undefined;
  return carried ? withCarried(released, carried) : released;
}

/** Reads and checks the target without anybody's edits. */
export async function readReleasedTarget(sources: Sources, context: Context, installation: Installation): Promise<Target> {
  const { release } = context.goal;
  const finished = finishedFile(context);
  const of = ownFile(context, installation);
  if (context.goal.takesBack) return readOldTarget(sources, context, of);
  const main = finished === undefined ? await readMain(sources, context, of) : withoutJobs(await own(sources, finished));
  of.assertIs(main.manifest);
  const addOns = await Promise.all(of.addOns.map(async ({ id, file }) => ({ id, ...(await fetched(sources, release, file)) })));
  return { ...main, file: of.file, release, addOns };
}

/** Of a release that is gone back to: as the program carries it, else as the source has it. */
async function readOldTarget(sources: Sources, context: Context, { variant, file, addOns, assertIs, move }: OwnFile): Promise<Target> {
  const { release } = context.goal;
  const gone = await goneDefinitions(sources, context);
  const read = async (name: string) =>
    goingBack((await storedFile(sources, release, name)) ?? (await fetched(sources, release, name)), gone);
  const own = withoutJobs(await read(variant.file));
  const main = move ? { ...own, ...movedFile(own, move) } : own;
  assertIs(main.manifest);
  const beside = await Promise.all(addOns.map(async ({ id, file: name }) => ({ id, ...(await read(name)) })));
  return { ...main, file, release, addOns: beside };
}

/** The release's file; for an operator in a namespace of another name, with that name in it. */
async function readMain(sources: Sources, { goal }: Context, { variant, move }: OwnFile): Promise<Read & Pick<Target, 'moved'>> {
  const read = withoutJobs(await fetched(sources, goal.release, variant.file));
  return move ? { ...read, ...movedFile(read, move) } : read;
}

/** The file that holds an installation. */
export interface OwnFile {
  readonly variant: Variant;
  /** The name under which it is saved (§4.1). */
  readonly file: string;
  /** Components with a manifest of their own that are installed beside it; an operator installs them itself. */
  readonly addOns: readonly AddOn[];
  /** To where the operator runs, if that is not where the release puts it. */
  readonly move?: Move | undefined;
  /** Throws Fault if it is another one's, or not of the target. */
  assertIs(manifest: Manifest): void;
}

/** Throws Fault('blocked') where a chart is all there is. */
export function ownFile(context: Context, installation: Installation): OwnFile {
  if (isByChart(installation)) throw noFile(installation);
  return isOperated(installation) ? operatorFile(context, installation) : fullFile(context, installation);
}

/** The release's files of which it is made. */
export function ownFiles(context: Context, installation: Installation): readonly string[] {
  const { variant, addOns } = ownFile(context, installation);
  return [variant.file, ...addOns.map(({ file }) => file)];
}

function fullFile(context: Context, installation: Installation): OwnFile {
  const { profile, goal } = context;
  const variant = profile.variants.find((one) => one.id === installation.variant);
  if (!variant) throw noFile(installation);
  return {
    variant,
    file: goal.takesBack ? ROLLBACK_FILE : UPGRADE_FILE,
    addOns: profile.addOns.filter(({ id }) => (id === 'apiserver' ? installation.hasApiServer : installation.hasCsiDriver)),
    assertIs: (manifest) => assertIsTarget(manifest, variant, goal.release, finishedFile(context)),
  };
}

/** The operator's manifest stands for a variant, so that it is fetched, compared and previewed like a full one (§4.3/1). */
function operatorFile(context: Context, installation: Installation): OwnFile {
  const variant = operatorVariant(context.profile, installation.operator?.namespace);
  return {
    variant,
    // Both files of a run that goes forward again are compared with what the record says of them.
    file: context.goal.takesBack ? `rollback-${variant.file}` : variant.file,
    addOns: [],
    move: operatorMove(context, installation),
    assertIs: (manifest) => assertIsOperator(manifest, variant, context, installation),
  };
}

const noFile = ({ path }: Installation): Fault =>
  new Fault('blocked', `an installation by ${path} has no full manifest to upgrade with`, [
    'a chart is upgraded with `apply` or `run`: its operator makes the workloads, and no manifest is written',
  ]);

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

function operatorVariant({ operator }: Pick<Profile, 'operator'>, namespace = operator.namespace): Variant {
  const { deployment: name, file } = operator;
  const own: WorkloadName = { kind: 'Deployment', namespace, name, container: name, ready: { type: 'all-containers' } };
  return { id: 'operator', title: 'operator', file, datastore: 'api', agent: own, controllers: own, configMap: '', signs: [] };
}
