import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { type Detection, type Installation, isByChart, isKeyValue, isOperated } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { groupOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { pathOf } from '../install/index.ts';
import type { ChartAhead } from '../install-chart/index.ts';
import type { FoundTarget } from '../install-manifest/index.ts';
import { asked, type ChartScope, type DocumentKind, type Needs, type Permission } from '../rights/index.ts';
import { type AccessAnswer, attempt, installationIn, type PreflightFacts } from '../survey/index.ts';

/** What else the permissions depend on. */
interface AccessAround extends Pick<PreflightFacts, 'discovery'> {
  /** False if the mesh is known to be without the policy sidecar. */
  readonly meshed: boolean;
  readonly chart: Reading<ChartAhead | undefined>;
  /** What a run asks of the account. */
  readonly ofRun: readonly Needs[];
}

/** Asks, in one batch, for everything that `run` needs; without a target for what any run needs. */
export async function readAccess(
  cluster: ClusterReader,
  context: Context,
  detection: Reading<Detection>,
  { facts }: Pick<FoundTarget, 'facts'>,
  { meshed, discovery, chart, ofRun }: AccessAround,
): Promise<Reading<readonly AccessAnswer[]>> {
  return attempt(async () => {
    const { profile, options } = context;
    const installation = installationIn(detection);
    const target = 'value' in facts ? facts.value : undefined;
    const kindsOf = (objects: readonly KubeObject[]) => documentKindsOf(cluster, objects, target?.documents ?? []);
    const ahead = 'value' in chart ? chart.value : undefined;
    const release = await chartScope(installation, ahead, kindsOf, options);
    const scope = {
      meshed,
      documents: await kindsOf([
        ...(installation && target ? await pathOf(installation).asked(cluster, context, target, installation) : (target?.documents ?? [])),
        ...(ahead?.work?.written ?? []),
      ]),
      ...(release ? { chart: release } : {}),
      ...(options.probeNetwork ? { probeNamespace: options.probeNetwork.namespace } : {}),
      // Of an installation that could not be read, only that is named which would tell.
      operated: installation !== undefined && isOperated(installation),
      ...(installation ? { kvstore: isKeyValue(installation) } : {}),
      ...('value' in discovery ? { served: discovery.value.kinds } : {}),
    };
    return reviewed(cluster, asked(ofRun, profile, scope));
  });
}

/** One batch for all objects of each kind; if that is refused and names are known, a second one by name. Returns the refused names. */
export async function reviewed(cluster: ClusterReader, permissions: readonly Permission[]): Promise<readonly AccessAnswer[]> {
  const forAll = await cluster.reviewAccess(permissions.map(({ request }) => request));
  const named = permissions.flatMap(({ request, names = [] }, index) =>
    forAll[index] === true ? [] : names.map((name) => ({ index, request: { ...request, name } })),
  );
  const byName = named.length === 0 ? [] : await cluster.reviewAccess(named.map(({ request }) => request));
  return permissions.flatMap(({ request, why, required }, index) => {
    const mine = named.flatMap((one, place) =>
      one.index === index ? [{ request: one.request, why, required, allowed: byName[place] === true }] : [],
    );
    // An account that has none of them is told the kind, not every name.
    const some = mine.some(({ allowed }) => allowed);
    return some ? mine : [{ request, why, required, allowed: forAll[index] === true }];
  });
}

/** If a release's Secrets cannot be read, only its required place is known. */
async function chartScope(
  installation: Installation | undefined,
  ahead: ChartAhead | undefined,
  kindsOf: (objects: readonly KubeObject[]) => Promise<readonly DocumentKind[]>,
  { moveRelease }: Context['options'],
): Promise<ChartScope | undefined> {
  if (!installation?.chart || !isByChart(installation)) return undefined;
  const { namespace } = installation.chart;
  const to = installation.operator?.namespace;
  const moves = moveRelease && to !== undefined && to !== namespace ? { movesTo: to } : {};
  if (!ahead?.work) return { namespace, ...moves, storage: 'Secret', upgraded: false, installed: [], removed: [] };
  const { storage, upgraded, installed, removed } = ahead.work;
  return { namespace, ...moves, storage, upgraded, installed: await kindsOf(installed), removed: await kindsOf(removed) };
}

const RESOLVING = 6;

/** Each kind once for each namespace; a kind that is still to come is known from its definition. */
async function documentKindsOf(
  cluster: ClusterReader,
  documents: readonly KubeObject[],
  definitions: readonly KubeObject[],
): Promise<readonly DocumentKind[]> {
  const distinct = Map.groupBy(documents, (one) => `${one.apiVersion}|${one.kind}|${one.metadata.namespace ?? ''}`);
  const resolved = await eachOf([...distinct.values()], RESOLVING, async (alike) => {
    const [first] = alike;
    if (!first) return [];
    const { apiVersion, kind, metadata } = first;
    const found = (await cluster.resolve(apiVersion, kind)) ?? definedKind(apiVersion, kind, definitions);
    if (!found) return [];
    const names = alike.map((one) => one.metadata.name);
    return [{ kind: found, names, ...(found.namespaced && metadata.namespace ? { namespace: metadata.namespace } : {}) }];
  });
  return resolved.flat();
}

function definedKind(apiVersion: string, kind: string, documents: readonly KubeObject[]): Kind | undefined {
  const group = groupOf(apiVersion);
  const specs = documents.filter((one) => one.kind === K.CustomResourceDefinition.kind).map(({ spec }) => spec);
  const spec = specs.find((one) => textAt(one, 'group') === group && textAt(one, 'names', 'kind') === kind);
  const plural = textAt(spec, 'names', 'plural');
  if (plural === undefined) return undefined;
  return { group, version: apiVersion.slice(group.length + 1), kind, plural, namespaced: textAt(spec, 'scope') === 'Namespaced' };
}
