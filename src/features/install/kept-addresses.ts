import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { continues } from '../../kernel/run-record.ts';
import { type IpamFacts, keepsIpam, keptIpam, readIpamAlone } from '../ipam/index.ts';
import { attempt, type PathPart } from '../survey/index.ts';

/** The stage that restarts the agents keeps how the bookkeeping of addresses is before, where no backup of this run has. */
export function keepingAddresses(part: PathPart): PathPart {
  return {
    ...part,
    async open(sources, context, installation) {
      const opened = await part.open(sources, context, installation);
      const read = await attempt(() => readBefore(sources, context, installation));
      const ipam = 'value' in read ? read.value : undefined;
      if (!ipam) return opened;
      return {
        findings: () => opened.findings(),
        plan() {
          const plan = opened.plan();
          return 'skip' in plan ? plan : { ...plan, keepForLater: keptIpam(ipam) };
        },
      };
    },
  };
}

/** Undefined where it is kept elsewhere, or where this stage has begun before: agents may have asked for their addresses since. */
async function readBefore({ cluster, records }: Sources, context: Context, installation: Installation): Promise<IpamFacts | undefined> {
  const { chain, options } = context;
  if (chain?.onlyPlanned || options.dryRun !== 'none' || chain?.earlier?.includes('backup')) return undefined;
  const record = await records.load();
  if (continues(record, context) && (keepsIpam(record) || record.stages.some(({ id }) => id === 'apply'))) return undefined;
  const ipam = await readIpamAlone(cluster, context, installation);
  return ipam && ipam.blocks > 0 ? ipam : undefined;
}
