import { read } from '../kernel/check.ts';
import type { Context } from '../kernel/context.ts';
import { hasFullManifest, type Installation } from '../kernel/installation.ts';
import { intentWords } from '../kernel/intent.ts';
import { judgeAll } from '../kernel/judge.ts';
import type { Sources } from '../kernel/ports.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { pathOf } from './install/index.ts';
import { type AccessFacts, reviewed, rightsCheck } from './preflight/index.ts';
import { asked, type Needs, type PlanScope } from './rights/index.ts';
import { attempt, readInstalled } from './survey/index.ts';

/** The first stage of a rollback, which asks as well what the account may do: a rollback needs rights that an upgrade does not, and has no preflight. */
export function askingRights(inner: AnyStage, ofRollback: () => readonly Needs[]): AnyStage {
  return {
    ...inner,
    checks: [rightsCheck, ...inner.checks],
    async open(sources, context) {
      if (!intentWords(context.intent).goesBack) return inner.open(sources, context);
      const [open, facts] = await Promise.all([inner.open(sources, context), readRights(sources, context, ofRollback())]);
      return { ...open, findings: () => [...judgeAll([rightsCheck], facts, context), ...open.findings()] };
    },
  };
}

async function readRights(sources: Sources, context: Context, needs: readonly Needs[]): Promise<AccessFacts> {
  const installation = await attempt(() => readInstalled(sources, context));
  const access = await attempt(async () => {
    const found = read(installation);
    return reviewed(sources.cluster, asked(needs, context.profile, await scopeOf(sources, context, found)));
  });
  return { access, installation: 'value' in installation ? installation.value : undefined, of: 'rollback' };
}

/** The objects of the old release by name, where its manifest is at hand. Whether there is a mesh is not read: nothing of it is asked for. */
async function scopeOf({ stored }: Pick<Sources, 'stored'>, { profile, goal }: Context, installation: Installation): Promise<PlanScope> {
  const variant = profile.variants.find(({ id }) => id === installation.variant);
  const isWhole = hasFullManifest(installation) && variant !== undefined;
  const documents = isWhole ? await stored.documentsOf(goal.release, variant.file) : undefined;
  return { ...pathOf(installation).scope(profile, documents), meshed: false };
}
