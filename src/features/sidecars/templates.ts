import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseImage } from '../../kernel/release.ts';
import { appliedNames } from '../../kube/managed-fields.ts';
import { type InjectorTemplate, parseTemplate } from '../../manifest/injector-template.ts';
import { mergeText, type TextConflict } from '../../manifest/sequences.ts';
import { attempt, readInjectors } from '../survey/index.ts';
import { injectorRevision, type MeshRevision, meshRevisions } from './mesh.ts';

/** An injector's ConfigMap with the policy sidecar in it, and what the target makes of it. */
export interface Injector {
  readonly map: KubeObject;
  readonly outcome: InjectorOutcome;
}

export type InjectorOutcome =
  /** No template of the target serves this mesh. */
  | { readonly type: 'none'; readonly because: string }
  /** `data` that the ConfigMap shall have, the user's edits carried; `edits` counts the lines of theirs. */
  | ({
      readonly type: 'template';
      readonly data: Data;
      readonly from: string;
      readonly isObject: boolean;
      readonly edited: boolean;
    } & Marks)
  /** The user's edits that cannot be carried, or told. */
  | { readonly type: 'conflict'; readonly because: string };

/** Injectors of the mesh, of every revision. */
export interface Injectors {
  readonly withSidecar: readonly Injector[];
  /** ConfigMaps of those that put no policy sidecar into pods. */
  readonly plain: readonly KubeObject[];
}

/** Which of them put the policy sidecar into pods, and by which template of the target (domain §9). */
export async function readInjectorTemplates(sources: Sources, context: Context): Promise<Injectors> {
  const { meshed, plain } = await readMeshed(sources, context);
  const withSidecar = meshed.map(async ({ map, mesh }) => ({ map, outcome: await outcomeOf(sources, context, map, mesh) }));
  return { withSidecar: await Promise.all(withSidecar), plain };
}

/** The target's templates for the injectors with the policy sidecar: paths below a release. */
export async function templateFiles(sources: Sources, context: Context): Promise<readonly string[]> {
  const { meshed } = await readMeshed(sources, context);
  const files = await Promise.all(meshed.map(({ mesh }) => templateFile(sources, context, mesh?.version)));
  return [...new Set(files.filter((file) => file !== undefined))];
}

/** The injectors: those with the policy sidecar, each with its mesh, and the others. */
async function readMeshed({ cluster }: Sources, { profile }: Context) {
  const { container, injectorNamespace: namespace } = profile.sidecar;
  const [injectors, deployments, pods] = await Promise.all([
    readInjectors(cluster, profile),
    cluster.list(K.Deployment, { namespace }),
    cluster.list(K.Pod, { namespace }),
  ]);
  const meshes = meshRevisions({ deployments, pods, injectors }, profile);
  const meshOf = ({ metadata }: KubeObject) => meshes.find(({ revision }) => revision === injectorRevision(metadata.name, profile));
  const hasSidecar = (map: KubeObject) => textsOf(map).some((text) => text.includes(`name: ${container}`));
  return {
    meshed: injectors.filter(hasSidecar).map((map) => ({ map, mesh: meshOf(map) })),
    plain: injectors.filter((map) => !hasSidecar(map)),
  };
}

async function outcomeOf(sources: Sources, context: Context, map: KubeObject, mesh: MeshRevision | undefined): Promise<InjectorOutcome> {
  const found = await targetTemplate(sources, context, mesh);
  if ('because' in found) return { type: 'none', because: found.because };
  const { template, from, file } = found;
  // A file of the user's own is what they want it to be.
  const base = file === undefined ? undefined : await baseTemplate(sources, context, map, file);
  const marks = marksOf(map, file === undefined ? map.metadata : base, template);
  const common = { type: 'template', from, isObject: template.isObject, ...marks } as const;
  if (file === undefined) return { ...common, data: { ...dataOf(map), ...template.data }, edited: false };
  const merged = mergeData(dataOf(map), base?.data, template.data, context);
  if ('because' in merged) return { type: 'conflict', because: merged.because };
  return { ...common, data: merged.data, edited: merged.edited };
}

function marksOf({ metadata }: KubeObject, base: Partial<Marks> | undefined, template: Marks): Marks {
  const of = (what: keyof Marks) => mergeMarks(metadata[what] ?? {}, base?.[what] ?? {}, template[what], appliedNames(metadata, what));
  return { labels: of('labels'), annotations: of('annotations') };
}

/** Labels and annotations that it shall have; those that it has where the template is only data. */
interface Marks {
  readonly labels: Data;
  readonly annotations: Data;
}

interface Found {
  readonly template: InjectorTemplate;
  /** Where it came from. */
  readonly from: string;
  /** Path below a release; undefined for the user's own file. */
  readonly file?: string;
}

/** The user's file, else that of the target. */
async function targetTemplate(
  sources: Sources,
  context: Context,
  mesh: MeshRevision | undefined,
): Promise<Found | { readonly because: string }> {
  const { goal, options } = context;
  if (options.template !== undefined) {
    return { template: parseTemplate(await sources.files.readText(options.template), options.template), from: options.template };
  }
  if (mesh?.version === undefined)
    return { because: mesh ? `the image of ${mesh.deployment} does not tell its version` : 'no control plane of this revision was found' };
  if (mesh.mixed) return { because: `${mesh.deployment} runs ${mesh.mixed.join(' and ')}: the mesh’s own upgrade has to end first` };
  const file = await templateFile(sources, context, mesh.version);
  if (file === undefined) return { because: `${goal.release} has no template for mesh ${mesh.version}` };
  const { url, bytes } = await sources.artifacts.fetch(goal.release, file);
  return { template: parseTemplate(new TextDecoder().decode(bytes), url), from: url, file };
}

/** The exact version's template, else that of the minor; the mesh's later ones have none. */
async function templateFile({ artifacts }: Sources, { profile, goal }: Context, mesh: string | undefined): Promise<string | undefined> {
  if (mesh === undefined) return undefined;
  for (const version of [mesh, mesh.replace(/\.\d+$/, '')]) {
    const file = profile.sidecar.template.replace('{version}', version);
    if (await artifacts.has(goal.release, file)) return file;
  }
  return undefined;
}

/** The template of the release whose sidecar the injector has now: what the user's edits are identified by. */
async function baseTemplate(sources: Sources, context: Context, map: KubeObject, file: string): Promise<InjectorTemplate | undefined> {
  const release = sidecarTag(map, context);
  if (release === undefined) return undefined;
  const text = await attempt(async () => {
    if (!(await sources.artifacts.has(release, file))) return undefined;
    return new TextDecoder().decode((await sources.artifacts.fetch(release, file)).bytes);
  });
  return 'value' in text && text.value !== undefined ? parseTemplate(text.value, file) : undefined;
}

function sidecarTag(map: KubeObject, { profile }: Context): string | undefined {
  const [image] = sidecarImagesIn(textsOf(map), profile);
  return image === undefined ? undefined : parseImage(image).tag;
}

/** Images of the policy sidecar that templates name. */
export function sidecarImagesIn(texts: readonly string[], { images }: Profile): readonly string[] {
  return texts
    .flatMap((text) => [...text.matchAll(/\bimage:\s*["']?([^\s"',}]+)/g)].map(([, image = '']) => image))
    .filter((image) => images.sidecar.includes(parseImage(image).name));
}

/** What new pods are made by after this command: the template that it puts in, else the one that is there and stays. */
export function templateData({ map, outcome }: Injector): Data {
  if (outcome.type === 'template') return outcome.data;
  return Object.fromEntries(Object.entries(dataOf(map)).filter(([, text]) => typeof text === 'string'));
}

function dataOf(map: KubeObject): Data {
  return (map.data ?? {}) as Data;
}

function textsOf(map: KubeObject): readonly string[] {
  return Object.values(dataOf(map)).filter((text) => typeof text === 'string');
}

/** The data that the ConfigMap shall have, or why the user's edits cannot be carried. */
type Merged = { readonly data: Data; readonly edited: boolean } | { readonly because: string };

/** Keys that only the cluster has stay; a key of both is merged line by line. Without a base nothing but the sidecar's tag may differ. */
function mergeData(mine: Data, base: Data | undefined, theirs: Data, context: Context): Merged {
  const data: Record<string, string> = { ...mine };
  let edited = false;
  for (const [key, fresh] of Object.entries(theirs)) {
    const own = mine[key];
    const before = base?.[key];
    if (own === undefined || retagged(own, fresh, context) === fresh) data[key] = fresh;
    else if (before === undefined) return { because: `${key}: no template of its release is known, so your changes cannot be told` };
    else {
      const result = mergeText(before, own, fresh);
      if ('conflicts' in result) return { because: conflictText(key, result.conflicts, { mine: 'yours', theirs: "the target's" }) };
      data[key] = result.text;
      edited ||= result.text !== fresh;
    }
  }
  return { data, edited };
}

/**
 * What the file says besides the data: the template's value unless the user set another, and what was applied before, which kubectl would
 * remove. The rest stays, and is not noted as applied: a later file would remove it.
 */
function mergeMarks(mine: Data, base: Data, theirs: Data, applied: readonly string[]): Data {
  const fresh = Object.entries(theirs).filter(([key]) => mine[key] === undefined || mine[key] === base[key]);
  const noted = Object.entries(mine).filter(([key]) => applied.includes(key));
  return { ...Object.fromEntries(noted), ...Object.fromEntries(fresh) };
}

/** `data` of a ConfigMap. */
export type Data = Readonly<Record<string, string>>;

/** The text with the sidecar's images of the other: what an unedited one of another release would be, if nothing else changed. */
function retagged(text: string, like: string, { profile }: Context): string {
  const [target] = sidecarImagesIn([like], profile);
  if (target === undefined) return text;
  return text.replaceAll(/(image:\s*["']?)([^\s"']+)/g, (all, before: string, image: string) =>
    profile.images.sidecar.includes(parseImage(image).name) ? `${before}${target}` : all,
  );
}

/** The first place, in words; `mine` and `theirs` are how the user calls the two sides. */
export function conflictText(
  key: string,
  [first, ...more]: readonly TextConflict[],
  { mine, theirs }: { readonly mine: string; readonly theirs: string },
): string {
  const rest = more.length > 0 ? ` and ${counted(more.length, 'more place')}` : '';
  return `${key}, line ${first?.line}: ${mine} ${JSON.stringify(first?.mine.join('\n'))}, ${theirs} ${JSON.stringify(first?.theirs.join('\n'))}${rest}`;
}
