import type { Evidence } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { notAfterLine, parseImage, parseRelease } from '../../kernel/release.ts';
import type { OperatedImages } from '../install-operator/index.ts';
import { attempt } from '../survey/index.ts';
import type { TemplateMounts } from './checks.ts';
import { injectorRevision } from './mesh.ts';
import { type Data, type Injector, type Injectors, readInjectorTemplates, sidecarImagesIn, templateData } from './templates.ts';
import type { MeshedWorkload } from './workloads.ts';

/** Workloads whose pods this command replaces, or waits for while they are being replaced already; what cannot be restarted is in NS-734. */
export function restartedWorkloads(
  workloads: readonly MeshedWorkload[],
  injectors: readonly Injector[],
  context: Context,
): readonly MeshedWorkload[] {
  const { goal, options } = context;
  if (options.onlyTemplate) return [];
  // New pods would get the same older sidecar again.
  if (parseImage(sidecarImage(injectors, context)).tag !== goal.release) return [];
  return workloads.filter(
    ({ stale, obstacle, isOlderThanRun }) => obstacle === undefined && (stale > 0 || (options.all === true && isOlderThanRun)),
  );
}

/** The image that the injectors give new pods once their templates are the target’s; one of the target’s release where any does. */
export function sidecarImage(injectors: readonly Injector[], context: Context): string {
  const { profile, goal } = context;
  const images = injectors.flatMap((one) => imageOf(one, context) ?? []);
  const found = images.find((image) => parseImage(image).tag === goal.release) ?? images[0];
  return found ?? `${profile.registries[0] ?? ''}/${profile.images.sidecar[0] ?? ''}:${goal.release}`;
}

/**
 * Restarts only pods whose revision's injector gives the new sidecar. With an unchanged template they would come back the same and restart
 * in every run; with a lost or no sidecar they would come back without one.
 */
export function withInjectorsOf(
  workloads: readonly MeshedWorkload[],
  { withSidecar, plain }: Injectors,
  context: Context,
): readonly MeshedWorkload[] {
  // Restarts give a newer sidecar only where something puts it into new pods.
  if (withSidecar.length === 0) {
    return workloads.map((one) => ({ ...one, obstacle: one.obstacle ?? 'no injector of the mesh has the sidecar: find what put it in' }));
  }
  const given = [
    ...withSidecar.map((one) => givenBy(one.map, givesTarget(one, context) ? 'new' : 'older', context)),
    ...plain.map((map) => givenBy(map, 'none', context)),
  ];
  if (!given.some(({ gives }) => gives === 'new')) return workloads;
  return workloads.map((one) => {
    const obstacle = one.obstacle ?? whyNotNew(one, given);
    return obstacle === undefined ? one : { ...one, obstacle };
  });
}

type Given = ReturnType<typeof givenBy>;

function givenBy({ metadata: { name } }: KubeObject, gives: 'new' | 'older' | 'none', { profile }: Context) {
  return { revision: injectorRevision(name, profile), name, gives };
}

function whyNotNew({ revision }: MeshedWorkload, given: readonly Given[]): string | undefined {
  if (revision === undefined) {
    if (given.every(({ gives }) => gives === 'new')) return undefined;
    return 'its pods do not show which injector serves them, and not every injector has the new sidecar: restart it yourself';
  }
  const mine = given.find((one) => one.revision === revision);
  if (!mine)
    return `its pods are of revision ${revision}, of which no injector has the sidecar: restarted, they could come back without it`;
  if (mine.gives === 'new') return undefined;
  if (mine.gives === 'older') return `its injector ${mine.name} still gives an older sidecar: a restart would change nothing`;
  return `its injector ${mine.name} has no sidecar: restarted, its pods would come back without it`;
}

/** True if new pods of this injector get the target's sidecar, once its template is the target's or where it is kept. */
function givesTarget(injector: Injector, context: Context): boolean {
  return parseImage(imageOf(injector, context) ?? '').tag === context.goal.release;
}

function imageOf(injector: Injector, { profile }: Context): string | undefined {
  return sidecarImagesIn(Object.values(templateData(injector)), profile)[0];
}

/**
 * How new pods mount the policy socket (domain §9), by the template they will get: the target's, the user's file or the merged one. An
 * unchanged injector whose workloads restart counts with its live template.
 */
export function templateMounts(injectors: readonly Injector[], restarted: readonly MeshedWorkload[], context: Context): TemplateMounts {
  const served = restarted.map(({ revision }) => revision);
  const judged = injectors.filter((one) => {
    if (one.outcome.type === 'template') return true;
    const mine = injectorRevision(one.map.metadata.name, context.profile);
    // A workload that does not tell its revision may be any injector's.
    return givesTarget(one, context) && served.some((revision) => revision === undefined || revision === mine);
  });
  const templates = judged.map((one) => ({ text: refText(refOf(one.map)), from: fromOf(one), data: templateData(one) }));
  return { csi: mounting(templates, (text) => /^[ \t]*(- )?csi:/m.test(text)), flexible: flexiblyMounted(templates, context) };
}

/** A template of an injector, and where it is from. */
interface From {
  readonly text: string;
  readonly from: string;
  readonly data: Data;
}

/** Those that mount by a driver which the target no longer has. */
export function flexiblyMounted(templates: readonly From[], context: Context): readonly Evidence[] {
  return hasFlexibleVolume(context) ? [] : mounting(templates, (text) => mountsFlexible(text, context));
}

function mounting(templates: readonly From[], how: (text: string) => boolean): readonly Evidence[] {
  return templates.flatMap(({ text, from, data }) => {
    const found = Object.entries(data).find(([, value]) => how(value));
    return found ? [{ text, detail: `${from}, ${found[0]}` }] : [];
  });
}

function fromOf({ outcome }: Injector): string {
  if (outcome.type !== 'template') return 'its template as it is now, which nothing changes';
  return outcome.edited ? `the template of ${outcome.from} with your changes` : `the template of ${outcome.from}`;
}

/** False if the agents of the target no longer install that driver; a target that tells no release is taken for a new one. */
function hasFlexibleVolume({ profile, goal }: Context): boolean {
  const { flexvolUntil } = profile;
  return flexvolUntil !== undefined && parseRelease(goal.release) !== undefined && notAfterLine(goal.release, flexvolUntil);
}

/** By the driver's name; where the profile has none, any flexible volume counts. Lines that are comments do not. */
function mountsFlexible(text: string, { profile }: Context): boolean {
  const { flexDriver } = profile.sidecar;
  return text.split('\n').some((line) => {
    if (/^\s*#/.test(line)) return false;
    if (flexDriver === undefined) return /\bflexVolume["']?\s*:/.test(line);
    const driver = /\bdriver["']?\s*:\s*["']?([^\s"',}]+)/.exec(line)?.[1];
    return driver === flexDriver;
  });
}

/** Images of the policy sidecar that the mesh puts into pods once its template is the target's (§4.6); none without a mesh. */
export async function readSidecarImages(sources: Sources, context: Context): Promise<OperatedImages> {
  const injectors = await attempt(() => readInjectorTemplates(sources, context));
  if ('unread' in injectors) return { images: [], unknown: [`the image of the mesh’s policy sidecar is not known: ${injectors.unread}`] };
  return {
    images: injectors.value.withSidecar.flatMap(({ outcome }) =>
      outcome.type === 'template' ? sidecarImagesIn(Object.values(outcome.data), context.profile) : [],
    ),
    unknown: injectors.value.withSidecar.flatMap(({ map, outcome }) => {
      if (outcome.type === 'template') return [];
      const because = outcome.type === 'none' ? outcome.because : 'its changes are still to be decided (stage alp)';
      return [`the image of the policy sidecar in ${refText(refOf(map))} is not known: ${because}`];
    }),
  };
}
