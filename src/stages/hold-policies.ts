import type { Action } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import type { KubeObject } from '../core/object.ts';

/**
 * `--hold-policy-migration`: the new controllers find the renaming of policies switched off before they start.
 * Always written right before the controllers' wave, whatever it says now: writers of older releases erase it, and the wait for
 * the agents may take hours (host endpoint notes 0.7).
 */
export function holdPolicyMigration(configuration: KubeObject | undefined, context: Context, renames: boolean): readonly Action[] {
  const { policyRenaming, controllersConfiguration, crdGroup } = context.profile;
  if (!context.options.holdPolicyMigration || !policyRenaming || !renames) return [];
  if (!configuration) {
    const { kind, name } = controllersConfiguration;
    throw new Fault('blocked', `${kind}/${name} does not exist: the renaming of policies cannot be held before the controllers start`, [
      'create it (any running controllers do), or leave out --hold-policy-migration',
    ]);
  }
  const path = policyRenaming.switchField.split('.');
  const patch = JSON.stringify(nested(path, 'Disabled'));
  const args = ['patch', `${controllersConfiguration.plural}.${crdGroup}`, controllersConfiguration.name, '--type=merge', '-p', patch];
  return [
    {
      id: 'hold-policies',
      title: 'keep the new controllers from renaming stored policies',
      ref: 'domain §0.6b',
      undo: 'full',
      effect: { type: 'exec', run: { tool: 'kubectl', args } },
    },
  ];
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
}
