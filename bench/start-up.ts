import { join } from 'node:path';
import { interleave, ratioTable, type Section } from './measure.ts';

const bin = join(import.meta.dirname, '..', 'bin');
const node = join(import.meta.dirname, '..', 'node_modules', '.bin', 'node');

/** Help, version and completion against a Node that does nothing. */
export async function startUp(): Promise<Section> {
  const cli = (name: string, ...args: readonly string[]) => ({ name: `\`${name}\``, program: join(bin, 'kubectl-netsvc_upgrade'), args });
  const figures = await interleave(
    [
      { name: '`node -e 0`', program: node, args: ['-e', '0'] },
      cli('--help', '--help'),
      cli('--version', '--version'),
      cli('run --help', 'run', '--help'),
      cli('__complete ""', '__complete', ''),
      { ...cli('aply', 'aply'), expect: [64] },
      cli('explain NS-001', 'explain', 'NS-001'),
      cli('__complete status --context ""', '__complete', 'status', '--kubeconfig', 'none', '--context', ''),
    ],
    15,
  );
  return {
    title: 'Start-up',
    aim: 'help at most 3× a bare Node; completion at most 300 ms',
    lines: ratioTable(figures),
  };
}
