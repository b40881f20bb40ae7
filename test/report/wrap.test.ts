import assert from 'node:assert/strict';
import fc from 'fast-check';
import { displayWidth } from '../../src/report/columns.ts';
import { fitted } from '../../src/report/wrap.ts';

const lines = (text: string, width: number) => fitted(text, width).split('\n');

describe('fitted', () => {
  it('leaves alone what fits', () => {
    assert.equal(fitted('a b\n\n  c', 5), 'a b\n\n  c');
  });

  it('goes on a little further right', () => {
    assert.deepEqual(lines('error: one two three', 12), ['error: one', '  two three']);
    assert.deepEqual(lines('    - one two three', 14), ['    - one two', '      three']);
  });

  it('goes on below the text of a finding', () => {
    assert.deepEqual(lines('× NS-606 images come from quay.io', 26), ['× NS-606 images come from', '         quay.io']);
  });

  it('goes on in the last column that has room', () => {
    assert.deepEqual(lines('crds   not needed  the manifest holds the CRDs', 38), [
      'crds   not needed  the manifest holds',
      '                   the CRDs',
    ]);
    assert.deepEqual(lines('a-very-long-name/of-an-object  update  restarts 4 pods', 40), [
      'a-very-long-name/of-an-object  update',
      '  restarts 4 pods',
    ]);
  });

  it('keeps together what stands between dots', () => {
    assert.deepEqual(lines('1 create · restarts 2 pods · about 4 min · no undo', 36), [
      '1 create · restarts 2 pods ·',
      '  about 4 min · no undo',
    ]);
    assert.deepEqual(lines('a · restarts one pod of each node · b', 20), ['a · restarts one pod', '  of each node · b']);
  });

  it('keeps the parts of a header together', () => {
    assert.deepEqual(lines('manifest path, calico   v3.27.5 → v3.32.1   3 nodes   cluster 05aa2a29…', 50), [
      'manifest path, calico   v3.27.5 → v3.32.1',
      '  3 nodes   cluster 05aa2a29…',
    ]);
  });

  it('goes on further left where a word has no room in its column', () => {
    assert.deepEqual(lines('1     backup   write to /state/00000000-0000-4000-8000-000000000002/x', 50), [
      '1     backup   write to /state/',
      '      00000000-0000-4000-8000-000000000002/x',
    ]);
  });

  it('parts a path where even a line of its own is too short', () => {
    assert.deepEqual(lines('backup: /var/lib/state/backup-20261126', 22), ['backup: /var/lib/', '  state/', '  backup-20261126']);
  });

  it('keeps a command whole, and begins it in a row of its own where it then fits', () => {
    const long = `Next: kubectl netsvc-upgrade run ${'--manifest-url=/a/very/long/path'.repeat(3)}`;
    assert.deepEqual(lines(long, 60), [long]);
    assert.deepEqual(lines('see why: kubectl -n kube-system describe pod a, then wait', 44), [
      'see why:',
      '  kubectl -n kube-system describe pod a,',
      '  then wait',
    ]);
    assert.deepEqual(lines('calicoctl was not asked by anybody', 20), ['calicoctl was not', '  asked by anybody']);
  });

  it('parts the commands of a plan, which nobody pastes', () => {
    assert.deepEqual(lines('35    apply  kubectl apply --server-side -f /state/of/the/run/upgrade.yaml', 40), [
      '35    apply  kubectl apply --server-side',
      '             -f /state/of/the/run/',
      '             upgrade.yaml',
    ]);
  });

  it('loses no word, and has no line that is too wide', () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 20, max: 60 }), (words, width) => {
        const text = words.join(' ');
        const shown = lines(text, width);
        assert.deepEqual(
          shown.flatMap((line) => line.trim().split(' ')),
          words,
        );
        for (const line of shown) assert.ok(displayWidth(line) <= width);
      }),
    );
  });
});
