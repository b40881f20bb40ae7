import type { Evidence } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { parseRelease } from '../../kernel/release.ts';
import { injectorRevision, notAfterLine } from '../survey/index.ts';
import type { TemplateMounts } from './checks.ts';
import type { Data } from './merge.ts';
import { givesTarget } from './restarted.ts';
import { type Injector, templateData } from './templates.ts';
import type { MeshedWorkload } from './workloads.ts';

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
  return { csi: mounting(templates, (text) => /^\s*(- )?csi:/m.test(text)), flexible: flexiblyMounted(templates, context) };
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
  return outcome.edited ? `the template of ${outcome.from} with your edits` : `the template of ${outcome.from}`;
}

/** False if the agents of the target no longer install that driver; a target that tells no release is taken for a new one. */
function hasFlexibleVolume({ profile, options }: Context): boolean {
  const { flexvolUntil } = profile;
  return flexvolUntil !== undefined && parseRelease(options.release) !== undefined && notAfterLine(options.release, flexvolUntil);
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
