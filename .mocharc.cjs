const { availableParallelism } = require('node:os');

// With --parallel: as many files at once as there are processors. Mocha's own choice is one less.
module.exports = { require: ['test/support/patient-mocha.ts'], timeout: 30_000, jobs: availableParallelism() };
