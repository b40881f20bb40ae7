import type { NotRead, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { isRecord, jsonAt, mapAt, sameValue } from '../../kernel/json.ts';
import { crdName, type Kind, type KubeObject, refOf } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { OlderReaders, Profile } from '../../kernel/profile.ts';
import { named } from '../../kube/lean-objects.ts';
import { manifestOf, objectsIn } from '../../manifest/manifest.ts';
import { askBehindCli } from '../service-cli/index.ts';
import { attempt } from '../survey/index.ts';
import type { NameProblem } from './policy-names.ts';
import { listed } from './stored-lists.ts';

/** What is asked here of a structural schema. */
interface Definition {
  readonly properties?: Readonly<Record<string, Definition>>;
  readonly items?: Definition;
  readonly additionalProperties?: boolean | Definition;
  readonly default?: unknown;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** By the name of a CRD. */
type Definitions = ReadonlyMap<string, Definition>;

/**
 * What is stored and the older release does not act upon: objects of kinds that it does not define, and fields that its
 * definitions do not have. Undefined where no release differs in that, or a key-value store is not asked any more. What a newer definition
 * fills in by default loses nothing.
 */
export async function readUnread(
  sources: Sources,
  context: Context,
  installation: Installation,
): Promise<Reading<readonly NameProblem[] | undefined>> {
  const { profile, goal } = context;
  const { olderReaders } = profile;
  if (!olderReaders) return { value: undefined };
  // The CLI of the newer release may be replaced once the agents are old.
  if (isKeyValue(installation) && installation.release === goal.release) return { value: undefined };
  const files = filesWithAll(installation, profile);
  const definitions = await attempt(() => definitionsOf(sources, goal.release, files));
  if ('unread' in definitions) return definitions;
  const old = definitions.value;
  if (old === undefined) return notDefined(sources, goal.release, files);
  return attempt(async () => {
    const left = goal.takesBack && (await definitionsOf(sources, goal.takesBack.to, files));
    const leanOf = (crd: string) => (object: KubeObject) => {
      const definition = old.get(crd);
      const unread = definition === undefined ? [] : unreadFields(object, definition, left?.get(crd), olderReaders);
      return { ...named(object), spec: { isNewKind: definition === undefined, unread } };
    };
    const found = isKeyValue(installation) ? await behindCli(sources, context, leanOf) : await inApi(sources, context, leanOf);
    return found.flatMap((object) => problemOf(object, goal.release));
  });
}

/** Manifests that hold every definition: a release has the same ones, whatever installs it. That of what is installed first: it is at hand. */
function filesWithAll({ variant }: Installation, { variants }: Profile): readonly string[] {
  const all = variants.filter(({ datastore }) => datastore === 'api');
  return all.toSorted((a, b) => Number(b.id === variant) - Number(a.id === variant)).map(({ file }) => file);
}

/** It cannot be looked for, which is no sign that there is nothing. */
function notDefined({ artifacts }: Pick<Sources, 'artifacts'>, release: string, [file = '']: readonly string[]): NotRead {
  return {
    unread: `neither this program nor ${artifacts.source} has ${file} of ${release}, which defines what that release acts upon`,
    hint: `Name a place that has it with --manifest-url. Or look yourself for objects and fields that ${release} does not have, then accept this check by name.`,
  };
}

/** By the name of a CRD: what of an object is held. */
type LeanOf = (crd: string) => (object: KubeObject) => KubeObject;

function inApi({ cluster }: Pick<Sources, 'cluster'>, { profile: { crdGroup, olderReaders } }: Context, leanOf: LeanOf) {
  const { kindsBeside = [], losesNothing } = olderReaders ?? {};
  const isMeant = ({ group, plural }: Pick<Kind, 'group' | 'plural'>) =>
    group === crdGroup
      ? losesNothing?.kinds.includes(plural) !== true
      : kindsBeside.some((one) => one.group === group && one.plural === plural);
  return listed(cluster, isMeant, (kind) => leanOf(crdName(kind)));
}

/** The CLI shows what an object of the API would have. */
async function behindCli(sources: Sources, context: Context, leanOf: LeanOf): Promise<readonly KubeObject[]> {
  const { goal, profile } = context;
  const { crdGroup: group, olderReaders } = profile;
  const cli = await askBehindCli(sources, context, [goal.takesBack?.to ?? goal.release]);
  const all = await eachOf(olderReaders?.shownByCli ?? [], 2, async (plural) =>
    (await cli.list(plural)).map(leanOf(crdName({ group, plural }))),
  );
  return all.flat();
}

function problemOf(object: KubeObject, release: string): readonly NameProblem[] {
  const { isNewKind, unread } = mapAt(object.spec);
  if (isNewKind === true) return [{ object: refOf(object), detail: `${release} has no such kind` }];
  const fields = Array.isArray(unread) ? unread.map(String) : [];
  return fields.length === 0 ? [] : [{ object: refOf(object), detail: fields.join(', ') }];
}

async function definitionsOf(
  { stored, artifacts }: Pick<Sources, 'stored' | 'artifacts'>,
  release: string,
  files: readonly string[],
): Promise<Definitions | undefined> {
  for (const file of files) {
    const carried = await stored.documentsOf(release, file);
    if (carried) return defined(carried);
  }
  for (const path of files.map((file) => `manifests/${file}`))
    if (await artifacts.has(release, path)) return defined(objectsIn(await manifestOf(await artifacts.fetch(release, path))));
  return undefined;
}

function defined(documents: readonly KubeObject[]): Definitions {
  const crds = documents.filter(({ kind }) => kind === 'CustomResourceDefinition');
  return new Map(crds.map((crd) => [crd.metadata.name, definitionIn(crd)]));
}

/** Of the stored version; older definitions have one for all of them. */
function definitionIn({ spec }: KubeObject): Definition {
  const versions = jsonAt(spec, 'versions');
  const all: readonly unknown[] = Array.isArray(versions) ? versions : [];
  const one = all.find((version) => jsonAt(version, 'storage') === true);
  return mapAt(jsonAt(one, 'schema', 'openAPIV3Schema') ?? jsonAt(spec, 'validation', 'openAPIV3Schema'));
}

function unreadFields(
  { spec }: KubeObject,
  old: Definition,
  left: Definition | undefined,
  { losesNothing }: OlderReaders,
): readonly string[] {
  // A definition without a schema has all that is stored.
  const before = old.properties?.spec;
  if (before === undefined) return [];
  const found = [...unreadIn(spec, before, left?.properties?.spec, '')].map((path) => path.replace(/^\./, ''));
  const { fields, values } = losesNothing;
  const isOwn = (path: string) => Object.hasOwn(values, path) && sameValue(jsonAt(spec, ...path.split('.')), values[path]);
  return found.filter((path) => !isOwn(path) && !fields.some((field) => path === field || path.startsWith(`${field}.`)));
}

function* unreadIn(value: unknown, old: Definition | undefined, left: Definition | undefined, path: string): Generator<string> {
  if (old === undefined) {
    if (!isDefault(value, left)) yield path;
  } else if (old['x-kubernetes-preserve-unknown-fields'] === true) return;
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* unreadIn(item, old.items ?? {}, left?.items, `${path}[${index}]`);
  } else if (isRecord(value)) yield* unreadMembers(value, old, left, path);
}

function* unreadMembers(
  value: Readonly<Record<string, unknown>>,
  { properties, additionalProperties }: Definition,
  left: Definition | undefined,
  path: string,
): Generator<string> {
  if (properties === undefined || additionalProperties !== undefined) return;
  for (const [name, member] of Object.entries(value))
    yield* unreadIn(member, Object.hasOwn(properties, name) ? properties[name] : undefined, left?.properties?.[name], `${path}.${name}`);
}

/** What a definition fills in by itself, and what has nothing else in it. */
function isDefault(value: unknown, left: Definition | undefined): boolean {
  if (left?.default !== undefined && sameValue(value, left.default)) return true;
  return isRecord(value) && Object.entries(value).every(([name, member]) => isDefault(member, left?.properties?.[name]));
}
