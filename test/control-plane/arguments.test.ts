import assert from 'node:assert/strict';
import { type Command, parseCommand } from './arguments.ts';

const defaults = { nodes: 5, profile: 'calico', variant: 'calico', maxMinutes: 120, readyAfterMs: 300, audit: false };
const up = (more: object, name = 'default') => ({ type: 'up', name, options: { ...defaults, ...more } });

describe('the control plane’s command line', () => {
  const understood: readonly [string, object][] = [
    ['up', up({})],
    ['up --nodes 12 --install v3.27.5', up({ nodes: 12, install: 'v3.27.5' })],
    ['up --variant policy-only', up({ variant: 'calico-policy-only' })],
    ['up --variant calico-typha', up({ variant: 'calico-typha' })],
    ['up --variant canal', up({ variant: 'canal' })],
    ['up --variant canal-etcd', up({ variant: 'canal-etcd' })],
    ['up --profile netsvc', up({ profile: 'netsvc', variant: 'netsvc' })],
    ['up --profile netsvc --variant kvstore', up({ profile: 'netsvc', variant: 'netsvc-kvstore' })],
    ['up --variant netsvc-overlay', up({ profile: 'netsvc', variant: 'netsvc-overlay' })],
    ['up --name two --max-minutes 5 --ready-after 20 --audit', up({ maxMinutes: 5, readyAfterMs: 20, audit: true }, 'two')],
    ['up --manifests releases', up({ manifests: 'releases' })],
    ['down', { type: 'down', name: 'default' }],
    ['down --name two', { type: 'down', name: 'two' }],
    ['status', { type: 'status' }],
    ['', { type: 'help' }],
    ['up --help', { type: 'help' }],
  ];
  for (const [line, expected] of understood) {
    it(`understands "${line}"`, () => assert.deepEqual(parse(line), expected));
  }

  const refused: readonly [string, RegExp][] = [
    ['sideways', /unknown command "sideways"/],
    ['up twice', /unexpected argument "twice"/],
    ['up --nodes 0', /--nodes is a whole number from 1/],
    ['up --nodes 2.5', /--nodes is a whole number from 1/],
    ['up --max-minutes forever', /--max-minutes is a whole number/],
    ['up --profile other', /--profile is calico or netsvc/],
    ['up --variant ../secrets', /--variant is the name of a manifest/],
    ['down --name ../two', /--name is made of/],
    ['up --no-such-flag', /no-such-flag/],
  ];
  for (const [line, problem] of refused) {
    it(`refuses "${line}" and says why`, () => {
      const command = parse(line);
      assert.equal(command.type, 'help');
      assert.match(command.type === 'help' ? (command.problem ?? '') : '', problem);
    });
  }
});

function parse(line: string): Command {
  return parseCommand(line.split(' ').filter((word) => word !== ''));
}
