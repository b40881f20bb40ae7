import assert from 'node:assert/strict';
import { Fault } from '../../src/kernel/fault.ts';
import { commandWords } from '../../src/kernel/user-command.ts';

const words = (text: string, platform = 'linux') => commandWords(text, 'probe', platform);

describe('the words of a command that a flag names', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['./check.sh', ['./check.sh']],
    ['  ./check.sh   --node  {node} ', ['./check.sh', '--node', '{node}']],
    [`curl -H 'Host: shop' "http://10.0.0.1/?a=1&b=2"`, ['curl', '-H', 'Host: shop', 'http://10.0.0.1/?a=1&b=2']],
    [`a'b c'd "e\\"f" g\\ h ''`, ['a', 'e"f', 'g h', ''].map((one, at) => (at === 0 ? 'ab cd' : one))],
    [`printf '$HOME and \`id\`'`, ['printf', '$HOME and `id`']],
    ['cost \\$5', ['cost', '$5']],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(words(text), expected));

  it('keep a backslash on Windows', () =>
    assert.deepEqual(words('C:\\tools\\check.exe "C:\\a b"', 'win32'), ['C:\\tools\\check.exe', 'C:\\a b']));

  for (const text of ['a | b', 'a && b', 'a > f', 'a; b', 'a $HOME', 'a "$HOME"', 'a `id`', 'a $(id)', "a 'b", 'a "b', '', '  ', "''"])
    it(`are refused where only a shell could read them, or there are none: ${JSON.stringify(text)}`, () =>
      assert.throws(
        () => words(text),
        (thrown) => thrown instanceof Fault && thrown.code === 'usage' && thrown.message.startsWith('--probe'),
      ));
});
