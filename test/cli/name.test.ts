import assert from 'node:assert/strict';
import { displayedName } from '../../src/cli/name.ts';

const NAME = 'kubectl netsvc-upgrade';

describe('the displayed name', () => {
  const cases: readonly (readonly [string | undefined, string])[] = [
    ['kubectl-netsvc_upgrade', NAME],
    ['/opt/x y/netsvcctl-upgrade', 'netsvcctl upgrade'],
    ['C:\\Program Files\\x\\netsvcctl-upgrade.exe', 'netsvcctl upgrade'],
    ['C:\\x\\NETSVCCTL-UPGRADE.EXE', 'netsvcctl upgrade'],
    ['C:\\netsvcctl-tools\\kubectl-netsvc_upgrade.exe', NAME],
    ['main.js', NAME],
    [undefined, NAME],
  ];
  for (const [argv0, name] of cases) it(`is ${name} for ${argv0}`, () => assert.equal(displayedName(argv0), name));
});
