import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Wait extends StageCommand {
  static override summary = 'Follow the rolling update, node by node; changes nothing';
  static override procedure = '§4.4/3, §4.5/3';
  static override description = described(
    `Watches until every pod runs the target release and is ready, and says why one is late.
Ready, with profile calico: all containers of the pod. With netsvc: READY 2/2 of an agent, 1/2 in key-value mode, 1/1 of the controllers.
Pods of kube-system that are not the service's are not waited for: those in trouble are named (NS-312).
Can be interrupted and started again at any time. With --probe-network it starts short-lived Jobs, once confirmed: new pods on an upgraded and an
old node must resolve a name and reach each other, or the wait stops.`,
    'During the rolling update, beside apply or after it, from any machine.',
  );
  static override examples = [
    '<%= config.bin %> wait --timeout=30m',
    '<%= config.bin %> wait --probe-network --probe-image registry.example.com/busybox:1.37 --probe-namespace netsvc-probe',
  ];
  static override flags = flagsOf('wait');
  protected override readonly usesRecord = 'looks';
}
