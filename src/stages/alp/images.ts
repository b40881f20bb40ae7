import type { Context } from '../../core/context.ts';
import { parseImage } from '../../detect/images.ts';
import { injectorRevision } from '../../detect/mesh.ts';
import { type Injector, templateData } from './templates.ts';
import type { MeshedWorkload } from './workloads.ts';

/** The image that the injectors give new pods once their templates are the target’s; one of the target’s release where any does. */
export function sidecarImage(injectors: readonly Injector[], context: Context): string {
  const { profile, options } = context;
  const images = injectors.flatMap((one) => imageOf(one, context) ?? []);
  const found = images.find((image) => parseImage(image).tag === options.release) ?? images[0];
  return found ?? `${profile.registries[0] ?? ''}/${profile.images.sidecar[0] ?? ''}:${options.release}`;
}

/**
 * Where one revision’s injector gives the target’s sidecar and another’s does not (its template is left as it is), a restart brings the
 * new sidecar only to pods of the first: the others would come back as they were, and be restarted by every run.
 */
export function withInjectorsOf(
  workloads: readonly MeshedWorkload[],
  injectors: readonly Injector[],
  context: Context,
): readonly MeshedWorkload[] {
  const given = injectors.map((one) => ({
    revision: injectorRevision(one.map.metadata.name, context.profile),
    name: one.map.metadata.name,
    isNew: givesTarget(one, context),
  }));
  if (given.every(({ isNew }) => isNew) || !given.some(({ isNew }) => isNew)) return workloads;
  return workloads.map((one) => {
    const mine = given.find(({ revision }) => revision === one.revision);
    if (one.obstacle !== undefined || mine?.isNew) return one;
    const obstacle = mine
      ? `its injector ${mine.name} still gives an older sidecar: a restart would change nothing`
      : 'its pods do not tell which injector serves them, and not every one gives the new sidecar: restart it by hand';
    return { ...one, obstacle };
  });
}

/** True if new pods of this injector get the target's sidecar, once its template is the target's or where it stays as it is. */
export function givesTarget(injector: Injector, context: Context): boolean {
  return parseImage(imageOf(injector, context) ?? '').tag === context.options.release;
}

function imageOf(injector: Injector, { profile }: Context): string | undefined {
  return Object.values(templateData(injector))
    .flatMap((text) => [...text.matchAll(/^\s*image:\s*["']?([^\s"']+)/gm)].map(([, image = '']) => image))
    .find((image) => profile.images.sidecar.includes(parseImage(image).name));
}
