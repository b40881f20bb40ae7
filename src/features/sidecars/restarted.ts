import type { Context } from '../../kernel/context.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { parseImage } from '../../kernel/release.ts';
import { injectorRevision } from '../survey/index.ts';
import { type Injector, type Injectors, templateData } from './templates.ts';
import type { MeshedWorkload } from './workloads.ts';

/** Workloads whose pods this command replaces, or waits for while they are being replaced already; what cannot be restarted is in NS-734. */
export function restartedWorkloads(
  workloads: readonly MeshedWorkload[],
  injectors: readonly Injector[],
  context: Context,
): readonly MeshedWorkload[] {
  const { options } = context;
  if (options.onlyTemplate) return [];
  // New pods would get the same older sidecar again.
  if (parseImage(sidecarImage(injectors, context)).tag !== options.release) return [];
  return workloads.filter(
    ({ stale, obstacle, isOlderThanRun }) => obstacle === undefined && (stale > 0 || (options.all === true && isOlderThanRun)),
  );
}

/** The image that the injectors give new pods once their templates are the target’s; one of the target’s release where any does. */
export function sidecarImage(injectors: readonly Injector[], context: Context): string {
  const { profile, options } = context;
  const images = injectors.flatMap((one) => imageOf(one, context) ?? []);
  const found = images.find((image) => parseImage(image).tag === options.release) ?? images[0];
  return found ?? `${profile.registries[0] ?? ''}/${profile.images.sidecar[0] ?? ''}:${options.release}`;
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

interface Given {
  readonly revision: string;
  readonly name: string;
  readonly gives: 'new' | 'older' | 'none';
}

function givenBy({ metadata: { name } }: KubeObject, gives: Given['gives'], { profile }: Context): Given {
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
export function givesTarget(injector: Injector, context: Context): boolean {
  return parseImage(imageOf(injector, context) ?? '').tag === context.options.release;
}

function imageOf(injector: Injector, { profile }: Context): string | undefined {
  return Object.values(templateData(injector))
    .flatMap((text) => [...text.matchAll(/^\s*image:\s*["']?([^\s"']+)/gm)].map(([, image = '']) => image))
    .find((image) => profile.images.sidecar.includes(parseImage(image).name));
}
