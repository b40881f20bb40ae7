#!/usr/bin/env node
'use strict';
// What npm installs as `kubectl-netsvc_upgrade`: on every system, for Windows cannot run the shell script beside it. It starts the same
// program with the Node that runs this file. Written so that old versions of Node (10 and later) get far enough to be told.

const { existsSync } = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');

const OLDEST = [22, 13];

/** Why this Node cannot run the program, and the next step: the words of the shell script; undefined if it can. */
function refusal(version, program) {
  const numbers = /^v?(\d+)\.(\d+)/.exec(version);
  const next = `install Node.js ${OLDEST.join('.')} or later, then run the same command`;
  if (!numbers) return [`${program} does not say its version`, next];
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  return isOld ? [`Node.js ${version} (${program}) is too old`, next] : undefined;
}

/** The entry of the program from the folder of this file; `paths` are those of the system. */
function mainOf(folder, paths) {
  return paths.join(folder, '..', 'dist', 'cli', 'main.js');
}

/** The name that the program was called by: a link's own, not that of the file it leads to. */
function calledAs(started, paths) {
  return paths.basename(started);
}

function start() {
  const main = mainOf(__dirname, path);
  const why =
    refusal(process.version, process.execPath) ||
    (existsSync(main)
      ? undefined
      : [`the program is not built: ${main} is missing`, 'build it, in its own folder: npm ci && npm run build']);
  if (why) {
    process.stderr.write(`error: ${why[0]}\n${why[1]}\n`);
    process.exitCode = 1;
    return;
  }
  process.env.NETSVC_ARGV0 = calledAs(process.argv[1], path);
  // A path with a drive letter is no address of a module: `c:` would be its scheme.
  import(pathToFileURL(main).href);
}

if (require.main === module) start();

module.exports = { calledAs, mainOf, refusal };
