import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only, probing } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import { networkProbeFlags } from '../cli/stage-flags.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Wait extends BaseCommand {
  static override summary = 'Follow the rolling update, node by node; changes nothing';
  static override procedure = '§4.4/3, §4.5/3';
  static override description = described(
    `Watches until every pod runs the target release and is ready, and says why one is late.
Can be interrupted and started again at any time. With --probe-network it starts short-lived Jobs, once confirmed: new pods on an upgraded and an
old node must resolve a name and reach each other, or the wait stops.`,
    { when: 'During the rolling update, beside apply or after it, from any machine.' },
  );
  static override examples = [
    '<%= config.bin %> wait --timeout=30m',
    '<%= config.bin %> wait --probe-network --probe-image registry.example.com/busybox:1.37 --probe-namespace netsvc-probe',
  ];
  static override flags = { ...networkProbeFlags, ...actingFlags, ...targetFlags, ...outputFlags, ...connectionFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Wait, this.words());
    const select = probing(only('wait'), flags['probe-network']);
    return runStageCommand({ ...this.asked(flags, this.typed), select, usesRecord: true }, this.seams);
  }
}
