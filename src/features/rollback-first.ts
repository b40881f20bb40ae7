import { type Reading, read } from '../kernel/check.ts';
import type { Context } from '../kernel/context.ts';
import { hasFullManifest, type Installation } from '../kernel/installation.ts';
import { intentWords } from '../kernel/intent.ts';
import { judgeAll } from '../kernel/judge.ts';
import { crdName } from '../kernel/object.ts';
import type { Sources } from '../kernel/ports.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { pathOf } from './install/index.ts';
import { type AccessFacts, reviewed, rightsCheck, serverChecksBack } from './preflight/index.ts';
import { asked, type Needs, type Permission, type PlanScope } from './rights/index.ts';
import { attempt, readInstalled } from './survey/index.ts';

/** The first stage of a rollback, which has no preflight: it asks as well what the account may do, and about the server. */
export function askingFirst(inner: AnyStage, ofRollback: () => readonly Needs[]): AnyStage {
  return {
    ...inner,
    checks: [...serverChecksBack, rightsCheck, ...inner.checks],
    async open(sources, context) {
      if (!intentWords(context.intent).goesBack) return inner.open(sources, context);
      const { cluster } = sources;
      const [open, rights, server, clockSkewMs] = await Promise.all([
        inner.open(sources, context),
        readRights(sources, context, ofRollback()),
        attempt(() => cluster.version()),
        attempt(() => cluster.clockSkewMs()),
      ]);
      const first = () => [...judgeAll(serverChecksBack, { server, clockSkewMs }, context), ...judgeAll([rightsCheck], rights, context)];
      return { ...open, findings: () => [...first(), ...open.findings()] };
    },
  };
}

async function readRights(sources: Sources, context: Context, needs: readonly Needs[]): Promise<AccessFacts> {
  const { cluster } = sources;
  const [installation, discovery] = await Promise.all([attempt(() => readInstalled(sources, context)), attempt(() => cluster.discover())]);
  const access = await attempt(async () => {
    const scope = await scopeOf(sources, context, read(installation));
    const isServed = servedBy(discovery);
    return reviewed(cluster, asked(needs, context.profile, scope).filter(isServed));
  });
  return { access, installation: 'value' in installation ? installation.value : undefined, of: 'rollback' };
}

/** Nobody needs a right to read what the server does not serve. */
function servedBy(discovery: Reading<Discovered>): (permission: Permission) => boolean {
  if (!('value' in discovery)) return () => true;
  const { kinds, failed } = discovery.value;
  const served = new Set(kinds.flatMap((kind) => [kind.group, crdName(kind)]));
  return ({ request: { verb, group, resource: plural } }) => {
    if (!READS.includes(verb) || group === '*' || failed.some((one) => one.startsWith(group))) return true;
    return served.has(plural === '*' ? group : crdName({ group, plural }));
  };
}

type Discovered = Awaited<ReturnType<Sources['cluster']['discover']>>;

const READS: readonly string[] = ['get', 'list', 'watch'];

/** The objects of the old release by name, where its manifest is at hand. Whether there is a mesh is not read: nothing of it is asked for. */
async function scopeOf(
  { stored }: Pick<Sources, 'stored'>,
  { profile, goal, options: { probeNetwork } }: Context,
  installation: Installation,
): Promise<PlanScope> {
  const variant = profile.variants.find(({ id }) => id === installation.variant);
  const isWhole = hasFullManifest(installation) && variant !== undefined;
  const documents = isWhole ? await stored.documentsOf(goal.release, variant.file) : undefined;
  const probes = probeNetwork ? { probeNamespace: probeNetwork.namespace } : {};
  return { ...pathOf(installation).scope(profile, documents), ...probes, meshed: false };
}
