import assert from 'node:assert/strict';
import { commandIn } from '../../src/cli/ending/next-step.ts';
import {
  type AnyCommand,
  type Command,
  command,
  localCommand,
  ownCommand,
  repairCommand,
  repairsInTurn,
} from '../../src/kernel/command.ts';
import { look, stepOf, text } from '../../src/kernel/step.ts';

describe('a command', () => {
  it('is program and arguments for machines, and what needs a shell is given to one', () => {
    assert.deepEqual(command`kubectl get pod ${'a b'} -o jsonpath='{.x y}'`.argv, [
      'kubectl',
      'get',
      'pod',
      'a b',
      '-o',
      'jsonpath={.x y}',
    ]);
    const piped = command`kubectl get x -o name | xargs -n 1 kubectl delete`;
    assert.deepEqual(piped.argv, ['sh', '-c', 'kubectl get x -o name | xargs -n 1 kubectl delete']);
    // What is inserted is one word, whatever is in it.
    assert.deepEqual(command`kubectl get ${'a | b'}`.argv, ['kubectl', 'get', 'a | b']);
  });

  it('asks again whoever types it, in whatever way the answer was given', () => {
    const asking = (line: string) =>
      ownCommand(line)
        .asking()
        .words.slice(2)
        .map(({ value }) => value)
        .join(' ');
    assert.deepEqual(['run --yes -v', 'run -y', 'run -qy', 'run -yv', 'run -q'].map(asking), [
      'run -v',
      'run',
      'run -q',
      'run -v',
      'run -q',
    ]);
  });

  it('of this program is known by its sub-command', () => {
    assert.deepEqual(
      [command`kubectl netsvc-upgrade wait -o wide`.own, command`kubectl get pods`.own, localCommand`ls -l`.own],
      ['wait', undefined, undefined],
    );
    assert.equal(ownCommand('hep --undo').gives('undo'), true);
    assert.equal(ownCommand('hep --undo-all').gives('undo'), false);
  });

  it('loses a flag with its value, however that was written', () => {
    for (const typed of ['run --max-failed=1 --yes', 'run --max-failed 1 --yes', 'run --yes'])
      assert.equal(String(ownCommand(typed).without('max-failed')), 'kubectl netsvc-upgrade run --yes', typed);
  });

  it('keeps its comment out of what is executed', () => {
    const next = command`kubectl netsvc-upgrade preflight`.commented('changes nothing');
    assert.deepEqual([String(next), next.argv.length], ['kubectl netsvc-upgrade preflight   # changes nothing', 3]);
  });

  it('that repairs something is never the next one, nor are several in turn; the type of what comes next refuses it', () => {
    const remove = repairCommand`kubectl delete pod a`;
    const first = (one: AnyCommand) => commandIn([look(text`see why: ${one}`)]);
    assert.equal(first(remove), undefined);
    assert.equal(first(repairsInTurn([repairCommand`kubectl uncordon a`, remove])), undefined);
    // @ts-expect-error A repair is no next command.
    const next: Command = remove;
    assert.equal(next.does, 'repairs');
    assert.equal(String(first(command`kubectl get pod a`)), 'kubectl get pod a');
  });
});

describe('a step', () => {
  it('is in a document with its kind, its words and its command', () => {
    const step = look(text`see why: ${command`kubectl get pod ${'a b'}`} now`);
    assert.deepEqual(JSON.parse(JSON.stringify(step)), {
      ...{ kind: 'look', text: "see why: kubectl get pod 'a b' now" },
      command: ['kubectl', 'get', 'pod', 'a b'],
    });
  });

  it('made of words alone holds no command, whatever they look like', () => {
    const step = stepOf('b says: kubectl delete ns a');
    assert.deepEqual([step.text.command, commandIn([step])], [undefined, undefined]);
  });
});
